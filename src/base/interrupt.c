#include "base/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

bool interrupt_open(struct interrupt *interrupt, struct error *error)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    interrupt->count = 0;
    if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0) {
        return error_set_errno(error, errno, "cannot block signals");
    }
    interrupt->fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    if (interrupt->fd < 0) {
        return error_set_errno(error, errno, "cannot make a signal descriptor");
    }
    return true;
}

bool interrupt_check(struct interrupt *interrupt, struct error *error)
{
    struct signalfd_siginfo info;
    if (read(interrupt->fd, &info, sizeof info) != (ssize_t)sizeof info) {
        return true;
    }
    interrupt->count++;
    return error_set(error, ERROR_INTERRUPTED, (int)info.ssi_signo, "interrupted (SIG%s)",
                     sigabbrev_np((int)info.ssi_signo));
}

void interrupt_close(struct interrupt *interrupt)
{
    close(interrupt->fd);
    interrupt->fd = -1;
}
