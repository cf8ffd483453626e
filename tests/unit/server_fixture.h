/*
 * server_fixture.h - a service without listeners, and peers that talk to it in bytes.
 *
 * Messages are written as in doc/protocol.md: "FPGetFileDirParms 00 0001 root 0000 0102 02 00". Hex
 * digits in pairs, blanks anywhere, 'text' for its bytes, a command's name for its byte, "root" for
 * the root's ID, and in expected replies "??" for any byte. Everything asserts with cmocka.
 */
#ifndef AFPBENCH_TESTS_SERVER_FIXTURE_H
#define AFPBENCH_TESTS_SERVER_FIXTURE_H

#include "unit.h"

#include "afp/afp.h"
#include "dsi/frame.h"
#include "scratch.h"
#include "server/service.h"

#include <pthread.h>

#define PEER_LIMIT ((size_t)256 * 1024)

/* A service with two volumes, "one" and "two". */
struct fixture {
    struct server_volume volumes[2];
    struct server_user users[1];
    struct server_config config;
    struct service service;
    char directories[2][SCRATCH_SIZE]; /* of volumes in the store "directory" */
};

extern struct fixture fixture;

/* Both volumes in this store (for the `void *` of cmocka), with an empty directory for each if it
 * needs one; guests and user "me" with password "pw", no limits. The test changes that and opens.
 */
void fixture_prepare(const void *store);
void fixture_open(void);
void fixture_close(void);

/* A client over loopback TCP, and the thread that serves it. */
struct peer {
    int socket, served;
    pthread_t thread;
    uint16_t request_id;
    struct dsi_header header; /* of the last frame received */
    uint8_t payload[PEER_LIMIT];
};

/* The one that the functions without a peer mean, and one more. */
extern struct peer client, other;

/* Connects only; and opens a session; and logs in a guest; and opens volume "one" (ID 1) and
 * "two" (ID 2) as well. */
void peer_connect(struct peer *peer);
void peer_open_session(struct peer *peer);
void peer_login(struct peer *peer, const char *version);
void peer_open(struct peer *peer, const char *version);
void peer_close(struct peer *peer);

/* The bytes of a text in the notation above; *wild, if given, gets true for each "??". */
size_t bytes_of(const char *text, uint8_t *bytes, bool *wild, size_t limit);

void peer_send(struct peer *peer, uint8_t command, uint32_t write_offset, const void *payload,
               size_t size);
/* The next frame into peer->header and ->payload; false at the end of the stream. */
bool peer_receive(struct peer *peer);
void expect_end(struct peer *peer);
/* The same of the client, which then closes its side. */
void expect_closed(void);

/* A DSICommand and its reply: the result, and the payload unless `reply` is NULL. */
int32_t peer_call(struct peer *peer, const char *request);
void expect_from(struct peer *peer, const char *request, int32_t result, const char *reply);
void expect(const char *request, int32_t result, const char *reply);

/* A DSIWrite of a request block and `size` bytes of data. */
int32_t peer_write(struct peer *peer, const char *block, const void *data, size_t size);
void expect_write(const char *block, const void *data, size_t size, int32_t result,
                  const char *reply);

/* Requests that succeed, in the root of a volume: a new file; one that is opened for reading and
 * writing, with this reference; both; a new directory with this ID. */
void create_file(unsigned volume, const char *name);
void open_file(unsigned volume, const char *name, unsigned reference);
void create_and_open(unsigned volume, const char *name, unsigned reference);
void create_directory(unsigned volume, const char *name, unsigned id);
void close_fork(unsigned reference);

/* A prepared fixture opens, and a guest of AFP 3.4 opens its volumes; the same from the beginning
 * and for each version. */
void fixture_run(void);
void fixture_start(const void *store, const char *version);
void fixture_stop(void);

/* For cmocka: on the store in *state, AFP 3.4. */
int setup_client(void **state);
int teardown_client(void **state);

/* A row of CMUnitTest for each of the stores that keep what is written. */
#define ON_BOTH_STORES(setup, teardown, name)                                                      \
    {#name " (memory)", name, setup, teardown, "memory"},                                          \
    {                                                                                              \
#name " (directory)", name, setup, teardown, "directory"                                   \
    }

/* The same for what does not depend on the bytes of forks. */
#define ON_ALL_STORES(setup, teardown, name)                                                       \
    ON_BOTH_STORES(setup, teardown, name),                                                         \
    {                                                                                              \
#name " (null)", name, setup, teardown, "null"                                             \
    }

/* Bytes that do not repeat soon. */
void fill(uint8_t *data, size_t size);

/* Of the client's last reply. */
void expect_payload(const char *reply);

#endif
