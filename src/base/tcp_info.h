/*
 * tcp_info.h - the kernel's own account of one TCP connection.
 *
 * A snapshot is what the kernel returned at one moment, whatever its version: fields beyond the
 * length that it returned are absent, not 0. Gauges (window, RTT, MSS) are values of that moment;
 * counters only grow, so their difference over a run says what happened in it. Some kernels' fields
 * that the header of the build machine lacks are ignored.
 *
 * The one file that includes <linux/tcp.h>: glibc's struct is too old.
 */
#ifndef AFPBENCH_BASE_TCP_INFO_H
#define AFPBENCH_BASE_TCP_INFO_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define TCP_SNAPSHOT_BYTES 256

struct tcp_snapshot {
    uint32_t length; /* bytes of `info` that the kernel filled; 0: no connection */
    uint8_t info[TCP_SNAPSHOT_BYTES];
    /* Effective socket buffers and the segment size in use, by getsockopt. */
    uint32_t send_buffer_bytes;
    uint32_t receive_buffer_bytes;
    uint32_t segment_bytes;
    char congestion_control[16];
};

MUST_CHECK bool tcp_snapshot_take(int socket, struct tcp_snapshot *snapshot, struct error *error);

/*
 * What the peer's TCP has acknowledged of a stream: a peer whose side takes bytes is slow, not
 * mute, though a call of ours may be full or have nothing to receive for long. Some bytes do not
 * count (tickles): any kernel takes them, whatever its program does.
 */
struct tcp_progress {
    uint64_t handed;  /* bytes that the socket has taken of us */
    uint64_t counted; /* of those, up to the last one that counts */
    uint64_t seen;    /* of those, acknowledged when last looked at */
};

/* The socket took `size` bytes more. */
static inline void tcp_handed(struct tcp_progress *progress, size_t size, bool counts)
{
    progress->handed += size;
    progress->counted = counts ? progress->handed : progress->counted;
}

/* Whether the peer acknowledged bytes that count since the last look. One system call: for a wait
 * that has lasted, not for every transfer. */
bool tcp_moved(int socket, struct tcp_progress *progress);

/* The fields that the rest of the project asks for by name; an index into tcp_fields. */
enum tcp_field_id {
    TCP_RTT,
    TCP_RTT_VARIANCE,
    TCP_MINIMUM_RTT,
    TCP_SEND_MSS,
    TCP_RECEIVE_MSS,
    TCP_ADVERTISED_MSS,
    TCP_CONGESTION_WINDOW,
    TCP_SLOW_START_THRESHOLD,
    TCP_RETRANSMITTING,
    TCP_TOTAL_RETRANSMITS,
    TCP_LOST,
    TCP_REORDERING_LIMIT,
    TCP_RECEIVE_SPACE,
    TCP_BUSY_TIME,
    TCP_RECEIVE_WINDOW_LIMITED,
    TCP_SEND_BUFFER_LIMITED,
    TCP_BYTES_SENT,
    TCP_BYTES_RECEIVED,
    TCP_SEGMENTS_OUT,
    TCP_SEGMENTS_IN,
    TCP_DATA_SEGMENTS_OUT,
    TCP_DATA_SEGMENTS_IN,
    TCP_NAMED_FIELDS
};

struct tcp_field {
    const char *name; /* with its unit: "rtt_us"; a key of the JSON document */
    uint16_t offset, size;
    bool counter; /* else a gauge */
};

/* All fields: the named ones first, in the order of the enum. */
extern const struct tcp_field tcp_fields[];
extern const size_t tcp_field_count;

/* The value of a field; false if the kernel did not return it. */
bool tcp_snapshot_value(const struct tcp_snapshot *snapshot, size_t field, uint64_t *value);

/* What a counter grew by; 0 if either snapshot lacks it. */
uint64_t tcp_snapshot_growth(const struct tcp_snapshot *before, const struct tcp_snapshot *after,
                             enum tcp_field_id counter);

#endif
