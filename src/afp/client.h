/*
 * client.h - an AFP session: who the server is, login, volumes, files, forks, as single calls.
 *
 * Each function sends one request (a few where it says so) and waits for the reply; nothing else
 * may be outstanding. The windowed reads and writes of a benchmark go straight to dsi_submit() (see
 * target/afp_target.c).
 *
 * Errors: ERROR_AFP with the result code where the server refuses, else what dsi/session.h says. A
 * client belongs to one thread. Names are UTF-8 in any form; ERROR_USAGE, before anything is
 * sent, for one that the session's version cannot carry (afp/name.h). Directories are given by ID
 * (2 is the root), names are single components.
 */
#ifndef AFPBENCH_AFP_CLIENT_H
#define AFPBENCH_AFP_CLIENT_H

#include "afp/afp.h"
#include "afp/message.h"
#include "afp/server_info.h"
#include "dsi/session.h"
#include "uam/uam.h"

/* A server's description with the bytes that its spans point into. */
struct afp_description {
    struct afp_server_info info;
    uint8_t bytes[2048];
};

/* Asks on a connection of its own, without a login (DSIGetStatus). */
MUST_CHECK bool afp_describe_server(struct afp_description *description,
                                    const struct dsi_config *config, struct error *error);

struct afp_client_config {
    struct dsi_config dsi;
    enum afp_version version; /* or AFP_HIGHEST: the highest that the server offers */
    const struct uam *uam;    /* NULL: chosen, see afp_client_open() */
    struct uam_credentials credentials;
};

struct afp_client;

/* Describes the server, connects again, opens a session and logs in: from AFP 3.0 on with
 * FPLoginExt, and with FPLogin, on a further connection, where the server does not know that call.
 * A password that the method does not carry is refused before anything is sent; with `uam` NULL it
 * makes no weaker method be chosen. Then the strongest method is taken that both sides have; where
 * the server refuses the user under one that needs a record of its own for each user, the next
 * weaker one follows, each on a new connection, but clear text never. */
MUST_CHECK bool afp_client_open(struct afp_client **client, const struct afp_client_config *config,
                                struct error *error);

/* FPLogout and DSICloseSession where the session still lives; releases. NULL is fine. */
void afp_client_close(struct afp_client *client);

struct dsi_session *afp_client_session(struct afp_client *client);
const struct afp_server_info *afp_client_server(const struct afp_client *client);
enum afp_version afp_client_version(const struct afp_client *client);
const struct uam *afp_client_uam(const struct afp_client *client);

/* The quantum that OpenSession offered. */
uint32_t afp_client_quantum(const struct afp_client *client);

/* The largest write that this server takes: afp_write_chunk(). */
uint32_t afp_client_write_chunk(const struct afp_client *client);

/* The most bytes of a file that the session's read and write calls reach. */
uint64_t afp_client_size_limit(const struct afp_client *client);

/* FPGetSessionToken (5.1): names this session, so that a later one of the same user can end it.
 * When another session with the same `id` and another `timestamp` is left on the server, as after a
 * killed client, the server ends it and frees its forks. A refusal is not an error; before AFP 3.0
 * there is no such call and nothing happens. */
MUST_CHECK bool afp_client_claim_session(struct afp_client *client, const char *id,
                                         uint32_t timestamp, struct error *error);

/* ---- Volumes ---- */

/* Asks for the list of volumes first (FPGetSrvrParms): the name is sent as the server writes it,
 * and `password` (at most AFP_VOLUME_PASSWORD_SIZE bytes; NULL or empty: none) only to a volume
 * that has one. */
MUST_CHECK bool afp_client_open_volume(struct afp_client *client, const char *name,
                                       const char *password, uint16_t *volume, struct error *error);
MUST_CHECK bool afp_client_close_volume(struct afp_client *client, uint16_t volume,
                                        struct error *error);

/* Free bytes, as the server says; UINT64_MAX where its 32-bit field was full. */
MUST_CHECK bool afp_client_free_space(struct afp_client *client, uint16_t volume,
                                      uint64_t *free_bytes, struct error *error);

/* ---- Files and directories ---- */

/* Something in a directory of a volume. */
struct afp_place {
    uint16_t volume;
    uint32_t directory;
};

MUST_CHECK bool afp_client_create_directory(struct afp_client *client, struct afp_place place,
                                            const char *name, uint32_t *directory,
                                            struct error *error);
MUST_CHECK bool afp_client_create_file(struct afp_client *client, struct afp_place place,
                                       const char *name, struct error *error);
/* A file, or an empty directory. */
MUST_CHECK bool afp_client_delete(struct afp_client *client, struct afp_place place,
                                  const char *name, struct error *error);
/* FPCopyFile (6): may take as long as the connection lives. */
MUST_CHECK bool afp_client_copy_file(struct afp_client *client, struct afp_place source,
                                     const char *name, struct afp_place target,
                                     const char *new_name, struct error *error);

/* An entry of a directory; `name` lives until the next call. */
struct afp_entry {
    enum afp_node_kind kind;
    uint32_t id;
    bool age_known; /* the server has told its own time */
    uint64_t age_s; /* since it was last changed, by the server's clock */
    char name[AFP_NAME_LIMIT_UTF8 + 1];
};

/* The entry number `index`, from 1; `found` is false at the end of the list. */
MUST_CHECK bool afp_client_entry(struct afp_client *client, struct afp_place place, uint32_t index,
                                 struct afp_entry *entry, bool *found, struct error *error);

/* ---- Forks ---- */

/* Opens the data fork with the bits of enum afp_access; `length` is its length then. */
MUST_CHECK bool afp_client_open_fork(struct afp_client *client, struct afp_place place,
                                     const char *name, uint16_t access, uint16_t *fork,
                                     uint64_t *length, struct error *error);
/* The fork that an interrupted afp_client_open_fork() opened after all, once dsi_settle() has seen
 * the answer: somebody has to close it. */
bool afp_client_late_fork(struct afp_client *client, uint16_t *fork);

MUST_CHECK bool afp_client_close_fork(struct afp_client *client, uint16_t fork,
                                      struct error *error);
MUST_CHECK bool afp_client_set_fork_length(struct afp_client *client, uint16_t fork,
                                           uint64_t length, struct error *error);
/* FPFlushFork: may take as long as the connection lives. */
MUST_CHECK bool afp_client_flush_fork(struct afp_client *client, uint16_t fork,
                                      struct error *error);

/* The calls for one read and one write: the wide ones from 3.0 on. */
enum afp_command afp_client_read_command(const struct afp_client *client);
enum afp_command afp_client_write_command(const struct afp_client *client);

#endif
