/* "No User Authent", doc/protocol.md 4.2: nobody proves anything. */
#include "uam/steps.h"

static enum uam_verdict accept_anybody(struct uam_state *state,
                                       const struct uam_directory *directory, struct span user,
                                       struct span in, struct wire *out)
{
    return UAM_ACCEPTED;
}

const struct uam uam_guest = {
    .name = "No User Authent",
    .option = "guest",
    .rank = 0,
    .needs_password = false,
    .client = {steps_say_nothing},
    .server = {accept_anybody},
};
