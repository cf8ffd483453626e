#include "speedtest/mark_observer.h"

#include "base/clock.h"
#include "base/stream.h"
#include "result/marks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

bool mark_observer_check(int fd, struct error *error)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) {
        return error_set(error, ERROR_USAGE, 0,
                         "--mark-fd %d: no such descriptor is open: start the program with one end "
                         "of a socket pair there",
                         fd);
    }
    if ((flags & O_ACCMODE) != O_RDWR) {
        return error_set(error, ERROR_USAGE, 0,
                         "--mark-fd %d: it must be readable and writable, one end of a socket pair",
                         fd);
    }
    return true;
}

static bool closed(const struct mark_observer *observer, struct error *error)
{
    return error_set(error, ERROR_CLOSED, 0,
                     "--mark-fd %d: the other side closed it before the last run", observer->fd);
}

static bool timed_out(const struct mark_observer *observer, const char *what, struct error *error)
{
    return error_set(error, ERROR_TIMEOUT, 0,
                     "--mark-fd %d: %s within %" PRIu64 " s; --timeout sets the limit",
                     observer->fd, what, observer->timeout_ns / NS_PER_S);
}

/* With a time limit: whoever reads the marks may hang. */
static bool tell(const struct mark_observer *observer, const char *line, size_t length,
                 struct error *error)
{
    uint64_t deadline_ns = clock_now_ns() + observer->timeout_ns;
    while (length > 0) {
        struct pollfd writable = {.fd = observer->fd, .events = POLLOUT};
        if (stream_poll(&writable, 1, deadline_ns) == 0) {
            return timed_out(observer, "nobody took a mark", error);
        }
        ssize_t written = write(observer->fd, line, length);
        if (written < 0 && errno != EINTR && errno != EAGAIN) {
            return errno == EPIPE || errno == ECONNRESET
                       ? closed(observer, error)
                       : error_set_errno(error, errno, "cannot write to --mark-fd %d",
                                         observer->fd);
        }
        line += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* Reads up to the end of one line, byte by byte so that nothing after it is lost. */
static bool await_answer(const struct mark_observer *observer, bool *again, struct error *error)
{
    static const char word[] = MARK_AGAIN "\n";
    size_t length = 0;
    size_t same = 0; /* as the word begins */
    uint64_t deadline_ns = clock_now_ns() + observer->timeout_ns;
    for (;;) {
        bool readable;
        char c;
        if (!speedtest_sessions_await(observer->sessions, observer->fd, deadline_ns, &readable,
                                      error)) {
            return false;
        }
        if (!readable) {
            return timed_out(observer, "no answer to a mark", error);
        }
        ssize_t got = read(observer->fd, &c, 1);
        if (got == 0 || (got < 0 && errno == ECONNRESET)) {
            return closed(observer, error);
        }
        if (got < 0 && errno != EINTR && errno != EAGAIN) {
            return error_set_errno(error, errno, "cannot read from --mark-fd %d", observer->fd);
        }
        same += got > 0 && same == length && same < sizeof word - 1 && c == word[same];
        length += got > 0;
        if (got > 0 && c == '\n') {
            *again = same == length && same == sizeof word - 1;
            return true;
        }
    }
}

static bool mark(const struct mark_observer *observer, bool begin,
                 const struct result_case *result_case, const struct sample *sample, bool *again,
                 struct error *error)
{
    char line[MARK_LENGTH];
    struct mark mark = {.begin = begin,
                        .size_bytes = result_case->test.size_bytes,
                        .number = sample->number,
                        .warmup = sample->warmup,
                        .counts = sample->counts,
                        .duration_ns = sample->duration_ns};
    snprintf(mark.test, sizeof mark.test, "%s", result_case->test.name);
    return tell(observer, line, mark_write(&mark, line), error) &&
           await_answer(observer, again, error);
}

static bool on_run_begin(void *context, const struct result_case *result_case,
                         const struct sample *sample, struct error *error)
{
    bool ignored;
    return mark(context, true, result_case, sample, &ignored, error);
}

static bool on_run_end(void *context, const struct result_case *result_case,
                       const struct sample *sample, bool *again, struct error *error)
{
    return mark(context, false, result_case, sample, again, error);
}

struct observer mark_observer(struct mark_observer *observer)
{
    return (struct observer){
        .on_run_begin = on_run_begin, .on_run_end = on_run_end, .context = observer};
}
