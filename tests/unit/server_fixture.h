/*
 * server_fixture.h - a service without listeners, and peers that talk to it in bytes.
 *
 * Messages are written as in doc/protocol.md: "22 00 0001 00000002 0000 0102 02 00". Hex digits in
 * pairs, blanks anywhere, 'text' for its bytes, and in expected replies "??" for any byte.
 * Everything asserts with cmocka.
 */
#ifndef AFPBENCH_TESTS_SERVER_FIXTURE_H
#define AFPBENCH_TESTS_SERVER_FIXTURE_H

#include "afp/afp.h"
#include "dsi/frame.h"
#include "server/service.h"

#include <pthread.h>

#include "scratch.h"

#define PEER_LIMIT ((size_t)256 * 1024)

/* A service with two volumes: "one" in memory and "two", as the test sets them before opening. */
struct fixture {
    struct server_volume volumes[2];
    struct server_user users[1];
    struct server_config config;
    struct service service;
    char directories[2][SCRATCH_SIZE]; /* of volumes in the store "directory" */
};

/* Defaults: guests and user "me" with password "pw", no limits. */
void fixture_prepare(struct fixture *fixture);
/* Both volumes in this store, with an empty directory for each if it needs one; for the `void *` of
 * cmocka. */
void fixture_use(struct fixture *fixture, const void *store);
void fixture_open(struct fixture *fixture);
void fixture_close(struct fixture *fixture);

/* A client over loopback TCP, and the thread that serves it. */
struct peer {
    int socket, served;
    pthread_t thread;
    struct service *service;
    uint16_t request_id;
    struct dsi_header header; /* of the last frame received */
    uint8_t payload[PEER_LIMIT];
};

/* Connects only; connects, opens a session and logs in a guest; and opens volume "one" (ID 1) and
 * "two" (ID 2) as well. */
void peer_connect(struct peer *peer, struct service *service);
void peer_login(struct peer *peer, struct service *service, const char *version);
void peer_open(struct peer *peer, struct service *service, const char *version);
void peer_close(struct peer *peer);

/* The bytes of a text in the notation above; *wild, if given, gets true for each "??". */
size_t bytes_of(const char *text, uint8_t *bytes, bool *wild, size_t limit);

void peer_send(struct peer *peer, uint8_t command, uint32_t write_offset, const void *payload,
               size_t size);
/* The next frame into peer->header and ->payload; false at the end of the stream. */
bool peer_receive(struct peer *peer);
void expect_end(struct peer *peer);

/* A DSICommand and its reply: the result, and the payload unless `reply` is NULL. */
int32_t peer_call(struct peer *peer, const char *request);
void expect(struct peer *peer, const char *request, int32_t result, const char *reply);

/* A DSIWrite of a request block and `size` bytes of data. */
int32_t peer_write(struct peer *peer, const char *block, const void *data, size_t size);
void expect_write(struct peer *peer, const char *block, const void *data, size_t size,
                  int32_t result, const char *reply);

/* Both volumes in a store, and a guest of this version who has opened them. */
void fixture_start(struct fixture *fixture, struct peer *peer, const void *store,
                   const char *version);
void fixture_stop(struct fixture *fixture, struct peer *peer);

/* A row of CMUnitTest for each of the stores that keep what is written. */
#define ON_BOTH_STORES(setup, teardown, name)                                                      \
    {#name " (memory)", name, setup, teardown, "memory"},                                          \
    {                                                                                              \
#name " (directory)", name, setup, teardown, "directory"                                   \
    }

void expect_payload(const struct peer *peer, const char *reply);

#endif
