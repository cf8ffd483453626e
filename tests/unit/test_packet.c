/* netlab/packet: frames made by hand, what they count as and what they take on the line. MTU 1500,
 * so that a segment with timestamps (32 bytes of TCP header) is full with 1448 bytes. */
#include "unit.h"

#include "netlab/packet.h"

#include <stdio.h>

#define MTU     1500
#define LARGEST 70000

static struct packet_flows flows;
static struct packet_counts counts;
static uint32_t line_packets;
static uint64_t line_bytes;

static int reset(void **state)
{
    flows = (struct packet_flows){0};
    counts = (struct packet_counts){0};
    return 0;
}

/* Counts a copy in a block of exactly its size. */
static void count_bytes(enum link_way way, const uint8_t *bytes, size_t size, uint32_t gso_bytes)
{
    uint8_t *copy = exact_copy(bytes, size);
    packet_count(&flows, &counts, way, (struct span){copy, size}, gso_bytes, MTU, &line_packets,
                 &line_bytes);
    free(copy);
}

/* ---- Frames by hand ---- */

#define ETHERNET            "020000000001 020000000002"
#define TO_SERVER_ADDRESSES "0a630002 0a630001" /* 10.99.0.2 → 10.99.0.1 */
#define STAMPS              "0101080a 0000000100000002"

static const struct hand_made {
    const char *what, *text;
    enum packet_kind kind;
} hand_made[] = {
    {"pure ACK with timestamps",
     ETHERNET "0800 | 4500 0034 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 80 10 0100 0000 0000" STAMPS,
     PACKET_PURE_ACK},
    {"pure ACK, padded to 60 bytes",
     ETHERNET "0800 | 4500 0028 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 50 10 0100 0000 0000 | 000000000000",
     PACKET_PURE_ACK},
    {"pure ACK after IP options (24 bytes of header)",
     ETHERNET "0800 | 4600 002c 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "94040000 | c000 0224 00000010 00000020 50 10 0100 0000 0000",
     PACKET_PURE_ACK},
    {"SYN with options",
     ETHERNET "0800 | 4500 0030 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000000 70 02 0100 0000 0000 020405b4 01030307",
     PACKET_CONTROL},
    {"SYN with ACK",
     ETHERNET "0800 | 4500 0028 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000011 50 12 0100 0000 0000",
     PACKET_CONTROL},
    {"FIN",
     ETHERNET "0800 | 4500 0028 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000011 50 11 0100 0000 0000",
     PACKET_CONTROL},
    {"RST",
     ETHERNET "0800 | 4500 0028 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000011 50 04 0100 0000 0000",
     PACKET_CONTROL},
    {"one byte of data",
     ETHERNET "0800 | 4500 0029 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 50 18 0100 0000 0000 | 55",
     PACKET_SHORT},
    {"data with FIN",
     ETHERNET "0800 | 4500 0029 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 50 19 0100 0000 0000 | 55",
     PACKET_SHORT},
    {"the evil bit does not make a fragment",
     ETHERNET "0800 | 4500 0028 0001 8000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 50 10 0100 0000 0000",
     PACKET_PURE_ACK},
    {"ARP", ETHERNET "0806 | 0001 0800 06 04 0001 020000000002 0a630002 000000000000 0a630001",
     PACKET_OTHER},
    {"IPv6 TCP",
     ETHERNET "86dd | 60000000 0014 06 40 20010db8000000000000000000000001"
              "20010db8000000000000000000000002"
              "| c000 0224 00000010 00000020 50 10 0100 0000 0000",
     PACKET_OTHER},
    {"VLAN tag",
     ETHERNET "8100 0001 0800 | 4500 0028 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 50 10 0100 0000 0000",
     PACKET_OTHER},
    {"UDP",
     ETHERNET "0800 | 4500 0028 0001 4000 40 11 0000" TO_SERVER_ADDRESSES
              "| c000 0224 0014 0000 000000000000000000000000",
     PACKET_OTHER},
    {"first fragment",
     ETHERNET "0800 | 4500 0028 0001 2000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 50 10 0100 0000 0000",
     PACKET_OTHER},
    {"later fragment",
     ETHERNET "0800 | 4500 0028 0001 0001 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 50 10 0100 0000 0000",
     PACKET_OTHER},
    {"IP header that claims 16 bytes",
     ETHERNET "0800 | 4400 0028 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 50 10 0100 0000 0000",
     PACKET_OTHER},
    {"version 5",
     ETHERNET "0800 | 5500 0028 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 50 10 0100 0000 0000",
     PACKET_OTHER},
    {"TCP header that claims 16 bytes",
     ETHERNET "0800 | 4500 0028 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 40 10 0100 0000 0000",
     PACKET_OTHER},
    {"TCP header longer than the packet",
     ETHERNET "0800 | 4500 0028 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 60 10 0100 0000 0000",
     PACKET_OTHER},
    {"IP length beyond the frame",
     ETHERNET "0800 | 4500 0029 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 50 10 0100 0000 0000",
     PACKET_OTHER},
    {"IP length shorter than its headers",
     ETHERNET "0800 | 4500 0027 0001 4000 40 06 0000" TO_SERVER_ADDRESSES
              "| c000 0224 00000010 00000020 50 10 0100 0000 0000",
     PACKET_OTHER},
    {"an Ethernet header alone", ETHERNET "0800", PACKET_OTHER},
    {"nothing", "", PACKET_OTHER},
};

static void kinds_by_hand(void **state)
{
    for (size_t i = 0; i < COUNT(hand_made); i++) {
        const struct hand_made *row = &hand_made[i];
        uint8_t bytes[200];
        size_t size = bytes_from_text(row->text, bytes, sizeof bytes);
        reset(state);
        count_bytes(LINK_TO_SERVER, bytes, size, 0);
        check(counts.kinds[row->kind] == 1, "%s is not %s", row->what,
              packet_kind_names[row->kind]);
        check(counts.packets == 1 && counts.bytes == size, "%s", row->what);
        check(line_packets == 1 && line_bytes == size, "%s", row->what);
        check(counts.payload_bytes == (row->kind == PACKET_SHORT ? 1 : 0), "%s", row->what);
        check(counts.sizes[size <= 64 ? 0 : 1] == 1, "%s: size %zu", row->what, size);
    }
}

/* Cut anywhere, a frame counts as something else, and nothing behind its end is read. */
static void truncated_anywhere(void **state)
{
    for (size_t i = 0; i < COUNT(hand_made); i++) {
        uint8_t bytes[200];
        size_t size = bytes_from_text(hand_made[i].text, bytes, sizeof bytes);
        size_t told = size >= 18 ? (size_t)bytes[16] << 8 | bytes[17] : 0; /* IP's total length */
        for (size_t cut = 0; cut < size; cut++) {
            reset(state);
            count_bytes(LINK_TO_SERVER, bytes, cut, 1448);
            check(counts.packets == 1 && counts.bytes == cut, "%s", hand_made[i].what);
            if (hand_made[i].kind != PACKET_OTHER && cut < 14 + told) {
                check(counts.kinds[PACKET_OTHER] == 1, "%s, %zu bytes of it", hand_made[i].what,
                      cut);
            }
        }
    }
}

/* ---- Segments of any size ---- */

#define CLIENT 0x0a630002U
#define SERVER 0x0a630001U
#define HEADER 66U /* Ethernet 14, IP 20, TCP 32 with timestamps */

struct segment {
    enum link_way way;
    uint16_t client_port;
    uint32_t sequence, payload, gso_bytes;
    uint8_t flags;
};

static void put(uint8_t **at, uint64_t value, size_t size)
{
    for (size_t i = size; i > 0; i--) {
        *(*at)++ = (uint8_t)(value >> (8 * (i - 1)));
    }
}

static void count_segment(struct segment segment)
{
    static uint8_t frame[LARGEST];
    bool up = segment.way == LINK_TO_SERVER;
    uint8_t *at = frame + 12;
    put(&at, 0x0800, 2);
    put(&at, 0x4500, 2);
    put(&at, 52 + segment.payload, 2);
    put(&at, 0x00014000, 4);
    put(&at, 0x40060000, 4);
    put(&at, up ? CLIENT : SERVER, 4);
    put(&at, up ? SERVER : CLIENT, 4);
    put(&at, up ? segment.client_port : 548, 2);
    put(&at, up ? 548 : segment.client_port, 2);
    put(&at, segment.sequence, 4);
    put(&at, 0, 4);
    put(&at, 0x80, 1);
    put(&at, segment.flags != 0 ? segment.flags : 0x10, 1);
    count_bytes(segment.way, frame, HEADER + segment.payload, segment.gso_bytes);
}

static void send_up(uint32_t sequence, uint32_t payload, uint32_t gso_bytes)
{
    count_segment((struct segment){LINK_TO_SERVER, 4000, sequence, payload, gso_bytes, 0});
}

static void check_kinds(uint64_t full, uint64_t shorts, uint64_t retransmits)
{
    check(counts.kinds[PACKET_FULL] == full && counts.kinds[PACKET_SHORT] == shorts &&
              counts.kinds[PACKET_RETRANSMIT] == retransmits,
          "%d full, %d short, %d again; not %d, %d, %d", (int)counts.kinds[PACKET_FULL],
          (int)counts.kinds[PACKET_SHORT], (int)counts.kinds[PACKET_RETRANSMIT], (int)full,
          (int)shorts, (int)retransmits);
    uint64_t kinds = 0;
    uint64_t sizes = 0;
    for (size_t i = 0; i < PACKET_KINDS; i++) {
        kinds += counts.kinds[i];
    }
    for (size_t i = 0; i < PACKET_SIZE_STEPS; i++) {
        sizes += counts.sizes[i];
    }
    assert_int_equal(kinds, counts.packets);
    assert_int_equal(sizes, counts.packets);
}

static void full_and_short(void **state)
{
    send_up(0, 1448, 0);
    check_kinds(1, 0, 0);
    send_up(1448, 1447, 0);
    check_kinds(1, 1, 0);
    send_up(2895, 1448, 1448); /* told to be cut, but only one piece */
    check_kinds(2, 1, 0);
    assert_int_equal(counts.payload_bytes, 4343);
    assert_int_equal(counts.bytes, 4343 + 3 * HEADER);
    assert_int_equal(counts.sizes[23], 3); /* 1473 to 1536 bytes */
}

/* 3 × 1448 + 100: four packets, three more headers than the frame has. */
static void super_packets(void **state)
{
    send_up(0, 3 * 1448 + 100, 1448);
    check_kinds(3, 1, 0);
    assert_int_equal(line_packets, 4);
    assert_int_equal(line_bytes, 3 * 1514 + 166);
    assert_int_equal(counts.bytes, 3 * 1514 + 166);
    assert_int_equal(counts.payload_bytes, 4444);
    assert_int_equal(counts.sizes[23], 3); /* 1473 to 1536 bytes */
    assert_int_equal(counts.sizes[2], 1);  /* 129 to 192 */

    send_up(4444, 2 * 1448, 1448); /* no remainder */
    check_kinds(5, 1, 0);
    assert_int_equal(line_packets, 2);
    assert_int_equal(line_bytes, 2 * 1514);

    send_up(7340, 45 * 1448, 1448); /* as large as the kernel makes them */
    check_kinds(50, 1, 0);
    assert_int_equal(line_packets, 45);
    assert_int_equal(line_bytes, 45 * 1514);

    send_up(72500, 3000, 1000); /* cut smaller than need be */
    check_kinds(50, 4, 0);
}

static void retransmits(void **state)
{
    send_up(1000, 1448, 0);
    send_up(1000, 1448, 0); /* all of it again */
    check_kinds(1, 0, 1);
    send_up(2448, 1448, 0);
    check_kinds(2, 0, 1);
    send_up(1000, 500, 0);
    check_kinds(2, 0, 2);
    send_up(3800, 200, 0); /* 96 old bytes and 104 new ones */
    check_kinds(2, 0, 3);
    send_up(4000, 100, 0);
    check_kinds(2, 1, 3);
    /* What was lost before it came here leaves a hole: what fills it is sent again, too. */
    send_up(10000, 1448, 0);
    send_up(4100, 1448, 0);
    check_kinds(3, 1, 4);
    /* A pure acknowledgement tells nothing of what was sent. */
    send_up(50000, 0, 0);
    send_up(11448, 1448, 0);
    check_kinds(4, 1, 4);
    /* The other way has its own numbers. */
    count_segment((struct segment){LINK_TO_CLIENT, 4000, 1000, 1448, 0, 0});
    check_kinds(5, 1, 4);
    count_segment((struct segment){LINK_TO_CLIENT, 4000, 1000, 1448, 0, 0});
    check_kinds(5, 1, 5);
}

/* The first two of four segments went by before; the remainder is new. */
static void retransmits_in_a_super_packet(void **state)
{
    send_up(0, 2 * 1448, 1448);
    send_up(0, 3 * 1448 + 100, 1448);
    check_kinds(3, 1, 2);
    send_up(0, 3 * 1448 + 100, 1448); /* all four */
    check_kinds(3, 1, 6);
    send_up(4344, 1448 + 100, 1448); /* 100 old bytes in the first */
    check_kinds(3, 2, 7);
}

static void sequence_numbers_wrap(void **state)
{
    send_up(0xfffff658U, 1448, 0);
    send_up(0xfffffc00U, 1448, 0); /* up to 424 */
    check_kinds(2, 0, 0);
    send_up(0xfffffc00U, 1448, 0);
    check_kinds(2, 0, 1);
    send_up(424, 1448, 0);
    check_kinds(3, 0, 1);
    send_up(0xfffffc00U, 1448, 0);
    check_kinds(3, 0, 2);
    send_up(424, 100, 0);
    check_kinds(3, 0, 3);
    reset(state);
    send_up(0xffffffffU - 1447, 1448, 0); /* up to 0 exactly */
    send_up(0, 3 * 1448, 1448);
    check_kinds(4, 0, 0);
    send_up(0xffffffffU, 1449, 1448);
    check_kinds(4, 0, 2);
}

/* The SYN itself takes one number, so its data ends one further. */
static void data_with_a_syn(void **state)
{
    count_segment((struct segment){LINK_TO_SERVER, 4000, 1000, 100, 0, 0x02});
    check_kinds(0, 1, 0);
    send_up(1100, 10, 0);
    check_kinds(0, 1, 1);
    send_up(1110, 10, 0);
    check_kinds(0, 2, 1);
}

/* A SYN starts its direction anew, so ports may be used again. */
static void same_ports_again(void **state)
{
    send_up(5000, 1448, 0);
    count_segment((struct segment){LINK_TO_SERVER, 4000, 1000, 0, 0, 0x02});
    send_up(1001, 1448, 0);
    check_kinds(2, 0, 0);
    send_up(1001, 1448, 0);
    check_kinds(2, 0, 1);
    count_segment((struct segment){LINK_TO_CLIENT, 4000, 9000, 0, 0, 0x12});
    count_segment((struct segment){LINK_TO_CLIENT, 4000, 9001, 100, 0, 0});
    check_kinds(2, 1, 1);
    assert_int_equal(counts.kinds[PACKET_CONTROL], 2);
    assert_int_equal(flows.count, 1);
}

static void send_by(size_t connection)
{
    count_segment((struct segment){LINK_TO_SERVER, (uint16_t)(1024 + connection), 0, 10, 0, 0});
}

/* One connection more than there is room for: the one used longest ago is forgotten, so that its
 * repeated data looks new; the others are still known. */
static void more_connections_than_room(void **state)
{
    for (size_t i = 0; i < PACKET_FLOW_LIMIT; i++) {
        send_by(i);
    }
    check_kinds(0, PACKET_FLOW_LIMIT, 0);
    send_by(0); /* now the second is the oldest */
    check_kinds(0, PACKET_FLOW_LIMIT, 1);
    send_by(PACKET_FLOW_LIMIT);
    check_kinds(0, PACKET_FLOW_LIMIT + 1, 1);
    assert_int_equal(flows.count, PACKET_FLOW_LIMIT);
    send_by(0);
    for (size_t i = 2; i <= PACKET_FLOW_LIMIT; i++) {
        send_by(i);
    }
    check_kinds(0, PACKET_FLOW_LIMIT + 1, 1 + PACKET_FLOW_LIMIT);
    send_by(1);
    check_kinds(0, PACKET_FLOW_LIMIT + 2, 1 + PACKET_FLOW_LIMIT);
}

/* ---- Sums ---- */

static void sums_and_differences(void **state)
{
    send_up(0, 3 * 1448 + 100, 1448);
    struct packet_counts before = counts;
    send_up(4444, 1448, 0);
    send_up(4444, 1448, 0);
    struct packet_counts difference;
    packet_counts_subtract(&difference, &counts, &before);
    assert_int_equal(difference.packets, 2);
    assert_int_equal(difference.bytes, 2 * 1514);
    assert_int_equal(difference.payload_bytes, 2 * 1448);
    assert_int_equal(difference.kinds[PACKET_FULL], 1);
    assert_int_equal(difference.kinds[PACKET_RETRANSMIT], 1);
    assert_int_equal(difference.kinds[PACKET_SHORT], 0);
    assert_int_equal(difference.sizes[23], 2);
    assert_int_equal(difference.sizes[2], 0);
    packet_counts_add(&before, &difference);
    assert_memory_equal(&before, &counts, sizeof counts);
    packet_counts_subtract(&counts, &counts, &counts);
    assert_int_equal(counts.packets, 0);
}

static void largest_sizes(void **state)
{
    static uint8_t frame[LARGEST];
    count_bytes(LINK_TO_CLIENT, frame, 64, 0);
    count_bytes(LINK_TO_CLIENT, frame, 65, 0);
    count_bytes(LINK_TO_CLIENT, frame, 65549, 0); /* an IP packet as long as can be */
    count_bytes(LINK_TO_CLIENT, frame, LARGEST, 0);
    assert_int_equal(counts.sizes[0], 1);
    assert_int_equal(counts.sizes[1], 1);
    assert_int_equal(counts.sizes[PACKET_SIZE_STEPS - 1], 2);
    assert_int_equal(counts.kinds[PACKET_OTHER], 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(kinds_by_hand, reset),
        cmocka_unit_test_setup(truncated_anywhere, reset),
        cmocka_unit_test_setup(full_and_short, reset),
        cmocka_unit_test_setup(super_packets, reset),
        cmocka_unit_test_setup(retransmits, reset),
        cmocka_unit_test_setup(retransmits_in_a_super_packet, reset),
        cmocka_unit_test_setup(sequence_numbers_wrap, reset),
        cmocka_unit_test_setup(data_with_a_syn, reset),
        cmocka_unit_test_setup(same_ports_again, reset),
        cmocka_unit_test_setup(more_connections_than_room, reset),
        cmocka_unit_test_setup(sums_and_differences, reset),
        cmocka_unit_test_setup(largest_sizes, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
