/*
 * No link to speak of: one pair of interfaces, as fast as it goes. The client's interface counts;
 * the kernel counts a super-packet as one packet there and tells no kinds.
 */
#include "netlab/link.h"

#include "base/clock.h"
#include "base/memory.h"
#include "netlab/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct bare {
    struct lab *lab;
    int table; /* /proc/net/dev of the client's side */
    pthread_mutex_t lock;
    struct interface_counts {
        uint64_t sent_bytes, sent_packets, sent_dropped;
        uint64_t received_bytes, received_packets, received_dropped;
    } last;
    uint64_t changed_ns;
};

/* A descriptor of this file keeps the namespace that it was opened in. */
static bool open_table(void *context, struct error *error)
{
    struct bare *bare = context;
    bare->table = open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC);
    return bare->table >= 0 ||
           error_set_errno(error, errno, "cannot open /proc/thread-self/net/dev");
}

/* False: no line of our interface, or none that we understand. */
static bool read_table(const struct bare *bare, struct interface_counts *counts)
{
    char text[4096];
    ssize_t size = pread(bare->table, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    const char *line = strstr(text, LAB_INTERFACE ":");
    return line != NULL &&
           sscanf(line + strlen(LAB_INTERFACE ":"),
                  "%" SCNu64 " %" SCNu64 " %*u %" SCNu64 " %*u %*u %*u %*u %" SCNu64 " %" SCNu64
                  " %*u %" SCNu64,
                  &counts->received_bytes, &counts->received_packets, &counts->received_dropped,
                  &counts->sent_bytes, &counts->sent_packets, &counts->sent_dropped) == 6;
}

static void none_down(struct link *link)
{
    struct bare *bare = link->state;
    struct error ignored; /* it goes with the lab at last */
    best_effort(lab_remove_pair(bare->lab, LAB_CLIENT, LAB_INTERFACE, &ignored));
    if (bare->table >= 0) {
        close(bare->table);
    }
    pthread_mutex_destroy(&bare->lock);
    memory_release(bare);
    link->state = NULL;
}

static bool none_up(struct link *link, struct lab *lab, struct error *error)
{
    struct bare *bare = memory_allocate(1, sizeof *bare);
    if (bare == NULL) {
        return memory_error(error, "for the link");
    }
    link->state = bare;
    bare->lab = lab;
    bare->table = -1;
    pthread_mutex_init(&bare->lock, NULL);
    if (lab_make_pair(lab, LAB_CLIENT, LAB_INTERFACE, LAB_SERVER, LAB_INTERFACE, error) &&
        lab_visit(lab, LAB_CLIENT, open_table, bare, error) &&
        (read_table(bare, &bare->last) ||
         error_set(error, ERROR_SYSTEM, 0,
                   "/proc/thread-self/net/dev does not tell the counts of '" LAB_INTERFACE "'"))) {
        return true;
    }
    none_down(link);
    return error_prefix(error, "link without a shape");
}

static void none_counts(struct link *link, struct link_counts *counts)
{
    struct bare *bare = link->state;
    pthread_mutex_lock(&bare->lock);
    struct interface_counts now = bare->last;
    if (read_table(bare, &now) && memcmp(&now, &bare->last, sizeof now) != 0) {
        bare->last = now;
        bare->changed_ns = clock_now_ns();
    }
    counts->last_packet_ns = bare->changed_ns;
    pthread_mutex_unlock(&bare->lock);
    counts->ways[LINK_TO_SERVER].packets = now.sent_packets;
    counts->ways[LINK_TO_SERVER].bytes = now.sent_bytes;
    counts->dropped[LINK_TO_SERVER] = now.sent_dropped;
    counts->ways[LINK_TO_CLIENT].packets = now.received_packets;
    counts->ways[LINK_TO_CLIENT].bytes = now.received_bytes;
    counts->dropped[LINK_TO_CLIENT] = now.received_dropped;
    counts->idle = true; /* nothing stays on its way */
}

static const char *none_conditions(struct link *link)
{
    return "no shape; counts of the client's interface, super-packets count as one, no kinds";
}

const struct link_backend link_none = {
    .name = "none",
    .purpose = "no shape: the client's and the server's interface are one pair",
    .automatic = false,
    .up = none_up,
    .counts = none_counts,
    .conditions = none_conditions,
    .down = none_down,
};
