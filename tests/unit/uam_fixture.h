/*
 * uam_fixture.h - logins without a network: random bytes from a script, users from a table, and a
 * client that talks to a server step by step. Everything asserts with cmocka.
 */
#ifndef AFPBENCH_TESTS_UAM_FIXTURE_H
#define AFPBENCH_TESTS_UAM_FIXTURE_H

#include "unit.h"

#include "uam/uam.h"

#define FIXTURE_LIMIT 4096

/* 4.7: RFC 2409, the second Oakley group; 4.8: RFC 5054, 1536 bits. */
#define OAKLEY_2                                                                                   \
    "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22"             \
    "514a08798e3404ddef9519b3cd3a431b302b0a6df25f14374fe1356d6d51c245e485b576625e7ec6"             \
    "f44c42e9a637ed6b0bff5cb6f406b7edee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381"             \
    "ffffffffffffffff"
#define GROUP_1536                                                                                 \
    "9def3cafb939277ab1f12a8617a47bbbdba51df499ac4c80beeea9614b19cc4d5f4f5f556e27cbde"             \
    "51c6a94be4607a291558903ba0d0f84380b655bb9a22e8dcdf028a7cec67f0d08134b1c8b9798914"             \
    "9b609e0be3bab63d47548381dbc5b1fc764e3f4b53dd9da1158bfd3e2b9c8cf56edf019539349627"             \
    "db2fd53d24b7c48665772e437d6c7f8ce442734af7ccb7ae837c264ae3a9beb87f8a2fe9b8b5292e"             \
    "5a021fff5e91479e8ce7a28c2442c6f315180f93499a234dcf76e3fed135f9bb"

/* Random bytes that a text gives (bytes_from_text); none left is a failure of the source. */
struct script {
    uint8_t bytes[1024];
    size_t size, at;
    struct random_source source;
};

void script_write(struct script *script, const char *text);

/* Consecutive byte values from the first on, as text: "seq(x, n)" of doc/protocol.md appendix B.
 * The text lives until the eighth next call. */
const char *seq(unsigned first, size_t count);

/* A server's user, and where both sides have their random bytes from (NULL: the system). */
struct login {
    const struct uam *uam;
    const char *user, *password;                 /* what the client says */
    const char *known_user, *known_password;     /* what the server knows */
    const struct random_source *client, *server; /* random bytes */
};

/* One side of a login with its last message. */
struct side {
    struct uam_state state;
    uint8_t bytes[FIXTURE_LIMIT];
    size_t size;
};

/* A client's step with `challenge`, in a block of exactly its size. The message is then in `side`.
 */
bool client_step(const struct login *login, struct side *side, struct span challenge,
                 struct error *error);

/* A server's step with the client's bytes. */
enum uam_verdict server_step(const struct login *login, struct side *side, struct span in);

/* What the side said last. */
struct span said(const struct side *side);

/* Client and server in turn; the last verdict, and for UAM_ACCEPTED whether the client agrees. */
enum uam_verdict converse(const struct login *login, struct side *client, struct side *server,
                          bool *agreed, struct error *error);

/* Fails unless the side's last message is this (bytes_from_text). */
void expect_said(const struct side *side, const char *text, const char *what);

/* Fails unless the SHA-1 of the bytes is this. */
void expect_sha1(struct span bytes, const char *text, const char *what);

#endif
