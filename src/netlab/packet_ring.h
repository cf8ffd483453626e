/*
 * packet_ring.h - the frames that leave by an interface, in memory shared with the kernel
 * (AF_PACKET, TPACKET_V2).
 *
 * They are taken where they are sent, inside the sender's call, not where the other end of a pair
 * of interfaces receives them: on the way there, frames that two processors send for one connection
 * overtake each other. The ring is also the queue: a frame stays in its slot, uncopied, until
 * packet_ring_release() gives the oldest slot back. Super-packets arrive whole, with the header
 * that says how they are to be cut (PACKET_VNET_HDR), and leave so. Made in the network namespace
 * of the calling thread; then one thread uses it, but packet_ring_drops() may come from any one
 * thread at a time.
 */
#ifndef AFPBENCH_NETLAB_PACKET_RING_H
#define AFPBENCH_NETLAB_PACKET_RING_H

#include "base/error.h"
#include "base/wire.h"

/* The largest frame that the kernel makes: a super-packet with its Ethernet header. */
#define PACKET_RING_SUPER_BYTES (65535 + 14)

struct packet_ring {
    int socket; /* readable when a frame is there and none is held; −1: closed */
    uint8_t *memory;
    size_t block_bytes, block_count;
    size_t slot_bytes;
    uint32_t slots, slots_per_block;
    uint32_t oldest, held; /* slots taken from the kernel and not given back */
    uint64_t drops;
};

/* What lies in a slot. */
struct packet_slot {
    uint32_t index;
    struct span frame;
    uint32_t gso_bytes;   /* payload of each segment of a super-packet; 0: a single packet */
    uint64_t realtime_ns; /* when the kernel put it there, CLOCK_REALTIME */
    bool whole;           /* nothing was cut off */
};

/* At least `slots` frames of up to `frame_bytes`. */
MUST_CHECK bool packet_ring_open(struct packet_ring *ring, const char *interface, uint32_t slots,
                                 size_t frame_bytes, struct error *error);
void packet_ring_close(struct packet_ring *ring);

/* The next frame, which is held from now on; false: none is there. */
bool packet_ring_next(struct packet_ring *ring, struct packet_slot *slot);

/* A socket that sends by an interface and receives nothing; −1 with an error. */
int packet_sender_open(const char *interface, struct error *error);

/* Sends the oldest held frame by such a socket. PACKET_BUSY: the kernel has no room now, ask again;
 * PACKET_REFUSED: it never will, errno says why. The frame stays held. */
enum packet_sent { PACKET_SENT, PACKET_BUSY, PACKET_REFUSED };
enum packet_sent packet_ring_send_oldest(const struct packet_ring *ring, int sender);

/* Gives the oldest held slot back to the kernel. */
void packet_ring_release(struct packet_ring *ring);

/* The kernel keeps an error on the socket for each time that the interface was or went down, and
 * polls report it until it is taken: for a poll that found POLLERR. */
void packet_ring_take_error(struct packet_ring *ring);

/* Frames that found every slot held, since the ring was opened. */
uint64_t packet_ring_drops(struct packet_ring *ring);

#endif
