/*
 * packet.h - what a frame on the link is: packets, bytes and kinds, from its headers alone.
 *
 * Pure functions over the bytes of one Ethernet frame, which may be a super-packet: many segments
 * that the sender's kernel left in one piece, `gso_bytes` of payload each. Reads go through
 * base/wire.h and never past the frame; what is no IPv4 TCP is PACKET_OTHER. Retransmits are told
 * by the highest sequence number seen in each direction of each connection, which `struct
 * packet_flows` remembers; it forgets the oldest connection when full. One thread.
 */
#ifndef AFPBENCH_NETLAB_PACKET_H
#define AFPBENCH_NETLAB_PACKET_H

#include "base/wire.h"
#include "netlab/shape.h"

enum packet_kind {
    PACKET_PURE_ACK,
    PACKET_FULL,       /* a segment with as much data as the MTU takes */
    PACKET_SHORT,      /* with less */
    PACKET_RETRANSMIT, /* data that went by before */
    PACKET_CONTROL,    /* SYN, FIN or RST without data */
    PACKET_OTHER,      /* anything but TCP */
    PACKET_KINDS
};

/* "pure_ack", "full", … */
extern const char *const packet_kind_names[PACKET_KINDS];

/* Sizes are counted in steps, with the Ethernet header: up to 64 bytes, to 128, … */
#define PACKET_SIZE_STEP  64
#define PACKET_SIZE_STEPS 1025

/* What went one way. Packets as they are on the line; bytes with Ethernet headers, as an interface
 * counts them. */
struct packet_counts {
    uint64_t packets, bytes;
    uint64_t payload_bytes; /* of TCP, retransmits included */
    uint64_t kinds[PACKET_KINDS];
    uint64_t sizes[PACKET_SIZE_STEPS];
};

void packet_counts_add(struct packet_counts *sum, const struct packet_counts *more);

/* after − before, field by field. */
void packet_counts_subtract(struct packet_counts *difference, const struct packet_counts *after,
                            const struct packet_counts *before);

#define PACKET_FLOW_LIMIT 512

struct packet_flows {
    struct packet_flow {
        struct {
            uint32_t address[2];
            uint16_t port[2];
        } key;                             /* of the client, of the server; has no padding */
        uint32_t next_sequence[LINK_WAYS]; /* after the highest byte seen */
        bool seen[LINK_WAYS];
        uint64_t used; /* when, in frames */
    } flows[PACKET_FLOW_LIMIT];
    size_t count;
    uint64_t clock;
};

/* Counts one frame. `gso_bytes` is the segment size of a super-packet, 0 for a single packet. Sets
 * the packets and bytes that it takes on the line. */
void packet_count(struct packet_flows *flows, struct packet_counts *counts, enum link_way way,
                  struct span frame, uint32_t gso_bytes, uint32_t mtu, uint32_t *line_packets,
                  uint64_t *line_bytes);

#endif
