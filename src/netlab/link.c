#include "netlab/link.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/stream.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct link_backend *const link_backends[] = {&link_emulator, &link_none};
const size_t link_backend_count = sizeof link_backends / sizeof link_backends[0];

/* How often a link is looked at that should come to rest. */
#define LOOK_NS        (10 * NS_PER_MS)
#define LEAST_STILL_NS (250 * NS_PER_MS)

const struct link_backend *link_backend_by_name(const char *name)
{
    for (size_t i = 0; i < link_backend_count; i++) {
        if (strcmp(link_backends[i]->name, name) == 0) {
            return link_backends[i];
        }
    }
    return NULL;
}

bool link_up(struct link *link, const struct link_backend *backend,
             const struct link_config *config, struct lab *lab, struct error *error)
{
    *link = (struct link){.config = *config};
    for (size_t i = 0; i < link_backend_count; i++) {
        bool wanted = backend != NULL ? link_backends[i] == backend : link_backends[i]->automatic;
        if (wanted) {
            link->backend = link_backends[i];
            if (link->backend->up(link, lab, error)) {
                return true;
            }
        }
    }
    link->backend = NULL;
    return false; /* with the reason of the last one tried */
}

void link_down(struct link *link)
{
    if (link->backend != NULL) {
        link->backend->down(link);
        link->backend = NULL;
    }
}

void link_counts(struct link *link, struct link_counts *counts)
{
    *counts = (struct link_counts){0};
    link->backend->counts(link, counts);
}

uint64_t link_take_lateness(struct link *link)
{
    return link->backend->take_lateness != NULL ? link->backend->take_lateness(link) : 0;
}

bool link_parse_fault(const char *text, const char *key, struct link_fault *fault,
                      struct error *error)
{
    char time[32];
    char times[32];
    char again = '\0';
    char more;
    *fault = (struct link_fault){.no_delay = strcmp(text, "no-delay") == 0,
                                 .no_lateness = strcmp(text, "no-lateness") == 0};
    int fields = sscanf(text, "stall=%31[^@]@%31[0-9]%c%c", time, times, &again, &more);
    fault->stall_again = again == '+';
    return fault->no_delay || fault->no_lateness ||
           (fields >= 2 && fields <= 3 && (fields == 2 || fault->stall_again) &&
            link_parse_time(time, key, &fault->stall_ns, error) &&
            parse_unsigned(times, key, 1, UINT32_MAX, &fault->stall_at, error)) ||
           error_set(error, ERROR_USAGE, 0,
                     "%s '%s': expected no-delay, no-lateness, stall=TIME@N or stall=TIME@N+", key,
                     text);
}

uint64_t link_still_ns(const struct link_config *config)
{
    uint64_t round_trip = 0;
    for (size_t i = 0; i < LINK_WAYS; i++) {
        round_trip += config->shapes[i].delay_ns + config->shapes[i].jitter_ns;
    }
    return 2 * round_trip > LEAST_STILL_NS ? 2 * round_trip : LEAST_STILL_NS;
}

/* Waits a moment, or until a signal arrives. */
static bool pause_until(uint64_t deadline_ns, int interrupt_fd, struct error *error)
{
    struct pollfd descriptor = {.fd = interrupt_fd, .events = POLLIN};
    stream_poll(&descriptor, 1, deadline_ns); /* a negative descriptor is passed over */
    const struct interrupt interrupt = {interrupt_fd};
    return interrupt_fd < 0 || interrupt_check(&interrupt, error);
}

/* While frames are on their way it is not known when the last arrives: it is looked for again. */
bool link_await_still(struct link *link, uint64_t still_ns, uint64_t limit_ns, int interrupt_fd,
                      struct link_counts *counts, struct error *error)
{
    uint64_t start = clock_now_ns();
    for (;;) {
        link_counts(link, counts);
        uint64_t now = clock_now_ns();
        uint64_t still_at = counts->last_packet_ns == 0 ? 0 : counts->last_packet_ns + still_ns;
        if (counts->idle && now >= still_at) {
            return true;
        }
        if (now - start >= limit_ns) {
            return error_set(error, ERROR_TIMEOUT, 0,
                             "the link did not come to rest within %" PRIu64 " ms: %" PRIu64
                             " packets to the server and %" PRIu64 " to the client so far",
                             limit_ns / NS_PER_MS, counts->ways[LINK_TO_SERVER].packets,
                             counts->ways[LINK_TO_CLIENT].packets);
        }
        uint64_t again = counts->idle ? still_at : now + LOOK_NS;
        uint64_t end = start + limit_ns;
        if (!pause_until(again < end ? again : end, interrupt_fd, error)) {
            return false;
        }
    }
}
