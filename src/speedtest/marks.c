#include "speedtest/marks.h"

#include "base/clock.h"
#include "base/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_LENGTH 400

bool marks_check(int fd, struct error *error)
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

static bool closed(const struct marks *marks, struct error *error)
{
    return error_set(error, ERROR_CLOSED, 0,
                     "--mark-fd %d: the other side closed it before the last run", marks->fd);
}

static bool timed_out(const struct marks *marks, const char *what, struct error *error)
{
    return error_set(error, ERROR_TIMEOUT, 0,
                     "--mark-fd %d: %s within %" PRIu64 " s; --timeout sets the limit", marks->fd,
                     what, marks->timeout_ns / NS_PER_S);
}

static bool tell(const struct marks *marks, const char *line, size_t length, struct error *error)
{
    uint64_t deadline_ns = clock_now_ns() + marks->timeout_ns;
    while (length > 0) {
        struct pollfd writable = {.fd = marks->fd, .events = POLLOUT};
        if (stream_poll(&writable, 1, deadline_ns) == 0) {
            return timed_out(marks, "nobody took a mark", error);
        }
        ssize_t written = write(marks->fd, line, length);
        if (written < 0 && errno != EINTR && errno != EAGAIN) {
            return errno == EPIPE || errno == ECONNRESET
                       ? closed(marks, error)
                       : error_set_errno(error, errno, "cannot write to --mark-fd %d", marks->fd);
        }
        line += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* Reads up to the end of one line, byte by byte so that nothing after it is lost. */
static bool await_answer(const struct marks *marks, struct error *error)
{
    uint64_t deadline_ns = clock_now_ns() + marks->timeout_ns;
    for (;;) {
        bool readable;
        char c;
        if (!speedtest_sessions_await(marks->sessions, marks->fd, deadline_ns, &readable, error)) {
            return false;
        }
        if (!readable) {
            return timed_out(marks, "no answer to a mark", error);
        }
        ssize_t got = read(marks->fd, &c, 1);
        if (got == 0 || (got < 0 && errno == ECONNRESET)) {
            return closed(marks, error);
        }
        if (got < 0 && errno != EINTR && errno != EAGAIN) {
            return error_set_errno(error, errno, "cannot read from --mark-fd %d", marks->fd);
        }
        if (got > 0 && c == '\n') {
            return true;
        }
    }
}

static int name_run(char line[LINE_LENGTH], const char *what, const struct result_case *result_case,
                    const struct sample *sample)
{
    return snprintf(line, LINE_LENGTH, "%s %s %" PRIu64 " %" PRIu32 " %s", what,
                    result_case->test.name, result_case->test.size_bytes, sample->number,
                    sample->warmup ? "warmup" : "measured");
}

static bool on_run_begin(void *context, const struct result_case *result_case,
                         const struct sample *sample, struct error *error)
{
    const struct marks *marks = context;
    char line[LINE_LENGTH];
    int length = name_run(line, "begin", result_case, sample);
    line[length++] = '\n';
    return tell(marks, line, (size_t)length, error) && await_answer(marks, error);
}

static bool on_run_end(void *context, const struct result_case *result_case,
                       const struct sample *sample, struct error *error)
{
    const struct marks *marks = context;
    const struct sample_counts *counts = &sample->counts;
    char line[LINE_LENGTH];
    int length = name_run(line, "end", result_case, sample);
    const uint64_t numbers[] = {counts->bytes,
                                counts->requests[REQUEST_READ],
                                counts->requests[REQUEST_WRITE],
                                counts->requests[REQUEST_FLUSH],
                                counts->requests[REQUEST_COPY],
                                counts->runts,
                                counts->round_trips,
                                sample->duration_ns};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        length += snprintf(line + length, sizeof line - (size_t)length, " %" PRIu64, numbers[i]);
    }
    line[length++] = '\n';
    return tell(marks, line, (size_t)length, error) && await_answer(marks, error);
}

struct observer marks_observer(struct marks *marks)
{
    return (
        struct observer){.on_run_begin = on_run_begin, .on_run_end = on_run_end, .context = marks};
}
