/*
 * server.h - the reference server: a small, correct and fast AFP 2.1 to 3.4 server, used by
 * afp_refserver, by afp_speedtest --refserver and by the tests.
 *
 * server_start() binds and listens; server_run() accepts sessions until server_stop(), one blocking
 * thread each. Volumes and their contents are shared by all sessions. The configuration and all it
 * points to stay the caller's and must outlive the server. Every function is safe to call from any
 * thread; server_stop() may be called from a signal-handling thread.
 *
 * doc/protocol.md 1.14 (what is checked), 8 (what is answered).
 */
#ifndef AFPBENCH_SERVER_SERVER_H
#define AFPBENCH_SERVER_SERVER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define SERVER_DEFAULT_QUANTUM    (1024U * 1024)
#define SERVER_DEFAULT_READ_AHEAD (12 * SERVER_DEFAULT_QUANTUM) /* Netatalk's (1.11) */
#define SERVER_DEFAULT_FORKS      4096
#define SERVER_FORKS_MOST         UINT16_MAX /* a reference has 16 bits, and 0 is none (5.4) */

struct fault; /* server/faults.h */

struct uam; /* uam/uam.h */

struct server_user {
    const char *name;
    const char *password;
};

struct server_volume {
    const char *name;     /* UTF-8 */
    const char *password; /* 1 to 8 bytes; NULL: none is asked for */
    const char *store;    /* a name in the table of stores: "memory", "null", "directory" */
    const char *path;     /* the directory that "directory" serves; NULL for the others */
    uint64_t limit_bytes; /* most bytes the volume holds; 0: no limit of its own */
    uint64_t free_bytes;  /* what it claims as free space; 0: the truth */
    bool read_only;
};

struct server_config {
    const char *const *listen_addresses; /* numeric */
    size_t listen_count;
    uint16_t port; /* 0: the system chooses one, the same for all addresses */
    const struct server_volume *volumes;
    size_t volume_count;
    const struct server_user *users;
    size_t user_count;
    bool allow_guest;
    const struct uam *const *uams; /* the login methods offered; NULL: all that fit */
    size_t uam_count;
    uint32_t quantum;
    bool strict_frames;        /* request block + data <= quantum, as Netatalk 4.4 to 4.5.1 */
    uint64_t read_ahead_bytes; /* most that is received of a client which takes no replies */
    uint32_t session_limit;
    uint16_t fork_limit;        /* most forks that one session has open at once */
    const struct fault *faults; /* what goes wrong on purpose */
    size_t fault_count;
    const char *server_name;
    const char *machine_type;
};

/* A configuration with every default: loopback, port 548, one memory volume "bench", guests. */
struct server_config server_config_default(void);

struct server;

MUST_CHECK bool server_start(struct server **server, const struct server_config *config,
                             struct error *error);

/* The port in use, for all addresses. */
uint16_t server_port(const struct server *server);

/* Serves until server_stop(); returns when every session has ended. */
MUST_CHECK bool server_run(struct server *server, struct error *error);

/* Ends server_run() and all sessions. */
void server_stop(struct server *server);

/* Releases everything; after server_run() returned. */
void server_free(struct server *server);

#endif
