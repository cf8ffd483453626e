#include "base/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

void interrupt_signals(sigset_t *signals)
{
    static const int candidates[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(signals);
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        struct sigaction action;
        bool ignored = sigaction(candidates[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN;
        if (!ignored) {
            sigaddset(signals, candidates[i]);
        }
    }
}

bool interrupt_open(struct interrupt *interrupt, struct error *error)
{
    sigset_t signals;
    interrupt_signals(&signals);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0) {
        return error_set_errno(error, errno, "cannot block signals");
    }
    interrupt->fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    if (interrupt->fd < 0) {
        return error_set_errno(error, errno, "cannot make a signal descriptor");
    }
    return true;
}

bool interrupt_check(const struct interrupt *interrupt, struct error *error)
{
    struct pollfd waiting = {.fd = interrupt->fd, .events = POLLIN};
    if (poll(&waiting, 1, 0) <= 0) {
        return true;
    }
    return error_set(error, ERROR_INTERRUPTED, 0, "interrupted");
}

void interrupt_acknowledge(struct interrupt *interrupt)
{
    struct signalfd_siginfo info;
    ssize_t taken = read(interrupt->fd, &info, sizeof info);
    (void)taken; /* there may be none */
}

void interrupt_close(struct interrupt *interrupt)
{
    close(interrupt->fd);
    interrupt->fd = -1;
}
