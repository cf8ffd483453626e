/* base/connect: several addresses of one name are tried at once, and the one that answers is kept.
 * getaddrinfo() goes through this program, so that a name has the addresses that a test wants. */
#include "unit.h"

#include "base/clock.h"
#include "base/connect.h"
#include "base/stream.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define PLACES 3

/* A listener on loopback; one that is full swallows packets, one that is closed refuses. */
struct place {
    int listener;
    int fillers[8];
    size_t filler_count;
    struct sockaddr_in address;
};

static struct place places[PLACES];
static struct addrinfo list[PLACES];
static size_t list_count;
static unsigned lookups;
static struct interrupt interrupt;

int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **addresses);
void __wrap_freeaddrinfo(struct addrinfo *addresses);

int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **addresses)
{
    assert_string_equal(host, "server");
    assert_non_null(service);
    assert_non_null(hints);
    lookups++;
    for (size_t i = 0; i < list_count; i++) {
        list[i] = (struct addrinfo){.ai_family = AF_INET,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_addr = (struct sockaddr *)&places[i].address,
                                    .ai_addrlen = sizeof places[i].address,
                                    .ai_next = i + 1 < list_count ? &list[i + 1] : NULL};
    }
    *addresses = list;
    return 0;
}

void __wrap_freeaddrinfo(struct addrinfo *addresses)
{
    assert_ptr_equal(addresses, list);
}

static void open_place(struct place *place)
{
    socklen_t size = sizeof place->address;
    place->address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    place->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(place->listener >= 0);
    assert_int_equal(bind(place->listener, (struct sockaddr *)&place->address, size), 0);
    assert_int_equal(listen(place->listener, 16), 0);
    assert_int_equal(getsockname(place->listener, (struct sockaddr *)&place->address, &size), 0);
}

/* Fills the queue of a listener that nobody accepts from: the kernel drops the next SYNs. */
static void fill_place(struct place *place)
{
    assert_int_equal(listen(place->listener, 0), 0);
    while (place->filler_count < COUNT(place->fillers)) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_true(fd >= 0);
        place->fillers[place->filler_count++] = fd;
        (void)!connect(fd, (struct sockaddr *)&place->address, sizeof place->address);
    }
    usleep(50 * 1000); /* the queue fills as the handshakes end; more waiting changes nothing */
}

static void close_place(struct place *place)
{
    for (size_t i = 0; i < place->filler_count; i++) {
        close(place->fillers[i]);
    }
    if (place->listener >= 0) {
        close(place->listener);
    }
    place->listener = -1;
    place->filler_count = 0;
}

static int setup(void **state)
{
    struct error error;
    lookups = 0;
    list_count = 2;
    for (size_t i = 0; i < PLACES; i++) {
        places[i] = (struct place){.listener = -1};
        open_place(&places[i]);
    }
    return interrupt_open(&interrupt, &error) ? 0 : -1;
}

static int teardown(void **state)
{
    for (size_t i = 0; i < PLACES; i++) {
        close_place(&places[i]);
    }
    interrupt_acknowledge(&interrupt);
    interrupt_close(&interrupt);
    return 0;
}

static bool connect_to_server(uint64_t timeout_ns, struct connect_choice *choice, uint16_t *port,
                              struct error *error)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    char address[ADDRESS_TEXT_LENGTH];
    int fd = -1;
    const struct connect_request request = {"server", 548, timeout_ns, &interrupt, choice};
    if (!connect_tcp(&request, &fd, address, error)) {
        return false;
    }
    assert_int_equal(getpeername(fd, (struct sockaddr *)&peer, &size), 0);
    *port = peer.sin_port;
    char text[ADDRESS_TEXT_LENGTH];
    snprintf(text, sizeof text, "127.0.0.1:%u", (unsigned)ntohs(*port));
    assert_string_equal(address, text);
    close(fd);
    return true;
}

static void test_swallowing_address_costs_no_timeout(void **state)
{
    struct error error;
    struct connect_choice choice = {.size = 0};
    uint16_t port;
    fill_place(&places[0]);
    /* an hour: a test that waited for it would be killed */
    assert_true(connect_to_server(3600 * NS_PER_S, &choice, &port, &error));
    assert_int_equal(port, places[1].address.sin_port);
    /* and the next connection knows */
    assert_true(connect_to_server(3600 * NS_PER_S, &choice, &port, &error));
    assert_int_equal(port, places[1].address.sin_port);
    assert_int_equal(lookups, 1);
}

static void test_first_address_that_answers_is_taken(void **state)
{
    struct error error;
    uint16_t port;
    assert_true(connect_to_server(60 * NS_PER_S, NULL, &port, &error));
    assert_int_equal(port, places[0].address.sin_port);
    assert_true(connect_to_server(60 * NS_PER_S, NULL, &port, &error));
    assert_int_equal(lookups, 2);
}

static void test_refusal_tries_the_next_at_once(void **state)
{
    struct error error;
    uint16_t port;
    list_count = 3;
    close_place(&places[0]);
    close_place(&places[1]);
    assert_true(connect_to_server(60 * NS_PER_S, NULL, &port, &error));
    assert_int_equal(port, places[2].address.sin_port);
}

static void test_all_refuse(void **state)
{
    struct error error;
    struct connect_choice choice = {.size = 0};
    uint16_t port;
    close_place(&places[0]);
    close_place(&places[1]);
    assert_false(connect_to_server(60 * NS_PER_S, &choice, &port, &error));
    check_error(&error, ERROR_SYSTEM, "cannot connect to 127.0.0.1");
    assert_int_equal(choice.size, 0);
}

static void test_all_swallow(void **state)
{
    struct error error;
    uint16_t port;
    fill_place(&places[0]);
    fill_place(&places[1]);
    assert_false(connect_to_server(NS_PER_S / 2, NULL, &port, &error));
    check_error(&error, ERROR_TIMEOUT, "no answer from 127.0.0.1");
}

static void test_interrupt_ends_all(void **state)
{
    struct error error;
    uint16_t port;
    fill_place(&places[0]);
    fill_place(&places[1]);
    assert_int_equal(kill(getpid(), SIGINT), 0);
    assert_false(connect_to_server(3600 * NS_PER_S, NULL, &port, &error));
    assert_int_equal(error.domain, ERROR_INTERRUPTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_swallowing_address_costs_no_timeout, setup, teardown),
        cmocka_unit_test_setup_teardown(test_first_address_that_answers_is_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusal_tries_the_next_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_refuse, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_swallow, setup, teardown),
        cmocka_unit_test_setup_teardown(test_interrupt_ends_all, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
