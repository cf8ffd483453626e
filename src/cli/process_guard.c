#include "cli/process_guard.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static void guard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            /* The lowest free number is this one. Not for the direction that it is used in. Without
             * /dev/null nothing is worse than before. */
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

void process_guard(void)
{
    guard_streams();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}
