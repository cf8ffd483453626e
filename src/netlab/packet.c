#include "netlab/packet.h"

#include <string.h>

#define TYPE_IPV4    0x0800
#define PROTOCOL_TCP 6

#define FLAG_FIN 0x01
#define FLAG_SYN 0x02
#define FLAG_RST 0x04

const char *const packet_kind_names[PACKET_KINDS] = {
    "pure_ack", "full", "short", "retransmit", "control", "other",
};

/* What the headers of a TCP segment over IPv4 say. */
struct segment {
    uint32_t address[2]; /* source, destination */
    uint16_t port[2];
    uint32_t sequence;
    uint8_t flags;
    uint32_t header_bytes; /* Ethernet, IP and TCP */
    uint32_t ip_tcp_bytes; /* of these, what counts against the MTU */
    uint32_t payload_bytes;
    uint64_t frame_bytes; /* all of it, with what pads a short frame */
};

/* ---- Headers ---- */

/* The IP header; the cursor stands behind it. `total` is the length that it tells. */
static void read_ip(struct wire *wire, struct segment *segment, uint32_t *header, uint16_t *total)
{
    uint8_t version_length;
    uint16_t fragment;
    uint8_t protocol;
    wire_u8(wire, &version_length);
    wire_reserved(wire, 1);
    wire_u16(wire, total);
    wire_reserved(wire, 2);
    wire_u16(wire, &fragment);
    wire_reserved(wire, 1);
    wire_u8(wire, &protocol);
    wire_reserved(wire, 2);
    wire_u32(wire, &segment->address[0]);
    wire_u32(wire, &segment->address[1]);
    *header = (version_length & 0x0FU) * 4;
    /* A fragment does not tell its segment; more fragments or an offset, whatever the bit before.
     */
    if (version_length >> 4 != 4 || *header < 20 || (fragment & 0x3FFF) != 0 ||
        protocol != PROTOCOL_TCP) {
        wire_fail(wire);
        return;
    }
    wire_reserved(wire, *header - 20);
}

/* False for anything but a whole TCP segment over IPv4. */
static bool read_segment(struct span frame, struct segment *segment)
{
    struct wire wire = wire_decoder(frame.data, frame.size);
    uint16_t type;
    uint32_t ip_header;
    uint16_t total;
    uint8_t tcp_length;
    wire_reserved(&wire, 12);
    wire_u16(&wire, &type);
    if (type != TYPE_IPV4) {
        return false;
    }
    read_ip(&wire, segment, &ip_header, &total);
    wire_u16(&wire, &segment->port[0]);
    wire_u16(&wire, &segment->port[1]);
    wire_u32(&wire, &segment->sequence);
    wire_reserved(&wire, 4);
    wire_u8(&wire, &tcp_length);
    wire_u8(&wire, &segment->flags);
    uint32_t tcp_header = (uint32_t)(tcp_length >> 4) * 4;
    if (!wire_ok(&wire) || tcp_header < 20 || total < ip_header + tcp_header ||
        frame.size - LINK_HEADER < total) {
        return false;
    }
    segment->ip_tcp_bytes = ip_header + tcp_header;
    segment->header_bytes = LINK_HEADER + segment->ip_tcp_bytes;
    segment->payload_bytes = total - segment->ip_tcp_bytes;
    segment->frame_bytes = frame.size;
    return true;
}

/* ---- Connections ---- */

/* The connection of a segment, made if it is new; the one least recently used makes room. */
static struct packet_flow *find_flow(struct packet_flows *flows, const struct segment *segment,
                                     enum link_way way)
{
    size_t client = way == LINK_TO_SERVER ? 0 : 1; /* which end of the segment */
    struct packet_flow wanted = {
        .key = {.address = {segment->address[client], segment->address[1 - client]},
                .port = {segment->port[client], segment->port[1 - client]}}};
    size_t oldest = 0;
    size_t place = flows->count;
    for (size_t i = 0; i < flows->count; i++) {
        if (memcmp(&flows->flows[i].key, &wanted.key, sizeof wanted.key) == 0) {
            wanted = flows->flows[i];
            place = i;
            break;
        }
        oldest = flows->flows[i].used < flows->flows[oldest].used ? i : oldest;
    }
    if (place == PACKET_FLOW_LIMIT) {
        place = oldest;
    } else if (place == flows->count) {
        flows->count++;
    }
    wanted.used = ++flows->clock;
    /* The busiest ones stay in front, where the search begins. */
    flows->flows[place] = flows->flows[0];
    flows->flows[0] = wanted;
    return &flows->flows[0];
}

/* How much of the segment's data went by before; remembers what goes by now. */
static uint32_t old_bytes(struct packet_flow *flow, const struct segment *segment,
                          enum link_way way)
{
    uint32_t first = segment->sequence;
    if ((segment->flags & FLAG_SYN) != 0) {
        flow->seen[way] = false; /* a new connection, maybe of the same ports */
        first++;
    }
    uint32_t end = first + segment->payload_bytes;
    uint32_t *next = &flow->next_sequence[way];
    /* Sequence numbers wrap: they are compared by their distance. */
    uint32_t old = flow->seen[way] && (int32_t)(*next - first) > 0 ? *next - first : 0;
    if (!flow->seen[way] || (int32_t)(end - *next) > 0) {
        *next = end;
    }
    flow->seen[way] = true;
    return old < segment->payload_bytes ? old : segment->payload_bytes;
}

/* ---- Counting ---- */

static void count_size(struct packet_counts *counts, uint64_t bytes, uint64_t packets)
{
    uint64_t step = bytes > 0 ? (bytes - 1) / PACKET_SIZE_STEP : 0;
    counts->sizes[step < PACKET_SIZE_STEPS ? step : PACKET_SIZE_STEPS - 1] += packets;
}

static enum packet_kind kind_of_data(const struct segment *segment, uint32_t data_bytes,
                                     uint32_t mtu)
{
    return data_bytes + segment->ip_tcp_bytes >= mtu ? PACKET_FULL : PACKET_SHORT;
}

/* The segments of one frame: all of `segment_bytes` but the last, which may have less. */
static uint32_t count_data(struct packet_flows *flows, struct packet_counts *counts,
                           enum link_way way, const struct segment *segment, uint32_t segment_bytes,
                           uint32_t mtu)
{
    uint32_t payload = segment->payload_bytes;
    uint32_t packets = (payload - 1) / segment_bytes + 1;
    uint32_t last_bytes = payload - (packets - 1) * segment_bytes;
    uint32_t old = old_bytes(find_flow(flows, segment, way), segment, way);
    uint32_t old_packets = old > 0 ? (old - 1) / segment_bytes + 1 : 0;

    counts->payload_bytes += payload;
    counts->kinds[PACKET_RETRANSMIT] += old_packets;
    if (old_packets < packets) {
        counts->kinds[kind_of_data(segment, segment_bytes, mtu)] += packets - 1 - old_packets;
        counts->kinds[kind_of_data(segment, last_bytes, mtu)]++;
    }
    count_size(counts, segment->header_bytes + segment_bytes, packets - 1);
    count_size(counts, segment->frame_bytes - (uint64_t)(packets - 1) * segment_bytes, 1);
    return packets;
}

void packet_count(struct packet_flows *flows, struct packet_counts *counts, enum link_way way,
                  struct span frame, uint32_t gso_bytes, uint32_t mtu, uint32_t *line_packets,
                  uint64_t *line_bytes)
{
    struct segment segment = {0};
    *line_packets = 1;
    *line_bytes = frame.size;
    if (!read_segment(frame, &segment)) {
        counts->kinds[PACKET_OTHER]++;
        count_size(counts, frame.size, 1);
    } else if (segment.payload_bytes == 0) {
        bool control = (segment.flags & (FLAG_SYN | FLAG_FIN | FLAG_RST)) != 0;
        counts->kinds[control ? PACKET_CONTROL : PACKET_PURE_ACK]++;
        count_size(counts, frame.size, 1);
        if ((segment.flags & FLAG_SYN) != 0) {
            old_bytes(find_flow(flows, &segment, way), &segment, way);
        }
    } else {
        uint32_t each =
            gso_bytes > 0 && gso_bytes < segment.payload_bytes ? gso_bytes : segment.payload_bytes;
        *line_packets = count_data(flows, counts, way, &segment, each, mtu);
        *line_bytes += (uint64_t)(*line_packets - 1) * segment.header_bytes;
    }
    counts->packets += *line_packets;
    counts->bytes += *line_bytes;
}

/* ---- Sums ---- */

/* The counts are nothing but numbers of 64 bits, so that sums need no list of them. */
#define FIELDS (sizeof(struct packet_counts) / sizeof(uint64_t))

union fields {
    struct packet_counts counts;
    uint64_t numbers[FIELDS];
};
_Static_assert(sizeof(union fields) == sizeof(struct packet_counts), "a field is no uint64_t");

void packet_counts_add(struct packet_counts *sum, const struct packet_counts *more)
{
    for (size_t i = 0; i < FIELDS; i++) {
        ((union fields *)sum)->numbers[i] += ((const union fields *)more)->numbers[i];
    }
}

void packet_counts_subtract(struct packet_counts *difference, const struct packet_counts *after,
                            const struct packet_counts *before)
{
    for (size_t i = 0; i < FIELDS; i++) {
        ((union fields *)difference)->numbers[i] =
            ((const union fields *)after)->numbers[i] - ((const union fields *)before)->numbers[i];
    }
}
