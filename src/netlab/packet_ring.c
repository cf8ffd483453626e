#include "netlab/packet_ring.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* The kernel allocates a block in one piece where it can; many slots share one, so that little is
 * wasted by rounding to powers of two. */
#define BLOCK_BYTES ((size_t)2 << 20)
/* Before the frame: the slot's header, the sender's address, the header of the super-packet. */
#define SLOT_OVERHEAD 144

/* ---- Opening ---- */

static bool set_number(int socket, int option, int value, const char *what, struct error *error)
{
    return setsockopt(socket, SOL_PACKET, option, &value, sizeof value) == 0 ||
           error_set_errno(error, errno, "the kernel refuses %s for packet sockets", what);
}

static bool map_memory(struct packet_ring *ring, struct error *error)
{
    const struct tpacket_req request = {
        .tp_block_size = (unsigned)ring->block_bytes,
        .tp_block_nr = (unsigned)ring->block_count,
        .tp_frame_size = (unsigned)ring->slot_bytes,
        .tp_frame_nr = ring->slots,
    };
    size_t size = ring->block_bytes * ring->block_count;
    if (setsockopt(ring->socket, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) != 0) {
        return error_set_errno(error, errno,
                               "the kernel has no %zu MiB for the frames on the link (a lower "
                               "rate or delay needs less)",
                               size >> 20);
    }
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->socket, 0);
    if (memory == MAP_FAILED) {
        return error_set_errno(error, errno, "cannot map %zu MiB of packet memory", size >> 20);
    }
    ring->memory = memory;
    return true;
}

static bool bind_to(int socket, const char *interface, uint16_t protocol, struct error *error)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET,
        .sll_protocol = htons(protocol),
        .sll_ifindex = (int)if_nametoindex(interface),
    };
    return (address.sll_ifindex > 0 &&
            bind(socket, (const struct sockaddr *)&address, sizeof address) == 0) ||
           error_set_errno(error, errno, "cannot use the interface '%s' for packets", interface);
}

/* What the interface receives is none of ours. */
static bool take_outgoing_only(int socket, struct error *error)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    const struct sock_fprog filter = {sizeof steps / sizeof steps[0], steps};
    return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0 ||
           error_set_errno(error, errno, "cannot filter packets");
}

/* Protocol 0: nothing arrives before the socket is bound to one, with all its options set. */
static bool open_socket(int *opened, struct error *error)
{
    *opened = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*opened < 0) {
        return error_set_errno(error, errno,
                               "cannot open a packet socket (it needs CAP_NET_RAW in the user "
                               "namespace)");
    }
    return set_number(*opened, PACKET_VNET_HDR, 1, "super-packets", error);
}

static bool set_up(struct packet_ring *ring, const char *interface, struct error *error)
{
    return open_socket(&ring->socket, error) &&
           set_number(ring->socket, PACKET_VERSION, TPACKET_V2, "rings of version 2", error) &&
           take_outgoing_only(ring->socket, error) && map_memory(ring, error) &&
           bind_to(ring->socket, interface, ETH_P_ALL, error);
}

bool packet_ring_open(struct packet_ring *ring, const char *interface, uint32_t slots,
                      size_t frame_bytes, struct error *error)
{
    size_t slot_bytes = (frame_bytes + SLOT_OVERHEAD) / TPACKET_ALIGNMENT * TPACKET_ALIGNMENT;
    size_t per_block = BLOCK_BYTES / slot_bytes;
    size_t blocks = (slots + per_block - 1) / per_block;
    *ring = (struct packet_ring){
        .block_bytes = BLOCK_BYTES,
        .block_count = blocks,
        .slot_bytes = slot_bytes,
        .slots = (uint32_t)(blocks * per_block),
        .slots_per_block = (uint32_t)per_block,
    };
    if (!set_up(ring, interface, error)) {
        packet_ring_close(ring);
        return false;
    }
    return true;
}

void packet_ring_close(struct packet_ring *ring)
{
    if (ring->memory != NULL) {
        munmap(ring->memory, ring->block_bytes * ring->block_count);
        ring->memory = NULL;
    }
    if (ring->socket >= 0) {
        close(ring->socket);
        ring->socket = -1;
    }
}

int packet_sender_open(const char *interface, struct error *error)
{
    int sender;
    if (open_socket(&sender, error) && bind_to(sender, interface, 0, error)) {
        return sender;
    }
    if (sender >= 0) {
        close(sender);
    }
    return -1;
}

/* ---- Frames ---- */

static struct tpacket2_hdr *header_at(const struct packet_ring *ring, uint32_t index)
{
    size_t offset = (index / ring->slots_per_block) * ring->block_bytes +
                    (index % ring->slots_per_block) * ring->slot_bytes;
    return (struct tpacket2_hdr *)(void *)(ring->memory + offset);
}

/* How the frame is to be cut and where its checksum belongs: right before it. */
static struct virtio_net_hdr *cut_header(struct tpacket2_hdr *header)
{
    uint8_t *frame = (uint8_t *)header + header->tp_mac;
    return (struct virtio_net_hdr *)(void *)(frame - sizeof(struct virtio_net_hdr));
}

/* Acquire: the status is ours only after the kernel has written the frame. */
bool packet_ring_next(struct packet_ring *ring, struct packet_slot *slot)
{
    if (ring->held == ring->slots) {
        return false;
    }
    uint32_t index = (ring->oldest + ring->held) % ring->slots;
    struct tpacket2_hdr *header = header_at(ring, index);
    if ((__atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) == 0) {
        return false;
    }
    const struct virtio_net_hdr *cut = cut_header(header);
    *slot = (struct packet_slot){
        .index = index,
        .frame = {(const uint8_t *)header + header->tp_mac, header->tp_snaplen},
        .gso_bytes = cut->gso_type == VIRTIO_NET_HDR_GSO_NONE ? 0 : cut->gso_size,
        .realtime_ns = header->tp_sec * NS_PER_S + header->tp_nsec,
        .whole = header->tp_snaplen == header->tp_len,
    };
    ring->held++;
    return true;
}

enum packet_sent packet_ring_send_oldest(const struct packet_ring *ring, int sender)
{
    struct tpacket2_hdr *header = header_at(ring, ring->oldest);
    size_t size = header->tp_snaplen + sizeof(struct virtio_net_hdr);
    ssize_t sent = send(sender, cut_header(header), size, 0);
    if (sent >= 0) {
        return PACKET_SENT;
    }
    bool busy = errno == EAGAIN || errno == ENOBUFS || errno == EINTR;
    return busy ? PACKET_BUSY : PACKET_REFUSED;
}

void packet_ring_release(struct packet_ring *ring)
{
    struct tpacket2_hdr *header = header_at(ring, ring->oldest);
    __atomic_store_n(&header->tp_status, (uint32_t)TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    ring->oldest = (ring->oldest + 1) % ring->slots;
    ring->held--;
}

void packet_ring_take_error(struct packet_ring *ring)
{
    int taken;
    socklen_t size = sizeof taken;
    (void)getsockopt(ring->socket, SOL_SOCKET, SO_ERROR, &taken, &size);
}

uint64_t packet_ring_drops(struct packet_ring *ring)
{
    struct tpacket_stats since; /* the kernel starts over with each reading */
    socklen_t size = sizeof since;
    if (getsockopt(ring->socket, SOL_PACKET, PACKET_STATISTICS, &since, &size) == 0) {
        ring->drops += since.tp_drops;
    }
    return ring->drops;
}
