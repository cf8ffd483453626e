#include "cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

void standard_streams_guard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            /* The lowest free number is this one. Not for the direction that it is used in. */
            int opened = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
            (void)opened; /* without /dev/null nothing is worse than before */
        }
    }
}
