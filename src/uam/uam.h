/*
 * uam.h - the login methods (UAMs), one file each, client and server step side by side, and the
 * table of them (doc/protocol.md 4).
 *
 * A login is a conversation: the client's step turns the server's last challenge into the next
 * authentication bytes; the server's step turns those into a verdict and perhaps another challenge.
 * Both steps see bytes only; who sends them is not their business. State between steps lives in
 * `struct uam_state`, which the caller clears with uam_state_wipe() at the end.
 *
 * To add a method: write its file, declare its entry below, put it into the table in uam.c.
 */
#ifndef AFPBENCH_UAM_UAM_H
#define AFPBENCH_UAM_UAM_H

#include "afp/server_info.h"
#include "base/error.h"
#include "base/wire.h"

#define UAM_MESSAGE_LIMIT 2048 /* authentication bytes of one message: DHX2 with 4096 bits */
#define UAM_STATE_LIMIT   4096

struct uam_state {
    unsigned step; /* 0 at the first message; the steps count it up */
    uint8_t data[UAM_STATE_LIMIT];
};

void uam_state_wipe(struct uam_state *state);

struct uam_credentials {
    const char *user;
    const char *password;
};

/* The server's side of a login: a look-up of the user's clear password; NULL for no such user. */
struct uam_directory {
    const char *(*password)(void *context, struct span user);
    void *context;
};

enum uam_verdict {
    UAM_ACCEPTED,
    UAM_CONTINUE, /* AuthContinue with the challenge in `out` */
    UAM_REFUSED,  /* NotAuthenticated */
    UAM_MALFORMED /* ParameterError */
};

struct uam {
    const char *name;   /* on the wire, as servers list it */
    const char *option; /* for -A */
    unsigned rank;      /* strength; 0: never chosen by `auto` */
    bool needs_password;
    size_t password_limit; /* most bytes of a password that the method carries */

    /* Reads `challenge` (empty in the first step) and writes this step's bytes. */
    bool (*client_step)(struct uam_state *state, const struct uam_credentials *credentials,
                        struct span challenge, struct wire *out, struct error *error);

    /* Checks the server's proof in the last, accepting reply; NULL if there is none. */
    bool (*client_finish)(struct uam_state *state, struct span reply, struct error *error);

    /* Reads the client's bytes of this step and gives the verdict. */
    enum uam_verdict (*server_step)(struct uam_state *state, const struct uam_directory *directory,
                                    struct span user, struct span in, struct wire *out);
};

extern const struct uam uam_guest;     /* 4.2 */
extern const struct uam uam_cleartext; /* 4.3 */

/* All methods of ours, strongest first. */
extern const struct uam *const uam_table[];
extern const size_t uam_count;

/* By the name on the wire (any case), or by the option's word; NULL if there is none. */
const struct uam *uam_by_name(struct span name);
const struct uam *uam_by_option(const char *option);

/* The strongest method of rank above 0 that the server lists, or an error with both lists. */
bool uam_choose(const struct uam **chosen, const struct afp_server_info *info, struct error *error);

#endif
