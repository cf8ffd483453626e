/*
 * The emulator: two pairs of interfaces, client – middle and middle – server, and in the middle one
 * thread that lets each frame pass when the model (link_model.h) says so.
 *
 * Frames lie in the kernel's receive ring until they are due (packet_ring.h). The kernel notes when
 * each arrived, so the thread need not be awake then: while frames are on their way it sleeps until
 * the next is due, or at the latest until something that arrived meanwhile could be.
 */
#include "netlab/link.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"
#include "netlab/lab.h"
#include "netlab/link_model.h"
#include "netlab/packet_ring.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A sleep ends this much late: on a quiet link, the last bit of a wait is spent looking at the
 * clock. On a busy one that time belongs to the sender and the receiver. */
#define SPIN_NS      (40 * NS_PER_US)
#define QUIET_FRAMES 4
/* Frames handled before the other direction has its turn. */
#define BATCH 32
/* A delay above this is long enough to look for arrivals by the clock. */
#define PUT_OFF_NS (200 * NS_PER_US)
/* Slots of a ring: for the bytes that may be on their way, in frames of this size (a busy sender
 * gathers many segments), within these bounds. */
#define TYPICAL_FRAME_BYTES 32768
#define LEAST_SLOTS         1024
#define MOST_RING_BYTES     ((size_t)256 << 20)

/* A frame that was read and waits in its slot. */
struct waiting {
    uint64_t due_ns;  /* 0: it is not delivered */
    uint32_t packets; /* on the line */
};

/* One direction. */
struct way {
    struct packet_ring ring; /* of the end that sends */
    int sender;              /* in the middle, towards the end that receives; −1: none */
    struct waiting *waiting; /* by slot */
    struct link_direction model;
    uint64_t looked_ns; /* the ring was empty then */
    uint64_t least_delay_ns;
};

struct emulator {
    struct lab *lab;
    struct way ways[LINK_WAYS];
    uint32_t mtu;
    struct packet_flows flows;
    pthread_t thread;
    bool running;
    struct link_fault fault;
    uint64_t stalled; /* how often the lateness had been taken then */
    atomic_bool stop;
    int wake; /* an eventfd, told of `stop` */
    char conditions[160];
    atomic_uint_least64_t latest_ns; /* the most that a frame was late since that was taken */
    atomic_uint_least64_t taken;     /* how often */

    pthread_mutex_t lock; /* of what follows; held for no system call that waits */
    struct packet_counts counts[LINK_WAYS];
    uint64_t refused[LINK_WAYS]; /* packets that the kernel would not send */
    uint64_t lost[LINK_WAYS], dropped[LINK_WAYS];
    uint64_t last_packet_ns;
    bool idle;
    struct histogram lateness;
};

static const char *const middle_names[LINK_WAYS] = {"client", "server"};

/* ---- The thread ---- */

/* When a frame arrived by the monotonic clock. A step of the wall clock must not move it out of the
 * time in which it can have arrived. */
static uint64_t arrival_ns(const struct way *way, const struct packet_slot *slot,
                           uint64_t wall_ahead_ns)
{
    uint64_t arrival = slot->realtime_ns - wall_ahead_ns;
    uint64_t now = clock_now_ns();
    if (arrival < way->looked_ns) {
        return way->looked_ns;
    }
    return arrival < now ? arrival : now;
}

static uint64_t wall_ahead_of_monotonic_ns(void)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    return (uint64_t)wall.tv_sec * NS_PER_S + (uint64_t)wall.tv_nsec - clock_now_ns();
}

/* Counts what arrived and asks the model when it is due. Returns how many frames. */
static size_t take_in(struct emulator *emulator, enum link_way which, uint64_t wall_ahead_ns)
{
    struct way *way = &emulator->ways[which];
    struct packet_slot slot;
    uint64_t looked_ns = clock_now_ns();
    size_t taken = 0;
    pthread_mutex_lock(&emulator->lock);
    while (taken < BATCH && packet_ring_next(&way->ring, &slot)) {
        struct link_frame frame;
        packet_count(&emulator->flows, &emulator->counts[which], which, slot.frame, slot.gso_bytes,
                     emulator->mtu, &frame.packets, &frame.bytes);
        struct waiting *waiting = &way->waiting[slot.index];
        uint64_t arrival = arrival_ns(way, &slot, wall_ahead_ns);
        *waiting = (struct waiting){.packets = frame.packets};
        if (!slot.whole) {
            emulator->refused[which] += frame.packets;
        } else {
            (void)link_offer(&way->model, arrival, &frame, &waiting->due_ns);
        }
        emulator->last_packet_ns = arrival;
        emulator->idle = false;
        taken++;
    }
    emulator->lost[which] = way->model.lost;
    emulator->dropped[which] = way->model.dropped;
    pthread_mutex_unlock(&emulator->lock);
    if (taken < BATCH) {
        way->looked_ns = looked_ns;
    }
    return taken;
}

/* Told before the frame leaves: whoever waits for it may look as soon as it has. */
static void note_lateness(struct emulator *emulator, uint64_t late_ns)
{
    if (late_ns > atomic_load_explicit(&emulator->latest_ns, memory_order_relaxed)) {
        atomic_store(&emulator->latest_ns, late_ns);
    }
}

/* Sends what is due. Returns how many frames left their slots. */
static size_t let_out(struct emulator *emulator, enum link_way which)
{
    struct way *way = &emulator->ways[which];
    uint64_t late_ns[BATCH];
    size_t sent = 0;
    size_t released = 0;
    uint64_t refused = 0;
    uint64_t now = 0;
    while (way->ring.held > 0 && released < BATCH) {
        const struct waiting *oldest = &way->waiting[way->ring.oldest];
        if (oldest->due_ns > 0) {
            now = clock_now_ns();
            if (oldest->due_ns > now) {
                break;
            }
            note_lateness(emulator, now - oldest->due_ns);
            enum packet_sent result = packet_ring_send_oldest(&way->ring, way->sender);
            if (result == PACKET_BUSY) {
                break;
            }
            if (result == PACKET_SENT) {
                late_ns[sent++] = now - oldest->due_ns;
            } else {
                refused += oldest->packets;
            }
        }
        packet_ring_release(&way->ring);
        released++;
    }
    if (released > 0) {
        pthread_mutex_lock(&emulator->lock);
        for (size_t i = 0; i < sent; i++) {
            histogram_add(&emulator->lateness, late_ns[i]);
        }
        emulator->refused[which] += refused;
        emulator->last_packet_ns = now > 0 ? now : emulator->last_packet_ns;
        emulator->idle = emulator->ways[0].ring.held + emulator->ways[1].ring.held == 0;
        pthread_mutex_unlock(&emulator->lock);
    }
    return released;
}

/* Sleeps until a little before something is due. Where frames are held, what arrives is due after
 * them, and its time of arrival is noted: no need to wake up for it. (It would not work either: a
 * held slot makes its socket readable.) Where none are, arrivals wake, or where the delay leaves
 * time for it, the next look is put off, which saves a busy link half of its wake-ups. */
static void rest(struct emulator *emulator)
{
    struct pollfd descriptors[1 + LINK_WAYS] = {{.fd = emulator->wake, .events = POLLIN}};
    struct packet_ring *polled[1 + LINK_WAYS];
    size_t count = 1;
    uint64_t next = UINT64_MAX;
    uint32_t held = emulator->ways[0].ring.held + emulator->ways[1].ring.held;
    for (size_t i = 0; i < LINK_WAYS; i++) {
        struct way *way = &emulator->ways[i];
        uint64_t look = UINT64_MAX;
        if (way->ring.held > 0) {
            look = way->waiting[way->ring.oldest].due_ns;
        } else if (held > 0 && way->least_delay_ns >= PUT_OFF_NS) {
            look = way->looked_ns + way->least_delay_ns;
        } else {
            polled[count] = &way->ring;
            descriptors[count++] = (struct pollfd){.fd = way->ring.socket, .events = POLLIN};
        }
        next = look < next ? look : next;
    }
    uint64_t spin = held <= QUIET_FRAMES ? SPIN_NS : 0;
    if (next == UINT64_MAX) {
        stream_poll(descriptors, count, next);
    } else if (next > clock_now_ns() + spin) {
        stream_poll(descriptors, count, next - spin);
    }
    for (size_t i = 1; i < count; i++) {
        if ((descriptors[i].revents & POLLERR) != 0) {
            packet_ring_take_error(polled[i]);
        }
    }
}

/* The fault for tests; the wake-up at the end of the link ends it. */
static void stand_still(struct emulator *emulator)
{
    const struct link_fault *fault = &emulator->fault;
    uint64_t taken = atomic_load(&emulator->taken);
    bool now = fault->stall_again ? taken >= fault->stall_at : taken == fault->stall_at;
    if (fault->stall_at > 0 && now && taken != emulator->stalled) {
        struct pollfd wake = {.fd = emulator->wake, .events = POLLIN};
        emulator->stalled = taken;
        stream_poll(&wake, 1, clock_now_ns() + fault->stall_ns);
    }
}

/* The kernel's usual slack of 50 µs would make every frame late. */
static void *emulate(void *context)
{
    struct emulator *emulator = context;
    prctl(PR_SET_NAME, "link emulator");
    prctl(PR_SET_TIMERSLACK, 1UL);
    while (!atomic_load(&emulator->stop)) {
        uint64_t wall_ahead_ns = wall_ahead_of_monotonic_ns();
        size_t done = 0;
        for (size_t i = 0; i < LINK_WAYS; i++) {
            done += take_in(emulator, (enum link_way)i, wall_ahead_ns);
        }
        if (done > 0) {
            stand_still(emulator);
        }
        for (size_t i = 0; i < LINK_WAYS; i++) {
            done += let_out(emulator, (enum link_way)i);
        }
        if (done == 0) {
            rest(emulator);
        }
    }
    return NULL;
}

/* ---- Up and down ---- */

/* Signals are for the thread that waits for them. */
static bool start_thread(struct emulator *emulator, struct error *error)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&emulator->thread, NULL, emulate, emulator);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    emulator->running = failure == 0;
    return failure == 0 || error_set_errno(error, failure, "cannot start the emulator's thread");
}

static void stop_thread(struct emulator *emulator)
{
    if (emulator->running) {
        atomic_store(&emulator->stop, true);
        eventfd_write(emulator->wake, 1);
        pthread_join(emulator->thread, NULL);
        emulator->running = false;
    }
}

static uint32_t slot_count(const struct link_shape *shape, size_t frame_bytes)
{
    uint64_t flight = (uint64_t)((double)shape->rate_bits_per_s / 8 * 1e-9 *
                                 (double)(shape->delay_ns + shape->jitter_ns));
    uint64_t typical = frame_bytes < TYPICAL_FRAME_BYTES ? frame_bytes : TYPICAL_FRAME_BYTES;
    uint64_t slots = (flight + shape->queue_bytes) / typical;
    uint64_t most = MOST_RING_BYTES / frame_bytes;
    slots = slots < LEAST_SLOTS ? LEAST_SLOTS : slots;
    return (uint32_t)(slots < most ? slots : most);
}

/* Loss takes packets, not the many of a super-packet at once: then the ends must not gather. */
static bool gathers(const struct link_config *config)
{
    return config->shapes[LINK_TO_SERVER].loss_ppm == 0 &&
           config->shapes[LINK_TO_CLIENT].loss_ppm == 0;
}

static bool stop_gathering(struct error *error)
{
    static const uint32_t commands[] = {ETHTOOL_STSO, ETHTOOL_SGSO};
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool ok = any >= 0;
    for (size_t i = 0; ok && i < sizeof commands / sizeof commands[0]; i++) {
        struct ethtool_value off = {.cmd = commands[i]};
        struct ifreq request = {.ifr_name = LAB_INTERFACE, .ifr_data = (char *)&off};
        ok = ioctl(any, SIOCETHTOOL, &request) == 0;
    }
    if (!ok) {
        error_set_errno(error, errno, "cannot turn off segmentation offload, which LOSS needs");
    }
    if (any >= 0) {
        close(any);
    }
    return ok;
}

/* Where the ends gather, super-packets come whole and each slot has room for the largest. */
static bool prepare_way(struct emulator *emulator, enum link_way which,
                        const struct link_config *config, struct error *error)
{
    struct way *way = &emulator->ways[which];
    struct link_shape shape = config->shapes[which];
    size_t frame_bytes =
        gathers(config) ? PACKET_RING_SUPER_BYTES : (size_t)config->mtu + LINK_HEADER;
    if (!packet_ring_open(&way->ring, LAB_INTERFACE, slot_count(&shape, frame_bytes), frame_bytes,
                          error)) {
        return false;
    }
    way->waiting = memory_allocate(way->ring.slots, sizeof *way->waiting);
    if (way->waiting == NULL) {
        return memory_error(error, "for the frames on the link");
    }
    if (config->fault.no_delay) {
        shape.delay_ns = 0;
        shape.jitter_ns = 0;
    }
    way->least_delay_ns = shape.delay_ns > shape.jitter_ns ? shape.delay_ns - shape.jitter_ns : 0;
    link_direction_start(&way->model, &shape, config->seed + which);
    return true;
}

struct preparation {
    struct emulator *emulator;
    const struct link_config *config;
    enum link_way way;
};

/* A visit of the side that sends. */
static bool prepare_sending_side(void *context, struct error *error)
{
    const struct preparation *preparation = context;
    return (gathers(preparation->config) || stop_gathering(error)) &&
           prepare_way(preparation->emulator, preparation->way, preparation->config, error);
}

static bool open_senders(void *context, struct error *error)
{
    struct emulator *emulator = context;
    for (size_t i = 0; i < LINK_WAYS; i++) {
        /* what goes to the server leaves by the server's pair */
        int *sender = &emulator->ways[i].sender;
        *sender = packet_sender_open(middle_names[LINK_WAYS - 1 - i], error);
        if (*sender < 0) {
            return false;
        }
    }
    return true;
}

static bool connect_sides(struct link *link, struct lab *lab, struct error *error)
{
    static const enum lab_side sides[LINK_WAYS] = {
        [LINK_TO_SERVER] = LAB_CLIENT,
        [LINK_TO_CLIENT] = LAB_SERVER,
    };
    for (size_t i = 0; i < LINK_WAYS; i++) {
        struct preparation preparation = {link->state, &link->config, (enum link_way)i};
        if (!lab_make_pair(lab, sides[i], LAB_INTERFACE, LAB_MIDDLE, middle_names[i], error) ||
            !lab_visit(lab, sides[i], prepare_sending_side, &preparation, error)) {
            return false;
        }
    }
    return lab_visit(lab, LAB_MIDDLE, open_senders, link->state, error);
}

static void emulator_down(struct link *link)
{
    struct emulator *emulator = link->state;
    stop_thread(emulator);
    for (size_t i = 0; i < LINK_WAYS; i++) {
        struct error ignored; /* the pair may not have been made; all goes with the lab at last */
        packet_ring_close(&emulator->ways[i].ring);
        if (emulator->ways[i].sender >= 0) {
            close(emulator->ways[i].sender);
        }
        memory_release(emulator->ways[i].waiting);
        best_effort(lab_remove_pair(emulator->lab, LAB_MIDDLE, middle_names[i], &ignored));
    }
    if (emulator->wake >= 0) {
        close(emulator->wake);
    }
    pthread_mutex_destroy(&emulator->lock);
    memory_release(emulator);
    link->state = NULL;
}

/* First of all everything is marked as not there, so that emulator_down() may follow any step. */
static bool emulator_up(struct link *link, struct lab *lab, struct error *error)
{
    struct emulator *emulator = memory_allocate(1, sizeof *emulator);
    if (emulator == NULL) {
        return memory_error(error, "for the link emulator");
    }
    link->state = emulator;
    emulator->lab = lab;
    emulator->mtu = link->config.mtu;
    emulator->fault = link->config.fault;
    emulator->idle = true;
    for (size_t i = 0; i < LINK_WAYS; i++) {
        emulator->ways[i].ring.socket = -1;
        emulator->ways[i].sender = -1;
    }
    pthread_mutex_init(&emulator->lock, NULL);
    emulator->wake = eventfd(0, EFD_CLOEXEC);
    if ((emulator->wake >= 0 || error_set_errno(error, errno, "cannot make an event descriptor")) &&
        connect_sides(link, lab, error) && start_thread(emulator, error)) {
        snprintf(emulator->conditions, sizeof emulator->conditions, "%s; room for %u and %u frames",
                 gathers(&link->config)
                     ? "super-packets cross whole, counted by their segments"
                     : "no super-packets, because packets are to be lost one by one",
                 emulator->ways[LINK_TO_SERVER].ring.slots,
                 emulator->ways[LINK_TO_CLIENT].ring.slots);
        return true;
    }
    emulator_down(link);
    return error_prefix(error, "link emulator");
}

/* ---- What it tells ---- */

static void emulator_counts(struct link *link, struct link_counts *counts)
{
    struct emulator *emulator = link->state;
    pthread_mutex_lock(&emulator->lock);
    for (size_t i = 0; i < LINK_WAYS; i++) {
        counts->ways[i] = emulator->counts[i];
        counts->lost[i] = emulator->lost[i];
        counts->dropped[i] = emulator->dropped[i] + emulator->refused[i] +
                             packet_ring_drops(&emulator->ways[i].ring);
    }
    counts->last_packet_ns = emulator->last_packet_ns;
    counts->idle = emulator->idle;
    pthread_mutex_unlock(&emulator->lock);
}

static void emulator_lateness(struct link *link, struct histogram *lateness)
{
    struct emulator *emulator = link->state;
    pthread_mutex_lock(&emulator->lock);
    *lateness = emulator->lateness;
    pthread_mutex_unlock(&emulator->lock);
}

static uint64_t emulator_take_lateness(struct link *link)
{
    struct emulator *emulator = link->state;
    atomic_fetch_add(&emulator->taken, 1);
    uint64_t latest_ns = atomic_exchange(&emulator->latest_ns, 0);
    return emulator->fault.no_lateness ? 0 : latest_ns;
}

static const char *emulator_conditions(struct link *link)
{
    const struct emulator *emulator = link->state;
    return emulator->conditions;
}

const struct link_backend link_emulator = {
    .name = "emulator",
    .purpose = "a program between two pairs of interfaces; needs no privilege",
    .automatic = true,
    .up = emulator_up,
    .counts = emulator_counts,
    .lateness = emulator_lateness,
    .take_lateness = emulator_take_lateness,
    .conditions = emulator_conditions,
    .down = emulator_down,
};
