/*
 * server_under_test.h - the AFP server at the far end of the link.
 *
 * A kind says how a server is found, configured and started on the lab's server side. Starting
 * awaits its answer to GetStatus; a server that dies is reported with the end of its log. Its
 * volume lies in memory. It is stopped with the lab at the latest.
 *
 * To add a kind: its file server_<name>.c with a `struct server_kind`, and a row in the table.
 */
#ifndef AFPBENCH_NETLAB_SERVER_UNDER_TEST_H
#define AFPBENCH_NETLAB_SERVER_UNDER_TEST_H

#include "netlab/lab.h"
#include "netlab/supervisor.h"

#define SERVER_UNDER_TEST_PORT   548
#define SERVER_UNDER_TEST_VOLUME "bench"
#define SERVER_LOG_PATH_LENGTH   4096

struct server_request {
    uint32_t quantum_bytes;    /* 0: the server's own */
    uint32_t read_ahead;       /* 0: the server's own; afpd's dsireadbuf */
    const char *afpd;          /* AFPD=: another binary; NULL: from PATH or the root */
    const char *netatalk_root; /* NETATALK_ROOT=: a directory to start it in; NULL: none */
    uint64_t volume_bytes;     /* what the tests need, at most */
    enum supervisor_users users;
};

struct server_under_test {
    const struct server_kind *kind;
    struct child child;
    char how[160];    /* "afpd in …, as root", for the banner */
    char version[80]; /* from its server information: "Netatalk4.5.1" */
    uint16_t port;
    const char *volume;
    /* Readable until server_under_test_stop(), also when the server is dead; "": it has none. */
    char log_path[SERVER_LOG_PATH_LENGTH];
    int log;     /* a descriptor of it, or −1 */
    bool ended;  /* by itself or by us */
    void *state; /* the kind's */
};

struct server_kind {
    const char *name; /* of SERVER= */
    bool takes_read_ahead;
    /* Whether it is there at all, without starting it: SERVER=auto takes the first. */
    MUST_CHECK bool (*found)(const struct server_request *request, struct error *error);
    /* Starts it and fills `server`; need not wait. Its port is given. */
    MUST_CHECK bool (*start)(struct server_under_test *server, struct lab *lab,
                             const struct server_request *request, struct error *error);
    /* Gives back what start() took, also after it failed; the server has ended. May be NULL. */
    void (*release)(struct server_under_test *server);
};

extern const struct server_kind server_netatalk;
extern const struct server_kind server_refserver;
extern const struct server_kind *const server_kinds[]; /* in the order of SERVER=auto */
extern const size_t server_kind_count;

const struct server_kind *server_kind_by_name(const char *name);

/* Starts it and waits until it answers, at most 30 s; `interrupt_fd` ends the wait. After a failure
 * the server does not run, but its log can still be read; server_under_test_stop() in any case. */
MUST_CHECK bool server_under_test_start(struct server_under_test *server,
                                        const struct server_kind *kind, struct lab *lab,
                                        const struct server_request *request, int interrupt_fd,
                                        struct error *error);

/* Whether it still runs; else an error with how it ended and the end of its log. */
MUST_CHECK bool server_under_test_check(struct server_under_test *server, struct error *error);

/* Ends the server and all that it started, and releases all; its log stays. A server that was
 * zeroed and never started is fine. */
void server_under_test_stop(struct server_under_test *server);

#endif
