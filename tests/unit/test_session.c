/* dsi/session: opening, requests, replies in every shape and order, the end, and request IDs. What
 * waits is in test_session_waits.c. */
#include "session_fixture.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Opening (1.4, 1.5) ---- */

static void opens_a_session(void **state)
{
    static const struct {
        const char *reply;
        uint32_t quantum; /* 0: an error */
        enum error_domain domain;
        const char *message;
    } rows[] = {
        {"01 04 0001 00000000 0000000c 00000000 | 00 04 00100000 02 04 00000080", 1 << 20},
        {"01 04 0001 00000000 0000000c 00000000 | 02 04 00000080 00 04 0004a2e0", 303840},
        {"01 04 0001 00000000 00000000 00000000", 65536},
        {"01 04 0001 00000000 00000006 00000000 | 00 04 00000000", 0, ERROR_PROTOCOL,
         "a quantum of 0"},
        {"01 04 0001 00000000 00000005 00000000 | 00 04 001000", 0, ERROR_PROTOCOL, "malformed"},
        {"01 04 0001 0000fbd1 00000000 00000000", 0, ERROR_DSI, "server busy (-1071)"},
        {"01 04 0001 fffffbd4 00000000 00000000", 0, ERROR_DSI, "no more sessions (-1068)"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct line line;
        uint32_t quantum = 0;
        line_open(&line);
        peer_send(&line, rows[i].reply);
        bool ok = dsi_open(line.session, &quantum, &line.error);
        check(ok == (rows[i].quantum != 0), "row %zu: %s", i, line.error.message);
        check(quantum == rows[i].quantum, "row %zu: %u", i, quantum);
        if (!ok) {
            check_error(&line.error, rows[i].domain, rows[i].message);
        }
        peer_expect(&line, "00 04 0001 00000000 00000006 00000000 | 01 04 00000002");
        line_close(&line);
    }
}

static void asks_for_the_status(void **state)
{
    struct line line;
    char text[8] = "";
    size_t length;
    line_open(&line);
    peer_send(&line, "01 03 0001 00000000 0000000a 00000000 \"0123456789\"");
    assert_true(dsi_get_status(line.session, text, 4, &length, &line.error));
    assert_int_equal(length, 4);
    assert_string_equal(text, "0123");
    peer_expect(&line, "00 03 0001 00000000 00000000 00000000");
    line_close(&line);
}

static void says_goodbye_only_after_opening(void **state)
{
    for (int opened = 0; opened < 2; opened++) {
        struct line line;
        uint32_t quantum;
        uint8_t byte;
        line_open(&line);
        if (opened) {
            peer_send(&line, "01 04 0001 00000000 00000000 00000000");
            assert_true(dsi_open(line.session, &quantum, &line.error));
            peer_expect(&line, "00 04 0001 00000000 00000006 00000000 | 01 04 00000002");
        }
        dsi_close(line.session);
        line.session = NULL;
        if (opened) {
            peer_expect(&line, "00 01 0002 00000000 00000000 00000000");
        }
        assert_int_equal(recv(line.peer, &byte, 1, 0), 0);
        line_close(&line);
    }
}

static void nobody_listens(void **state)
{
    struct line line;
    line_open(&line);
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    getsockname(line.listener, (struct sockaddr *)&address, &size);
    close(line.listener);
    struct dsi_session *session = NULL;
    struct dsi_config config = {.host = "127.0.0.1",
                                .port = ntohs(address.sin_port),
                                .timeout_ns = 10 * NS_PER_S,
                                .interrupt = &line.interrupt};
    assert_false(dsi_connect(&session, &config, &line.error));
    check_error(&line.error, ERROR_SYSTEM, "cannot connect to 127.0.0.1:");
    line.listener = -1;
    line_close(&line);
}

/* ---- Requests ---- */

static void frames_have_the_right_bytes(void **state)
{
    struct line line;
    line_open(&line);
    assert_true(dsi_reserve(line.session, 2, &line.error));
    SUBMIT(&line, .tag = 1);
    SUBMIT(&line, .command = DSI_WRITE, .payload = {(const uint8_t *)"payload", 7});
    peer_expect(&line, "00 02 0001 00000000 00000004 00000000 | 0b00 0100");
    peer_expect(&line, "00 06 0002 00000004 0000000b 00000000 | 0b00 0100 \"payload\"");
    assert_int_equal(dsi_outstanding(line.session), 2);
    assert_false(dsi_ready(line.session));
    line_close(&line);
}

static void the_window_has_a_limit(void **state)
{
    static const uint8_t block[DSI_BLOCK_LIMIT + 1];
    struct line line;
    struct dsi_reply reply;
    struct dsi_request flush = {.command = DSI_COMMAND, .block = {flush_block, 4}};
    line_open(&line);
    assert_false(submit(&line, (struct dsi_request){.block = {block, sizeof block}}));
    check_error(&line.error, ERROR_LIMIT, "does not fit");
    assert_int_equal(dsi_outstanding(line.session), 0);
    SUBMIT(&line, .tag = 1);
    assert_false(submit(&line, (struct dsi_request){.tag = 2}));
    check_error(&line.error, ERROR_LIMIT, "window");
    assert_false(dsi_call(line.session, &flush, &reply, &line.error));
    check_error(&line.error, ERROR_LIMIT, "outstanding");
    assert_false(dsi_reserve(line.session, 2, &line.error));
    peer_send(&line, REPLY("0001"));
    assert_int_equal(reap(&line).tag, 1);
    assert_false(dsi_reserve(line.session, DSI_WINDOW_LIMIT + 1, &line.error));
    check_error(&line.error, ERROR_LIMIT, "4096");
    assert_true(dsi_reserve(line.session, DSI_WINDOW_LIMIT, &line.error));
    for (size_t i = 0; i < DSI_WINDOW_LIMIT; i++) {
        SUBMIT(&line, .tag = i);
    }
    assert_false(submit(&line, (struct dsi_request){.tag = 1}));
    assert_int_equal(dsi_outstanding(line.session), DSI_WINDOW_LIMIT);
    line_close(&line);
}

/* ---- Replies ---- */

static void replies_in_any_order(void **state)
{
    struct line line;
    char text[4][8] = {""};
    line_open(&line);
    assert_true(dsi_reserve(line.session, 4, &line.error));
    for (size_t i = 0; i < 4; i++) {
        SUBMIT(&line, .tag = i, .reply = text[i], .reply_capacity = 7);
    }
    peer_send(&line, REPLY_WITH("0004", "00000004") "\"four\"" REPLY("0001") //
              REPLY_WITH("0003", "00000005") "\"three\""                     //
                                             "01 02 0002 ffffec77 00000003" END_OF_HEADER
                                             "\"two\"");
    static const struct {
        uint64_t tag;
        int32_t result;
        uint32_t length;
        const char *text;
    } expected[] = {{3, 0, 4, "four"}, {0, 0, 0, ""}, {2, 0, 5, "three"}, {1, -5001, 3, "two"}};
    for (size_t i = 0; i < 4; i++) {
        struct dsi_reply reply = reap(&line);
        check(reply.tag == expected[i].tag, "reply %zu", i);
        check(reply.result == expected[i].result, "reply %zu: %d", i, reply.result);
        assert_int_equal(reply.reply_length, expected[i].length);
        assert_string_equal(text[reply.tag], expected[i].text);
        assert_true(reply.submitted_ns <= reply.sent_ns && reply.sent_ns <= reply.completed_ns);
    }
    assert_true(dsi_ready(line.session));
    line_close(&line);
}

/* Everything that the server may say on its own, at each place between and before replies. */
static void frames_of_the_server_between_replies(void **state)
{
    struct line line;
    char text[2][8] = {""};
    line_open(&line);
    assert_true(dsi_reserve(line.session, 2, &line.error));
    for (size_t i = 0; i < 2; i++) {
        SUBMIT(&line, .tag = i, .reply = text[i], .reply_capacity = 7);
    }
    peer_send(&line,
              TICKLE ATTENTION REPLY_WITH(
                  "0001", "00000001") "\"a\"" TICKLE //
                                      "00 07 0001 00000000 0000000c" END_OF_HEADER
                                      "\"not for you!\"" ATTENTION //
                                      "00 02 0002 00000000 00000000" END_OF_HEADER REPLY_WITH(
                                          "0002", "00000001") "\"b\"");
    assert_int_equal(reap(&line).tag, 0);
    assert_int_equal(reap(&line).tag, 1);
    assert_string_equal(text[0], "a");
    assert_string_equal(text[1], "b");
    assert_int_equal(line.attention, 0x2005);
    assert_string_equal(line.seen, ">2/11 >2/11 <5/0 <8/0 <2/11 <5/0 <7/0 <8/0 <2/0 <2/11 ");
    line_close(&line);
}

static void frames_in_any_pieces(void **state)
{
    static const size_t steps[] = {1, 2, 3, 15, 16, 17, 19, 1000};
    for (size_t s = 0; s < COUNT(steps); s++) {
        struct line line;
        char text[2][16] = {""};
        uint8_t bytes[256];
        size_t size = bytes_from_text(
            TICKLE REPLY_WITH("0002", "00000009") "\"backwards\"" ATTENTION REPLY_WITH(
                "0001", "00000008") "\"forwards\"",
            bytes, sizeof bytes);
        line_open(&line);
        assert_true(dsi_reserve(line.session, 2, &line.error));
        SUBMIT(&line, .tag = 0, .reply = text[0], .reply_capacity = 15);
        SUBMIT(&line, .tag = 1, .reply = text[1], .reply_capacity = 15);
        struct sender sender = {&line, bytes, size, steps[s]};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, send_in_steps, &sender), 0);
        assert_int_equal(reap(&line).tag, 1);
        assert_int_equal(reap(&line).tag, 0);
        assert_string_equal(text[0], "forwards");
        assert_string_equal(text[1], "backwards");
        pthread_join(thread, NULL);
        line_close(&line);
    }
}

/* What does not fit is dropped and counted, and the next reply is found behind it. */
static void replies_longer_than_their_buffer(void **state)
{
    enum { LONG_REPLY = 700000 };
    static const size_t capacities[] = {0, 1, 600, 100000, LONG_REPLY - 1, LONG_REPLY, 800000};
    uint8_t *bytes = calloc(LONG_REPLY + 64, 1);
    size_t size = bytes_from_text(REPLY_WITH("0001", "000aae60"), bytes, 64);
    for (size_t i = 0; i < LONG_REPLY; i++) {
        bytes[size++] = (uint8_t)(i % 251);
    }
    size += bytes_from_text(REPLY_WITH("0002", "00000003") "\"end\"", bytes + size, 64);
    for (size_t c = 0; c < COUNT(capacities); c++) {
        struct line line;
        size_t capacity = capacities[c];
        uint8_t *reply = malloc(capacity);
        char end[4] = "";
        line_open(&line);
        assert_true(dsi_reserve(line.session, 2, &line.error));
        SUBMIT(&line, .tag = 1, .reply = capacity > 0 ? reply : NULL, .reply_capacity = capacity);
        SUBMIT(&line, .tag = 2, .reply = end, .reply_capacity = 3);
        struct sender sender = {&line, bytes, size, size};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, send_in_steps, &sender), 0);
        struct dsi_reply first = reap(&line);
        assert_int_equal(first.tag, 1);
        assert_int_equal(first.reply_length, LONG_REPLY);
        size_t kept = capacity < LONG_REPLY ? capacity : LONG_REPLY;
        assert_memory_equal(reply, bytes + 16, kept);
        assert_int_equal(reap(&line).tag, 2);
        assert_string_equal(end, "end");
        pthread_join(thread, NULL);
        line_close(&line);
        free(reply);
    }
    free(bytes);
}

/* ---- A frame that does not leave at once ---- */

/* A server may refuse a write before it has read all of it; the rest must still leave, or the
 * stream is out of step. */
static void a_reply_before_the_request_has_left(void **state)
{
    struct line line;
    uint8_t *payload = large_payload();
    line_open(&line);
    SUBMIT(&line, .command = DSI_WRITE, .payload = {payload, LARGE}, .tag = 1);
    peer_send(&line, "01 06 0001 ffffec70 00000000 00000000");
    struct drain drain = {.line = &line};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, drain_large, &drain), 0);
    struct dsi_reply reply = reap(&line);
    assert_int_equal(reply.tag, 1);
    assert_int_equal(reply.result, -5008);
    pthread_join(thread, NULL);
    assert_int_equal(drain.size, LARGE);
    assert_true(drain.intact);
    SUBMIT(&line, .tag = 2);
    peer_expect(&line, "00 02 0002 00000000 00000004 00000000 | 0b00 0100");
    peer_send(&line, REPLY("0002"));
    assert_int_equal(reap(&line).tag, 2);
    free(payload);
    line_close(&line);
}

/* Both sides send more than the sockets hold: a client that only writes would block for ever. */
static void both_sides_send_at_once(void **state)
{
    struct line line;
    uint8_t *payload = large_payload();
    uint8_t *bytes = calloc(LARGE + 64, 1);
    line_open(&line);
    assert_true(dsi_reserve(line.session, 2, &line.error));
    SUBMIT(&line, .tag = 1);
    SUBMIT(&line, .command = DSI_WRITE, .payload = {payload, LARGE}, .tag = 2);
    peer_expect(&line, "00 02 0001 00000000 00000004 00000000 | 0b00 0100");
    size_t head = bytes_from_text(REPLY_WITH("0001", "04000000"), bytes, 64);
    struct sender sender = {&line, bytes, head + LARGE, head + LARGE};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, send_in_steps, &sender), 0);
    struct dsi_reply reply = reap(&line); /* nobody reads yet what we send */
    assert_int_equal(reply.tag, 1);
    assert_int_equal(reply.reply_length, LARGE);
    pthread_join(thread, NULL);
    struct drain drain = {.line = &line, .answer = "01 06 0002 00000000 00000000 00000000"};
    assert_int_equal(pthread_create(&thread, NULL, drain_large, &drain), 0);
    assert_int_equal(reap(&line).tag, 2);
    pthread_join(thread, NULL);
    assert_true(drain.intact);
    free(bytes);
    free(payload);
    line_close(&line);
}

/* ---- The end ---- */

static void peer_reset(struct line *line)
{
    struct linger now = {.l_onoff = 1};
    setsockopt(line->peer, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    peer_hang_up(line);
}

static void the_peer_ends_it(void **state)
{
    static const struct {
        const char *last_words;
        void (*end)(struct line *line);
        const char *message;
    } rows[] = {
        {"", peer_hang_up, "closed the connection before it answered FPFlushFork"},
        {"", peer_reset, "before it answered FPFlushFork: Connection reset"},
        {"01 02 0001 0000", peer_hang_up, "before it answered FPFlushFork"},
        {REPLY_WITH("0001", "00000008") "\"half\"", peer_hang_up, "before it answered FPFlushFork"},
        {SERVER_CLOSE, NULL, "closed the connection before it answered FPFlushFork"},
        {SHUTDOWN SERVER_CLOSE, NULL, "(it had announced a shutdown)"},
        {SHUTDOWN, peer_hang_up, "(it had announced a shutdown)"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct line line;
        char text[16];
        bool readable;
        line_open(&line);
        SUBMIT(&line, .tag = 1, .reply = text, .reply_capacity = sizeof text);
        peer_expect(&line, "00 02 0001 00000000 00000004 00000000 | 0b00 0100");
        peer_send(&line, rows[i].last_words);
        if (rows[i].end != NULL) {
            rows[i].end(&line);
        }
        reap_fails(&line, ERROR_CLOSED, rows[i].message);
        check_error(&line.error, ERROR_CLOSED, "127.0.0.1:");
        assert_false(dsi_alive(line.session));
        reap_fails(&line, ERROR_CLOSED, "is gone");
        assert_false(dsi_idle(line.session, UINT64_MAX, -1, &readable, &line.error));
        assert_false(submit(&line, (struct dsi_request){.tag = 2}));
        check_error(&line.error, ERROR_CLOSED, "is gone");
        line_close(&line);
    }
}

/* The end is noticed while sending, too. */
static void sending_to_a_peer_that_is_gone(void **state)
{
    struct line line;
    line_open(&line);
    peer_reset(&line);
    assert_false(submit(&line, (struct dsi_request){.tag = 1}));
    check_error(&line.error, ERROR_CLOSED,
                "closed the connection before it answered FPFlushFork: ");
    assert_false(dsi_alive(line.session));
    line_close(&line);
}

/* What comes with the last reply must not hide it. */
static void the_end_after_a_reply(void **state)
{
    struct line line;
    line_open(&line);
    assert_true(dsi_reserve(line.session, 2, &line.error));
    SUBMIT(&line, .tag = 1);
    SUBMIT(&line, .tag = 2);
    peer_send(&line, REPLY("0001") SERVER_CLOSE);
    peer_hang_up(&line);
    assert_int_equal(reap(&line).tag, 1);
    reap_fails(&line, ERROR_CLOSED, "before it answered FPFlushFork");
    line_close(&line);
}

static void replies_that_answer_nothing(void **state)
{
    static const struct {
        const char *reply;
        const char *message;
    } rows[] = {
        {"01 02 0007 00000000 00000000 00000000",
         "request ID 7, DSICommand; awaited was request ID 1, FPFlushFork"},
        {"01 06 0001 00000000 00000000 00000000", "request ID 1, DSIWrite"},
        {"01 09 0001 00000000 00000000 00000000", "request ID 1, unknown DSI command"},
        {"01 05 0000 00000000 00000000 00000000", "request ID 0, DSITickle"},
        {"01 02 ffff 00000000 ffffffff 00000000", "request ID 65535"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct line line;
        line_open(&line);
        SUBMIT(&line, .tag = 1);
        peer_send(&line, rows[i].reply);
        reap_fails(&line, ERROR_PROTOCOL, rows[i].message);
        assert_false(dsi_alive(line.session));
        line_close(&line);
    }
}

/* What a server of another protocol says first; then it closes, or waits. */
static void a_peer_that_is_not_afp(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } rows[] = {
#define SAYS(bytes, message) {bytes, sizeof(bytes) - 1, message}
        SAYS("SSH-2.0-OpenSSH_9.2\r\nmore",
             " answers as SSH (SSH-2.0-OpenSSH_9.2), not AFP: is the port right?"),
        SAYS("HTTP/1.1 400 Bad Request\r\n\r\n",
             " answers as HTTP (HTTP/1.1 400 Bad Request), not"),
        SAYS("220 mail ESMTP\r\n", " answers as FTP or SMTP (220 mail ESMTP), not AFP"),
        SAYS("+OK\r\n", " answers as POP3 (+OK), not AFP"),
        SAYS("\0\0\0\x40\xfeSMB\x40\0\0\0\0\0\0\0", " answers as SMB, not AFP"),
        SAYS("\x83\0\0\x01\x8f", " answers as SMB (NetBIOS), not AFP"),
        SAYS("\x15\x03\x03\0\x02\x02\x46", " answers as TLS, not AFP"),
        SAYS("\xde\xad\xbe\xef hello there",
             " is no AFP server: it answers \"\\xde\\xad\\xbe\\xef hello"),
        SAYS("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", " is no AFP server: it answers \"\\x00\\x00"),
#undef SAYS
    };
    for (size_t i = 0; i < COUNT(rows) * 2; i++) {
        struct line line;
        bool closes = i % 2 == 0;
        line_open(&line);
        SUBMIT(&line, .tag = 1);
        peer_expect(&line, "00 02 0001"); /* so that the end is no reset */
        peer_expect(&line, "00000000 00000004 00000000 0b000100");
        peer_send_bytes(&line, (const uint8_t *)rows[i / 2].bytes, rows[i / 2].size);
        if (closes) {
            peer_hang_up(&line);
        } else {
            usleep(1000);
            skip_seconds(11);
        }
        reap_fails(&line, ERROR_PROTOCOL, rows[i / 2].message);
        assert_false(dsi_alive(line.session));
        line_close(&line);
    }
}

static void a_second_reply_answers_nothing(void **state)
{
    struct line line;
    line_open(&line);
    assert_true(dsi_reserve(line.session, 2, &line.error));
    SUBMIT(&line, .tag = 1);
    SUBMIT(&line, .tag = 2);
    peer_send(&line, REPLY("0001") REPLY("0001"));
    assert_int_equal(reap(&line).tag, 1);
    reap_fails(&line, ERROR_PROTOCOL, "request ID 1");
    line_close(&line);
}

/* ---- Request IDs (1.3) ---- */

#define WRITES_AT_ONCE 256

/* Writes without data: 20 bytes each. */
static void answer_writes(const struct line *line, size_t count)
{
    uint8_t frames[WRITES_AT_ONCE * 20];
    uint8_t replies[WRITES_AT_ONCE * 16] = {0};
    peer_receive(line, frames, count * 20);
    for (size_t i = 0; i < count; i++) {
        uint8_t *reply = replies + i * 16;
        reply[0] = DSI_REPLY;
        memcpy(reply + 1, frames + i * 20 + 1, 3); /* command and ID */
    }
    peer_send_bytes(line, replies, count * 16);
}

static void exchange_writes(struct line *line, size_t count)
{
    while (count > 0) {
        size_t step = count < WRITES_AT_ONCE ? count : WRITES_AT_ONCE;
        for (size_t i = 0; i < step; i++) {
            SUBMIT(line, .command = DSI_WRITE);
        }
        answer_writes(line, step);
        for (size_t i = 0; i < step; i++) {
            reap(line);
        }
        count -= step;
    }
}

/* The second request would get the first one's ID after 65,536 requests in all. */
static void ids_pass_by_what_the_replay_cache_knows(void **state)
{
    static const struct {
        uint8_t first, between, second; /* AFP commands; 0: a DSIWrite */
        bool answered;
        uint8_t id;
    } rows[] = {
        {11, 0, 11, true, 2},  /* the server would not execute it */
        {11, 0, 12, true, 1},  /* another command is no repetition */
        {11, 12, 11, true, 1}, /* the slot was used by ID 129 in between */
        {11, 0, 0, true, 1},   /* writes are not in the cache */
        {0, 0, 0, false, 2},   /* the ID is still in use */
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        struct line line;
        line_open(&line);
        assert_true(dsi_reserve(line.session, 300, &line.error));
        const uint8_t commands[] = {rows[r].first, rows[r].between, rows[r].second};
        struct dsi_request requests[3];
        for (size_t i = 0; i < 3; i++) {
            requests[i] =
                (struct dsi_request){.command = commands[i] != 0 ? DSI_COMMAND : DSI_WRITE,
                                     .block = {commands[i] != 0 ? &commands[i] : flush_block, 1}};
        }
        uint8_t frame[17];
        assert_true(submit(&line, requests[0]));
        peer_receive(&line, frame, 17);
        if (rows[r].answered) {
            peer_send(&line, REPLY("0001"));
            reap(&line);
        }
        size_t left = 65535;
        if (rows[r].between != 0) {
            exchange_writes(&line, 127);
            assert_true(submit(&line, requests[1]));
            peer_receive(&line, frame, 17);
            peer_send(&line, REPLY("0081"));
            reap(&line);
            left -= 128;
        }
        exchange_writes(&line, left);
        assert_true(submit(&line, requests[2]));
        peer_receive(&line, frame, 17);
        check(frame[2] == 0 && frame[3] == rows[r].id, "row %zu: ID %u", r,
              frame[2] * 256U + frame[3]);
        line_close(&line);
    }
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_a_session),
        cmocka_unit_test(asks_for_the_status),
        cmocka_unit_test(says_goodbye_only_after_opening),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(frames_have_the_right_bytes),
        cmocka_unit_test(the_window_has_a_limit),
        cmocka_unit_test(replies_in_any_order),
        cmocka_unit_test(frames_of_the_server_between_replies),
        cmocka_unit_test(frames_in_any_pieces),
        cmocka_unit_test(replies_longer_than_their_buffer),
        cmocka_unit_test(a_reply_before_the_request_has_left),
        cmocka_unit_test(both_sides_send_at_once),
        cmocka_unit_test(the_peer_ends_it),
        cmocka_unit_test(sending_to_a_peer_that_is_gone),
        cmocka_unit_test(the_end_after_a_reply),
        cmocka_unit_test(replies_that_answer_nothing),
        cmocka_unit_test(a_peer_that_is_not_afp),
        cmocka_unit_test(a_second_reply_answers_nothing),
        cmocka_unit_test(ids_pass_by_what_the_replay_cache_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
