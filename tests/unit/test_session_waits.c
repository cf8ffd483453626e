/* dsi/session where something waits: timeouts, tickles, idling, interrupts, and settling after. */
#include "session_fixture.h"

#include "base/clock.h"
#include "server/outbox.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Time ---- */

static void a_mute_peer_times_out(void **state)
{
    static const char *const words[] = {"", TICKLE ATTENTION, "01 02 0001"};
    for (size_t i = 0; i < COUNT(words); i++) {
        struct line line;
        line_open(&line);
        SUBMIT(&line, .tag = 1);
        peer_send(&line, words[i]);
        skip_seconds(11);
        reap_fails(&line, ERROR_TIMEOUT, "no answer to FPFlushFork from 127.0.0.1:");
        check_error(&line.error, ERROR_TIMEOUT, "in 10 s");
        assert_false(dsi_alive(line.session));
        line_close(&line);
    }
}

static void a_timeout_that_is_waited_for(void **state)
{
    struct line line;
    line_open(&line);
    assert_int_equal(dsi_set_timeout(line.session, NS_PER_S / 20), 10 * NS_PER_S);
    SUBMIT(&line, .tag = 1);
    reap_fails(&line, ERROR_TIMEOUT, "in 0.05 s");
    line_close(&line);
}

/* A server copy may take as long as the connection lives; tickles tell that we do. */
static void a_patient_request_waits(void **state)
{
    struct line line;
    line_open(&line);
    SUBMIT(&line, .tag = 1, .patient = true);
    peer_expect(&line, "00 02 0001 00000000 00000004 00000000 | 0b00 0100");
    skip_seconds(1000);
    struct dsi_reply reply;
    uint8_t bytes[256];
    size_t size = bytes_from_text(REPLY("0001"), bytes, sizeof bytes);
    struct sender sender = {&line, bytes, size, 1};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, send_in_steps, &sender), 0);
    assert_true(dsi_reap(line.session, &reply, &line.error));
    pthread_join(thread, NULL);
    line_close(&line);
}

static void tickles_when_nothing_was_sent(void **state)
{
    struct line line;
    bool readable;
    uint8_t byte;
    line_open(&line);
    assert_true(dsi_idle(line.session, clock_now_ns() + NS_PER_MS, -1, &readable, &line.error));
    assert_int_equal(recv(line.peer, &byte, 1, MSG_DONTWAIT), -1); /* not yet */
    skip_seconds(31);
    assert_true(
        dsi_idle(line.session, clock_now_ns() + 20 * NS_PER_MS, -1, &readable, &line.error));
    peer_expect(&line, "00 05 0001 00000000 00000000 00000000");
    assert_int_equal(recv(line.peer, &byte, 1, MSG_DONTWAIT), -1); /* and only one */
    SUBMIT(&line, .tag = 1);
    peer_expect(&line, "00 02 0002"); /* a tickle takes an ID */
    line_close(&line);
}

/* ---- Progress is what moved ---- */

#define SIP ((size_t)256 << 10)

/* The peer's part of a wait: it takes so much of what was sent, until all of it came. */
struct sipper {
    const struct line *line;
    size_t step, left;
};

static void sip(void *context)
{
    static uint8_t bytes[SIP];
    struct sipper *sipper = context;
    for (size_t taken = 0; taken < sipper->step && sipper->left > 0;) {
        struct pollfd peer = {.fd = sipper->line->peer, .events = POLLIN};
        poll(&peer, 1, 100); /* the kernel may be slow to deliver */
        ssize_t got = recv(sipper->line->peer, bytes, sipper->step - taken, MSG_DONTWAIT);
        if (got <= 0) {
            break;
        }
        taken += (size_t)got;
        sipper->left -= (size_t)got;
    }
    usleep(sipper->step > 0 ? 5000 : 0); /* and to acknowledge */
    if (sipper->left == 0) {
        peer_send(sipper->line, "01 06 0001 00000000 00000000 00000000");
        sipper->left = SIZE_MAX;
    }
}

/* The session's clock is made to run while the kernel's pacing and timers do not: it may stand
 * still for one attempt, not for all. */
#define ATTEMPTS 12

/* Where even so no attempt went through, nothing is shown either way: said, and no failure. */
static void tell_where_paced(bool ok)
{
    if (!ok) {
        print_message("this kernel paces below a step of the peer each time: not shown\n");
    }
}

static bool slow_write(struct line *line, const uint8_t *payload)
{
    struct dsi_reply reply;
    size_t size = LARGE / 4;
    line_open(line);
    struct sipper sipper = {line, SIP, DSI_HEADER_SIZE + sizeof flush_block + size};
    uint64_t begin_ns = clock_now_ns();
    SUBMIT(line, .command = DSI_WRITE, .payload = {payload, size}, .tag = 1);
    replace_waits(sip, &sipper);
    bool ok = dsi_reap(line->session, &reply, &line->error);
    replace_waits(NULL, NULL);
    assert_true(!ok || clock_now_ns() - begin_ns > 20 * NS_PER_S); /* twice the timeout */
    line_close(line);
    return ok;
}

/* A write that takes minutes in steps of which our buffer, far larger, tells nothing. */
static void a_slow_receiver_is_not_mute(void **state)
{
    struct line line;
    uint8_t *payload = large_payload();
    bool ok = false;
    for (int attempt = 0; attempt < ATTEMPTS && !ok; attempt++) {
        ok = slow_write(&line, payload);
    }
    free(payload);
    tell_where_paced(ok);
}

/* What our buffer and the peer's swallow of a large write is no sign of life. */
static void a_mute_receiver_times_out_once(void **state)
{
    struct line line;
    struct dsi_reply reply;
    uint8_t *payload = large_payload();
    line_open(&line);
    struct sipper sipper = {&line, 0, SIZE_MAX};
    uint64_t begin_ns = clock_now_ns();
    SUBMIT(&line, .command = DSI_WRITE, .payload = {payload, LARGE / 4}, .tag = 1);
    replace_waits(sip, &sipper);
    bool ok = dsi_reap(line.session, &reply, &line.error);
    replace_waits(NULL, NULL);
    assert_false(ok);
    check_error(&line.error, ERROR_TIMEOUT, "in 10 s");
    uint64_t took_ns = clock_now_ns() - begin_ns;
    assert_in_range(took_ns / NS_PER_MS, 10000, 11500);
    free(payload);
    line_close(&line);
}

/* Another connection to the line's listener, whose accepted end is the peer from now on. */
static int line_join(struct line *line)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    int joined = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(getsockname(line->listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(connect(joined, (struct sockaddr *)&address, size), 0);
    close(line->peer);
    line->peer = accept(line->listener, NULL, NULL);
    assert_true(line->peer >= 0);
    return joined;
}

/* The other side: a server whose client takes a reply slowly, or not at all. */
static bool serve_large(struct line *line, bool slow)
{
    struct inbox inbox;
    struct outbox outbox;
    uint8_t *payload = large_payload();
    line_open(line);
    int server = line_join(line);
    struct iovec piece = {payload, LARGE / 4};
    struct sipper sipper = {line, slow ? SIP : 0, SIZE_MAX};
    inbox = (struct inbox){.socket = server, .pipe = {-1, -1}};
    assert_true(outbox_open(&outbox, server, 10 * NS_PER_S, &inbox, &line->error));
    replace_waits(sip, &sipper);
    bool ok = outbox_send(&outbox, &piece, 1, false, &line->error);
    replace_waits(NULL, NULL);
    free(payload);
    close(server);
    line_close(line);
    return ok;
}

static void the_server_judges_its_client_alike(void **state)
{
    struct line line;
    bool ok = false;
    assert_false(serve_large(&line, false));
    check_error(&line.error, ERROR_TIMEOUT, "the client took nothing for 10 s");
    for (int attempt = 0; attempt < ATTEMPTS && !ok; attempt++) {
        ok = serve_large(&line, true);
    }
    tell_where_paced(ok);
}

/* ---- Idling ---- */

static void idles(void **state)
{
    struct line line;
    bool readable = true;
    line_open(&line);
    assert_true(dsi_idle(line.session, clock_now_ns() + NS_PER_MS, line.signals[0], &readable,
                         &line.error));
    assert_false(readable);

    int input[2];
    assert_int_equal(pipe(input), 0);
    assert_int_equal(write(input[1], "\n", 1), 1);
    assert_true(dsi_idle(line.session, UINT64_MAX, input[0], &readable, &line.error));
    assert_true(readable);
    close(input[0]);
    close(input[1]);

    peer_send(&line, TICKLE ATTENTION);
    assert_true(dsi_idle(line.session, clock_now_ns() + NS_PER_MS, -1, &readable, &line.error));
    assert_int_equal(line.attention, 0x2005);

    peer_send(&line, REPLY("0001"));
    assert_false(dsi_idle(line.session, UINT64_MAX, -1, &readable, &line.error));
    check_error(&line.error, ERROR_PROTOCOL, "answers nothing");
    line_close(&line);

    line_open(&line);
    peer_hang_up(&line);
    assert_false(dsi_idle(line.session, UINT64_MAX, -1, &readable, &line.error));
    check_error(&line.error, ERROR_CLOSED, "closed the connection");
    line_close(&line);
}

/* ---- Interrupts, and what is left after a failure ---- */

static void interrupt_now(const struct line *line)
{
    struct signalfd_siginfo info = {.ssi_signo = SIGINT};
    assert_int_equal(write(line->signals[1], &info, sizeof info), sizeof info);
}

static void an_interrupt_leaves_the_session_usable(void **state)
{
    struct line line;
    line_open(&line);
    assert_true(dsi_reserve(line.session, 2, &line.error));
    SUBMIT(&line, .tag = 1);
    SUBMIT(&line, .tag = 2);
    interrupt_now(&line);
    reap_fails(&line, ERROR_INTERRUPTED, "interrupted");
    reap_fails(&line, ERROR_INTERRUPTED, "interrupted"); /* until somebody acknowledges it */
    assert_true(dsi_alive(line.session));
    interrupt_acknowledge(&line.interrupt);
    peer_send(&line, REPLY("0002") REPLY("0001"));
    assert_true(dsi_settle(line.session, UINT64_MAX, &line.error));
    assert_true(dsi_ready(line.session));
    SUBMIT(&line, .tag = 3);
    peer_send(&line, REPLY("0003"));
    assert_int_equal(reap(&line).tag, 3);
    line_close(&line);
}

/* The caller of an interrupted call may have left its buffer: what comes late must not go there,
 * be a part of it here already or not. */
static void a_call_that_was_given_up_keeps_its_hands_off(void **state)
{
    static const char *const parts[][2] = {
        {"", "01 02 0001 00000000 00000006 00000000 | 0800 0007 1234"},
        {"01 02 0001 00000000", "00000006 00000000 | 0800 0007 1234"},
        {"01 02 0001 00000000 00000006 00000000 | 0800 00", "07 1234"},
    };
    for (size_t i = 0; i < COUNT(parts); i++) {
        struct line line;
        struct dsi_reply reply;
        struct span payload;
        uint8_t buffer[32];
        line_open(&line);
        struct dsi_request request = {.command = DSI_COMMAND,
                                      .block = {(const uint8_t *)"\x1a", 1},
                                      .reply = buffer,
                                      .reply_capacity = sizeof buffer,
                                      .tag = 26};
        peer_send(&line, parts[i][0]);
        usleep(20000); /* so that it is there before the interrupt is looked at */
        interrupt_now(&line);
        assert_false(dsi_call(line.session, &request, &reply, &line.error));
        check_error(&line.error, ERROR_INTERRUPTED, "");
        assert_false(dsi_late_reply(line.session, &reply, &payload));
        interrupt_acknowledge(&line.interrupt);
        memset(buffer, 0x55, sizeof buffer);
        peer_send(&line, parts[i][1]);
        assert_true(dsi_settle(line.session, UINT64_MAX, &line.error));
        for (size_t k = 0; k < sizeof buffer; k++) {
            assert_int_equal(buffer[k], 0x55);
        }
        assert_true(dsi_late_reply(line.session, &reply, &payload));
        assert_int_equal(reply.tag, 26);
        assert_int_equal(reply.result, 0);
        assert_int_equal(payload.size, 6);
        assert_memory_equal(payload.data, "\x08\x00\x00\x07\x12\x34", 6);
        assert_false(dsi_late_reply(line.session, &reply, &payload));
        line_close(&line);
    }
}

static void settling_gives_up(void **state)
{
    for (int interrupted = 0; interrupted < 2; interrupted++) {
        struct line line;
        line_open(&line);
        SUBMIT(&line, .tag = 1);
        if (interrupted) {
            interrupt_now(&line);
        }
        uint64_t deadline = interrupted ? UINT64_MAX : clock_now_ns() + NS_PER_MS;
        assert_false(dsi_settle(line.session, deadline, &line.error));
        check_error(&line.error, interrupted ? ERROR_INTERRUPTED : ERROR_TIMEOUT, "");
        assert_false(dsi_alive(line.session));
        line_close(&line);
    }
}

/* A request of which nothing left is taken back; one that left in part must leave whole. */
static void settling_takes_back_what_is_unsent(void **state)
{
    struct line line;
    uint8_t *payload = large_payload();
    line_open(&line);
    assert_true(dsi_reserve(line.session, 3, &line.error));
    SUBMIT(&line, .command = DSI_WRITE, .payload = {payload, LARGE}, .tag = 1);
    SUBMIT(&line, .tag = 2);
    SUBMIT(&line, .tag = 3);
    struct drain drain = {.line = &line, .answer = "01 06 0001 00000000 00000000 00000000"};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, drain_large, &drain), 0);
    assert_true(dsi_settle(line.session, UINT64_MAX, &line.error));
    pthread_join(thread, NULL);
    assert_true(drain.intact);
    assert_true(dsi_ready(line.session));
    SUBMIT(&line, .tag = 4);
    peer_expect(&line, "00 02 0004 00000000 00000004 00000000 | 0b00 0100");
    peer_send(&line, REPLY("0004"));
    assert_int_equal(reap(&line).tag, 4);
    free(payload);
    line_close(&line);
}

/* ---- A peer that sends without end ---- */

static void *flood(void *context)
{
    const struct line *line = context;
    uint8_t tickles[4096];
    for (size_t at = 0; at < sizeof tickles; at += DSI_HEADER_SIZE) {
        bytes_from_text("00 05 0000 00000000 00000000 00000000", tickles + at, DSI_HEADER_SIZE);
    }
    while (send(line->peer, tickles, sizeof tickles, MSG_NOSIGNAL) > 0) {
    }
    return NULL;
}

/* Tickles say that the peer lives, not that it answers. */
static void tickles_without_end_are_no_answer(void **state)
{
    struct line line;
    pthread_t thread;
    line_open(&line);
    line.observer.frame = NULL;
    dsi_set_timeout(line.session, NS_PER_S / 2);
    assert_int_equal(pthread_create(&thread, NULL, flood, &line), 0);
    struct dsi_request request = {.command = DSI_COMMAND,
                                  .block = {flush_block, sizeof flush_block}};
    struct dsi_reply reply;
    assert_false(dsi_call(line.session, &request, &reply, &line.error));
    assert_int_equal(line.error.domain, ERROR_TIMEOUT);
    line_close(&line);
    pthread_join(thread, NULL);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mute_peer_times_out),
        cmocka_unit_test(a_timeout_that_is_waited_for),
        cmocka_unit_test(tickles_without_end_are_no_answer),
        cmocka_unit_test(a_patient_request_waits),
        cmocka_unit_test(tickles_when_nothing_was_sent),
        cmocka_unit_test(a_slow_receiver_is_not_mute),
        cmocka_unit_test(a_mute_receiver_times_out_once),
        cmocka_unit_test(the_server_judges_its_client_alike),
        cmocka_unit_test(idles),
        cmocka_unit_test(an_interrupt_leaves_the_session_usable),
        cmocka_unit_test(a_call_that_was_given_up_keeps_its_hands_off),
        cmocka_unit_test(settling_gives_up),
        cmocka_unit_test(settling_takes_back_what_is_unsent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
