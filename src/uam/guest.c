/* "No User Authent", doc/protocol.md 4.2: nobody proves anything. */
#include "uam/uam.h"

static bool client_step(struct uam_state *state, const struct uam_credentials *credentials,
                        struct span challenge, struct wire *out, struct error *error)
{
    (void)credentials;
    (void)challenge;
    (void)out;
    if (state->step++ > 0) {
        return error_set(error, ERROR_PROTOCOL, 0, "the server asks a guest for a proof");
    }
    return true;
}

static enum uam_verdict server_step(struct uam_state *state, const struct uam_directory *directory,
                                    struct span user, struct span in, struct wire *out)
{
    (void)directory;
    (void)user;
    (void)in;
    (void)out;
    return state->step++ == 0 ? UAM_ACCEPTED : UAM_MALFORMED;
}

const struct uam uam_guest = {
    .name = "No User Authent",
    .option = "guest",
    .rank = 0,
    .needs_password = false,
    .client_step = client_step,
    .server_step = server_step,
};
