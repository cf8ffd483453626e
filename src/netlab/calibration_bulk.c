#include "netlab/calibration_bulk.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"
#include "base/units.h"

#include <errno.h>

/* Until congestion control has found the rate: it doubles once per round trip. */
#define SETTLE_NS          (300 * NS_PER_MS)
#define SETTLE_ROUND_TRIPS 10
/* Then until the rate is known: long, and many arrivals. */
#define MEASURE_NS          (500 * NS_PER_MS)
#define MEASURE_ROUND_TRIPS 5
#define MEASURE_ARRIVALS    50
#define MEASURE_MOST_NS     (2 * NS_PER_S)
#define SILENCE_LIMIT_NS    (60 * NS_PER_S)

#define PIECE_BYTES     ((size_t)256 * 1024)
#define WINDOW_UNSHAPED (8 * MIB)
#define WINDOW_MOMENT   100 /* a hundredth of a second */
#define WINDOW_SEGMENTS 32
#define WINDOW_OF_QUEUE 0.8 /* headers and framing take a part, 6 % at MTU 1500 */

uint64_t calibration_window_bytes(const struct link_shape *shape, uint32_t segment_bytes)
{
    if (shape->rate_bits_per_s == 0) {
        return WINDOW_UNSHAPED;
    }
    double bytes_per_s = (double)shape->rate_bits_per_s / 8;
    double window = bytes_per_s * (double)shape->delay_ns / (double)NS_PER_S +
                    bytes_per_s / WINDOW_MOMENT + (double)WINDOW_SEGMENTS * segment_bytes;
    double room = (double)shape->queue_bytes * WINDOW_OF_QUEUE;
    return (uint64_t)(shape->queue_bytes > 0 && window > room ? room : window);
}

struct transfer {
    const struct calibration_bulk *bulk;
    const uint8_t *data;
    uint64_t sent, received;
    uint64_t settled_ns;            /* from when on it counts */
    uint64_t begin_ns, begin_bytes; /* the first arrival that counts */
    uint64_t end_ns;
    uint32_t arrivals;
};

static uint64_t longer(uint64_t time_ns, uint64_t round_trips, uint64_t rtt_ns)
{
    return time_ns > round_trips * rtt_ns ? time_ns : round_trips * rtt_ns;
}

uint64_t calibration_bulk_least_ns(uint64_t rtt_ns)
{
    return longer(MEASURE_NS, MEASURE_ROUND_TRIPS, rtt_ns);
}

static bool enough(const struct transfer *transfer)
{
    uint64_t rtt_ns = transfer->bulk->rtt_ns;
    uint64_t taken_ns = transfer->end_ns - transfer->begin_ns;
    return transfer->arrivals > 1 && taken_ns >= calibration_bulk_least_ns(rtt_ns) &&
           (transfer->arrivals > MEASURE_ARRIVALS ||
            taken_ns >= longer(MEASURE_MOST_NS, MEASURE_ROUND_TRIPS, rtt_ns));
}

/* Before the transfer has settled TCP is still finding its rate: that is not measured. */
static bool receive_some(struct transfer *transfer, struct error *error)
{
    ssize_t got = stream_discard(transfer->bulk->receiver, WINDOW_UNSHAPED);
    if (got < 0) {
        return errno == EAGAIN || error_set_errno(error, errno, "receive");
    }
    if (got == 0) {
        return error_set(error, ERROR_CLOSED, 0, "the connection was closed");
    }
    uint64_t now = clock_now_ns();
    transfer->received += (uint64_t)got;
    if (now >= transfer->settled_ns) {
        if (transfer->arrivals == 0) {
            transfer->begin_ns = now;
            transfer->begin_bytes = transfer->received;
        }
        transfer->arrivals++;
        transfer->end_ns = now;
    }
    return true;
}

static uint64_t room(const struct transfer *transfer)
{
    uint64_t outstanding = transfer->sent - transfer->received;
    uint64_t window = transfer->bulk->window_bytes;
    return outstanding < window ? window - outstanding : 0;
}

static bool send_some(struct transfer *transfer, struct error *error)
{
    uint64_t size = room(transfer) < PIECE_BYTES ? room(transfer) : PIECE_BYTES;
    struct iovec piece = {(void *)transfer->data, size};
    ssize_t sent = stream_send(transfer->bulk->sender, &piece, 1, false);
    if (sent < 0) {
        return errno == EAGAIN || error_set_errno(error, errno, "send");
    }
    transfer->sent += (uint64_t)sent;
    return true;
}

/* One wait and what it brought; sends only when `sending`. */
static bool step(struct transfer *transfer, bool sending, struct error *error)
{
    const struct calibration_bulk *bulk = transfer->bulk;
    bool wants_room = sending && room(transfer) > 0;
    struct pollfd waiting[] = {{.fd = bulk->receiver, .events = POLLIN},
                               {.fd = wants_room ? bulk->sender : -1, .events = POLLOUT},
                               {.fd = bulk->interrupt.fd, .events = POLLIN}};
    int ready = stream_poll(waiting, 3, clock_now_ns() + SILENCE_LIMIT_NS);
    if (ready < 0) {
        return error_set_errno(error, errno, "poll");
    }
    if (ready == 0) {
        return error_set(error, ERROR_TIMEOUT, 0, "nothing arrived for %g s",
                         (double)SILENCE_LIMIT_NS / (double)NS_PER_S);
    }
    return (waiting[2].revents == 0 || interrupt_check(&bulk->interrupt, error)) &&
           (waiting[0].revents == 0 || receive_some(transfer, error)) &&
           (waiting[1].revents == 0 || send_some(transfer, error));
}

/* Takes in what is still on its way at the end: the next transfer uses the same connection. */
static bool run(struct transfer *transfer, double *goodput_bits_per_s, struct error *error)
{
    uint64_t limit_ns = transfer->settled_ns +
                        longer(MEASURE_MOST_NS, 2 * MEASURE_ROUND_TRIPS, transfer->bulk->rtt_ns) +
                        SILENCE_LIMIT_NS;
    while (!enough(transfer)) {
        if (!step(transfer, true, error)) {
            return false;
        }
        if (clock_now_ns() > limit_ns) {
            return error_set(error, ERROR_TIMEOUT, 0, "too little arrived: %llu bytes",
                             (unsigned long long)transfer->received);
        }
    }
    uint64_t bytes = transfer->received - transfer->begin_bytes;
    uint64_t taken_ns = transfer->end_ns - transfer->begin_ns;
    *goodput_bits_per_s = (double)bytes * 8 * (double)NS_PER_S / (double)taken_ns;
    while (transfer->received < transfer->sent) {
        if (!step(transfer, false, error)) {
            return false;
        }
    }
    return true;
}

bool calibration_bulk_run(const struct calibration_bulk *bulk, double *goodput_bits_per_s,
                          struct error *error)
{
    void *data = memory_allocate(PIECE_BYTES, 1);
    if (data == NULL) {
        return memory_error(error, "for the calibration");
    }
    struct transfer transfer = {
        .bulk = bulk,
        .data = data,
        .settled_ns = clock_now_ns() + longer(SETTLE_NS, SETTLE_ROUND_TRIPS, bulk->rtt_ns),
    };
    bool done = run(&transfer, goodput_bits_per_s, error);
    memory_release(data);
    return done;
}
