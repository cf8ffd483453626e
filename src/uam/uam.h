/*
 * uam.h - the login methods (UAMs), one file each, client and server step side by side, and the
 * table of them (doc/protocol.md 4).
 *
 * A login is a conversation: the client's step turns the server's last challenge into the next
 * authentication bytes; the server's step turns those into a verdict and perhaps another challenge.
 * Both steps see bytes only; who sends them is not their business. State between steps lives in
 * `struct uam_state`, which starts as zeros and which the caller clears with uam_state_wipe() at
 * the end. Secrets that a step has no further use for are wiped before it returns.
 *
 * To add a method: write its file, declare its entry below, put it into the table in uam.c.
 */
#ifndef AFPBENCH_UAM_UAM_H
#define AFPBENCH_UAM_UAM_H

#include "base/error.h"
#include "base/wire.h"
#include "uam/crypto.h"

#define UAM_MESSAGE_LIMIT 2048 /* authentication bytes of one message: DHX2 with 4096 bits */
#define UAM_STATE_LIMIT   1024
#define UAM_STEP_LIMIT    3

struct uam_state {
    unsigned step; /* counted up with each message */
    uint8_t data[UAM_STATE_LIMIT];
};

void uam_state_wipe(struct uam_state *state);

struct uam_credentials {
    const char *user;
    const char *password;
    const struct random_source *random; /* NULL: the system's */
};

/* The server's side of a login: a look-up of the user's clear password; NULL for no such user. */
struct uam_directory {
    const char *(*password)(void *context, struct span user);
    void *context;
    const struct random_source *random; /* NULL: the system's */
};

enum uam_verdict {
    UAM_ACCEPTED,
    UAM_CONTINUE,  /* AuthContinue with the challenge in `out` */
    UAM_REFUSED,   /* NotAuthenticated: no such user, wrong password */
    UAM_BAD_PROOF, /* SRP's own code for a wrong password */
    UAM_MALFORMED, /* ParameterError */
    UAM_BROKEN,    /* MiscError: this machine lacks the cipher or random bytes */
    UAM_VERDICT_COUNT
};

/* Reads `challenge` (empty in the first step) and writes this step's bytes. */
typedef bool uam_client_step(struct uam_state *state, const struct uam_credentials *credentials,
                             struct span challenge, struct wire *out, struct error *error);

/* Checks the server's proof in the last, accepting reply. */
typedef bool uam_client_proof(struct uam_state *state, struct span reply, struct error *error);

/* Reads the client's bytes of this step and gives the verdict. */
typedef enum uam_verdict uam_server_step(struct uam_state *state,
                                         const struct uam_directory *directory, struct span user,
                                         struct span in, struct wire *out);

struct uam {
    const char *name;   /* on the wire, as servers list it */
    const char *alias;  /* the name that other servers list, or NULL */
    const char *option; /* for -A */
    unsigned rank;      /* strength; 0: never chosen by `auto` */
    bool needs_password;
    bool own_record;       /* the server keeps one for each user beside the password: a user may
                            * have the password and no record */
    size_t password_limit; /* most bytes of a password that the method carries; 0: any length */

    /* One for each message of the conversation, then NULL. */
    uam_client_step *client[UAM_STEP_LIMIT + 1];
    uam_server_step *server[UAM_STEP_LIMIT + 1];
    uam_client_proof *client_proof; /* NULL: the server proves nothing at the end */
};

/* ---- A conversation ---- */

/* The client's next message. An error where the server asks for more messages than there are. */
MUST_CHECK bool uam_client_turn(const struct uam *uam, struct uam_state *state,
                                const struct uam_credentials *credentials, struct span challenge,
                                struct wire *out, struct error *error);

/* The server accepted: an error where it did so before the last message, or without its proof. */
MUST_CHECK bool uam_client_end(const struct uam *uam, struct uam_state *state, struct span reply,
                               struct error *error);

/* The server's next verdict; UAM_MALFORMED for a message too many. */
enum uam_verdict uam_server_turn(const struct uam *uam, struct uam_state *state,
                                 const struct uam_directory *directory, struct span user,
                                 struct span in, struct wire *out);

/* ERROR_LIMIT, with both lengths, for a password that the method does not carry. */
MUST_CHECK bool uam_password_fits(const struct uam *uam, const struct uam_credentials *credentials,
                                  struct error *error);

/* ---- The methods ---- */

extern const struct uam uam_srp;       /* 4.8 */
extern const struct uam uam_dhx2;      /* 4.7 */
extern const struct uam uam_dhx;       /* 4.6 */
extern const struct uam uam_two_way;   /* 4.5 */
extern const struct uam uam_randnum;   /* 4.4 */
extern const struct uam uam_cleartext; /* 4.3 */
extern const struct uam uam_guest;     /* 4.2 */

/* All methods of ours, strongest first. */
extern const struct uam *const uam_table[];
extern const size_t uam_count;

/* Whether a name on the wire, in any case, is that of the method. */
bool uam_is_named(const struct uam *uam, struct span name);

/* By a name on the wire (any case), or by the option's word; NULL if there is none. */
const struct uam *uam_by_name(struct span name);
const struct uam *uam_by_option(const char *option);

/* Appends the options' words to a text, with the separator before each but the first of all. */
void uam_append_options(const char *separator, char *text, size_t size);

#endif
