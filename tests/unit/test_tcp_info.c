/* base/tcp_info: what the kernel tells of a real connection over loopback, what it does not tell,
 * and counters that wrap. */
#include "loopback.h"

#include "base/tcp_info.h"
#include "made_result.h"

#include <netinet/tcp.h>
#include <poll.h>

/* ---- A connection ---- */

struct line {
    int near, far;
};

static void line_open(struct line *line)
{
    loopback_pair(&line->near, &line->far);
    int on = 1;
    assert_int_equal(setsockopt(line->near, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
}

static void line_close(struct line *line)
{
    close(line->near);
    close(line->far);
}

/* Sends so many bytes and waits until they are there. */
static void move(int from, int to, size_t size)
{
    static uint8_t bytes[65536];
    assert_true(size <= sizeof bytes);
    assert_int_equal(send(from, bytes, size, MSG_NOSIGNAL), size);
    assert_int_equal(recv(to, bytes, size, MSG_WAITALL), size);
}

static struct tcp_snapshot take(int socket)
{
    struct tcp_snapshot snapshot;
    struct error error;
    memset(&snapshot, 0xff, sizeof snapshot);
    check(tcp_snapshot_take(socket, &snapshot, &error), "%s", error.message);
    return snapshot;
}

static uint64_t value_of(const struct tcp_snapshot *snapshot, size_t field)
{
    uint64_t value;
    check(tcp_snapshot_value(snapshot, field, &value), "%s is not known", tcp_fields[field].name);
    return value;
}

/* ---- What it tells ---- */

static void counters_grow_by_what_was_sent(void **state)
{
    static const size_t sizes[] = {1, 1000, 65536, 3};
    struct line line;
    line_open(&line);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct tcp_snapshot before = take(line.near);
        for (size_t k = 0; k < i; k++) {
            move(line.near, line.far, sizes[i]);
            move(line.far, line.near, sizes[i] / 2 + 1);
        }
        struct tcp_snapshot after = take(line.near);
        assert_int_equal(tcp_snapshot_growth(&before, &after, TCP_BYTES_SENT), i * sizes[i]);
        assert_int_equal(tcp_snapshot_growth(&before, &after, TCP_BYTES_RECEIVED),
                         i * (sizes[i] / 2 + 1));
        uint64_t sent = tcp_snapshot_growth(&before, &after, TCP_DATA_SEGMENTS_OUT);
        uint64_t received = tcp_snapshot_growth(&before, &after, TCP_DATA_SEGMENTS_IN);
        assert_true(sent >= i && received >= i);
        assert_true(tcp_snapshot_growth(&before, &after, TCP_SEGMENTS_OUT) >= sent);
        assert_true(tcp_snapshot_growth(&before, &after, TCP_SEGMENTS_IN) >= received);
    }
    line_close(&line);
}

static void an_idle_line_counts_nothing(void **state)
{
    struct line line;
    line_open(&line);
    struct tcp_snapshot before = take(line.near);
    struct tcp_snapshot after = take(line.near);
    for (size_t field = 0; field < TCP_NAMED_FIELDS; field++) {
        if (tcp_fields[field].counter) {
            check(tcp_snapshot_growth(&before, &after, (enum tcp_field_id)field) == 0, "%s",
                  tcp_fields[field].name);
        }
    }
    line_close(&line);
}

static void gauges_and_socket_options(void **state)
{
    struct line line;
    line_open(&line);
    move(line.near, line.far, 1000);
    struct tcp_snapshot snapshot = take(line.near);
    struct tcp_info info;
    socklen_t size = sizeof info;
    assert_int_equal(getsockopt(line.near, IPPROTO_TCP, TCP_INFO, &info, &size), 0);
    assert_in_range(snapshot.length, size, TCP_SNAPSHOT_BYTES);
    assert_int_equal(value_of(&snapshot, TCP_SEND_MSS), info.tcpi_snd_mss);
    assert_int_equal(value_of(&snapshot, TCP_ADVERTISED_MSS), info.tcpi_advmss);
    assert_int_equal(value_of(&snapshot, TCP_CONGESTION_WINDOW), info.tcpi_snd_cwnd);
    assert_int_equal(value_of(&snapshot, TCP_SLOW_START_THRESHOLD), info.tcpi_snd_ssthresh);
    assert_true(value_of(&snapshot, TCP_RTT) > 0);

    int buffer;
    socklen_t length = sizeof buffer;
    assert_int_equal(getsockopt(line.near, SOL_SOCKET, SO_RCVBUF, &buffer, &length), 0);
    assert_int_equal(snapshot.receive_buffer_bytes, buffer);
    assert_true(snapshot.send_buffer_bytes > 0);
    assert_true(snapshot.segment_bytes > 500);
    char name[16] = "";
    length = sizeof name;
    assert_int_equal(getsockopt(line.near, IPPROTO_TCP, TCP_CONGESTION, name, &length), 0);
    assert_string_equal(snapshot.congestion_control, name);
    line_close(&line);
}

static void only_tcp_has_an_account(void **state)
{
    int pair[2];
    struct tcp_snapshot snapshot;
    struct error error;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_false(tcp_snapshot_take(pair[0], &snapshot, &error));
    check_error(&error, ERROR_SYSTEM, "TCP_INFO: ");
    assert_int_equal(snapshot.length, 0);
    assert_false(tcp_snapshot_take(-1, &snapshot, &error));
    check_error(&error, ERROR_SYSTEM, "TCP_INFO: ");
    close(pair[0]);
    close(pair[1]);
}

/* ---- The table ---- */

static void the_table_is_sound(void **state)
{
    assert_true(tcp_field_count >= TCP_NAMED_FIELDS);
    for (size_t i = 0; i < tcp_field_count; i++) {
        const struct tcp_field *field = &tcp_fields[i];
        assert_non_null(field->name);
        check(field->size == 1 || field->size == 4 || field->size == 8, "%s", field->name);
        check(field->offset + field->size <= TCP_SNAPSHOT_BYTES, "%s", field->name);
        for (size_t k = 0; k < i; k++) {
            check(strcmp(field->name, tcp_fields[k].name) != 0, "%s is there twice", field->name);
            check(field->offset != tcp_fields[k].offset, "%s and %s are one", field->name,
                  tcp_fields[k].name);
        }
    }
    assert_string_equal(tcp_fields[TCP_RTT].name, "rtt_us");
    assert_string_equal(tcp_fields[TCP_DATA_SEGMENTS_IN].name, "data_segments_in");
    assert_false(tcp_fields[TCP_RTT].counter);
    assert_true(tcp_fields[TCP_BYTES_SENT].counter);
}

/* ---- Other kernels ---- */

/* An older kernel returns less: the rest is absent, not 0, and a field cut in two is absent too. */
static void fields_beyond_the_length_are_absent(void **state)
{
    struct tcp_snapshot snapshot;
    memset(&snapshot, 1, sizeof snapshot);
    for (uint32_t length = 0; length <= TCP_SNAPSHOT_BYTES; length++) {
        snapshot.length = length;
        for (size_t i = 0; i < tcp_field_count; i++) {
            uint64_t value = 77;
            bool known = tcp_snapshot_value(&snapshot, i, &value);
            uint32_t end = tcp_fields[i].offset + tcp_fields[i].size;
            check(known == (end <= length), "%s at %u", tcp_fields[i].name, length);
            uint64_t ones = UINT64_C(0x0101010101010101) >> (64 - 8 * tcp_fields[i].size);
            check(value == (known ? ones : 0), "%s: %llx", tcp_fields[i].name,
                  (unsigned long long)value);
        }
    }
}

static void growth_of_what_is_absent_is_nothing(void **state)
{
    struct tcp_snapshot nothing = {0};
    struct tcp_snapshot something = {0};
    made_tcp_field(&something, TCP_BYTES_SENT, 1000);
    assert_int_equal(tcp_snapshot_growth(&nothing, &something, TCP_BYTES_SENT), 0);
    assert_int_equal(tcp_snapshot_growth(&something, &nothing, TCP_BYTES_SENT), 0);
    assert_int_equal(tcp_snapshot_growth(&nothing, &nothing, TCP_BYTES_SENT), 0);
    struct tcp_snapshot more = something;
    made_tcp_field(&more, TCP_BYTES_SENT, 1234);
    assert_int_equal(tcp_snapshot_growth(&something, &more, TCP_BYTES_SENT), 234);
}

/* Segments are counted in 32 bits, bytes in 64. */
static void counters_of_32_bits_wrap(void **state)
{
    static const struct {
        enum tcp_field_id field;
        uint64_t before, after, growth;
    } rows[] = {
        {TCP_SEGMENTS_OUT, 0xfffffff0, 0x10, 0x20},
        {TCP_SEGMENTS_OUT, 0xffffffff, 0, 1},
        {TCP_DATA_SEGMENTS_IN, 0, 0xffffffff, 0xffffffff},
        {TCP_DATA_SEGMENTS_IN, 5, 5, 0},
        {TCP_BYTES_SENT, 0xfffffff0, UINT64_C(0x100000010), 0x20},
        {TCP_BYTES_RECEIVED, UINT64_C(1) << 40, UINT64_C(3) << 40, UINT64_C(2) << 40},
        {TCP_RECEIVE_WINDOW_LIMITED, UINT64_MAX - 1, UINT64_MAX, 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tcp_snapshot before = {0};
        struct tcp_snapshot after = {0};
        made_tcp_field(&before, rows[i].field, rows[i].before);
        made_tcp_field(&after, rows[i].field, rows[i].after);
        check(tcp_snapshot_growth(&before, &after, rows[i].field) == rows[i].growth, "row %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_grow_by_what_was_sent),
        cmocka_unit_test(an_idle_line_counts_nothing),
        cmocka_unit_test(gauges_and_socket_options),
        cmocka_unit_test(only_tcp_has_an_account),
        cmocka_unit_test(the_table_is_sound),
        cmocka_unit_test(fields_beyond_the_length_are_absent),
        cmocka_unit_test(growth_of_what_is_absent_is_nothing),
        cmocka_unit_test(counters_of_32_bits_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
