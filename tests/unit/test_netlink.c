/* The messages that are sent to the kernel, byte for byte as <linux/rtnetlink.h> lays them out on a
 * little-endian machine. */
#include "unit.h"

#include "netlab/netlink.h"

#include <arpa/inet.h>
#include <endian.h>

static void same_bytes(const struct nlmsghdr *message, const char *text)
{
    uint8_t wanted[512];
    size_t size = bytes_from_text(text, wanted, sizeof wanted);
    if (__BYTE_ORDER != __LITTLE_ENDIAN) {
        skip();
    }
    check(message->nlmsg_len == size, "%u bytes, not %zu", (unsigned)message->nlmsg_len, size);
    for (size_t i = 0; i < size; i++) {
        check(((const uint8_t *)message)[i] == wanted[i], "byte %zu is %02x, not %02x", i,
              ((const uint8_t *)message)[i], wanted[i]);
    }
}

static void test_pair(void **state)
{
    char buffer[512] = {0}; /* libmnl leaves padding as it is */
    const struct netlink_end ends[] = {{"a", 5, 1500}, {"bcd", 6, 1500}};
    /* RTM_NEWLINK is 16; request, acknowledge, exclusive, create: 0x605 */
    same_bytes(netlink_put_pair(buffer, &ends[0], &ends[1]),
               "78000000 1000 0506 00000000 00000000"
               "0000 0000 00000000 00000000 00000000"
               "0600 0300 \"a\"00 0000 | 0800 1c00 05000000 | 0800 0400 dc050000"
               "4000 1280"                                      /* IFLA_LINKINFO, nested */
               "0900 0100 \"veth\"00 000000"                    /* IFLA_INFO_KIND */
               "3000 0280"                                      /* IFLA_INFO_DATA */
               "2c00 0180 0000 0000 00000000 00000000 00000000" /* VETH_INFO_PEER */
               "0800 0300 \"bcd\"00 | 0800 1c00 06000000 | 0800 0400 dc050000");
}

static void test_address(void **state)
{
    char buffer[256] = {0}; /* libmnl leaves padding as it is */
    struct in_addr address = {htonl(0x0a630002)};
    /* RTM_NEWADDR 20; IFA_LOCAL 2, IFA_ADDRESS 1, IFA_FLAGS 8: IFA_F_NOPREFIXROUTE 0x200 */
    same_bytes(netlink_put_address(buffer, 7, address, 24),
               "30000000 1400 0506 00000000 00000000 02 18 00 00 07000000"
               "0800 0200 0a630002 | 0800 0100 0a630002 | 0800 0800 00020000");
}

static void test_neighbour(void **state)
{
    char buffer[256] = {0}; /* libmnl leaves padding as it is */
    const uint8_t mac[] = {2, 0, 0, 0, 0, 9};
    struct in_addr address = {htonl(0x0a630001)};
    /* RTM_NEWNEIGH 28; create and replace 0x500; NUD_PERMANENT 0x80 */
    same_bytes(netlink_put_neighbour(buffer, 7, address, mac),
               "30000000 1c00 0505 00000000 00000000 02 00 0000 07000000 8000 00 00"
               "0800 0100 0a630001 | 0a00 0200 020000000009 0000");
}

static void test_route(void **state)
{
    char buffer[256] = {0}; /* libmnl leaves padding as it is */
    const struct netlink_route route = {.destination = {htonl(0x0a630000)},
                                        .prefix_bits = 24,
                                        .source = {htonl(0x0a630002)},
                                        .interface = 7,
                                        .congestion_control = "bbr"};
    /* RTM_NEWROUTE 24; table main 254, static 4, scope link 253, unicast 1; RTAX_CC_ALGO 16 */
    same_bytes(netlink_put_route(buffer, &route),
               "40000000 1800 0505 00000000 00000000 02 18 00 00 fe 04 fd 01 00000000"
               "0800 0100 0a630000 | 0800 0700 0a630002 | 0800 0400 07000000"
               "0c00 0880 0800 1000 \"bbr\"00");
}

static void test_up(void **state)
{
    char buffer[256] = {0}; /* libmnl leaves padding as it is */
    same_bytes(netlink_put_up(buffer, 7, 9000),
               "28000000 1000 0500 00000000 00000000"
               "0000 0000 07000000 01000000 01000000 | 0800 0400 28230000");
    same_bytes(netlink_put_delete(buffer, 7), "20000000 1100 0500 00000000 00000000"
                                              "0000 0000 07000000 00000000 00000000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pair),      cmocka_unit_test(test_address),
        cmocka_unit_test(test_neighbour), cmocka_unit_test(test_route),
        cmocka_unit_test(test_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
