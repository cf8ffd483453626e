/* "Cleartxt Passwrd", doc/protocol.md 4.3: eight bytes of password, padded with zeros. */
#include "uam/steps.h"

#include "base/memory.h"

#define PASSWORD_SIZE 8

static bool tell(struct uam_state *state, const struct uam_credentials *credentials,
                 struct span challenge, struct wire *out, struct error *error)
{
    uint8_t password[PASSWORD_SIZE];
    bool fits = steps_pad(credentials->password, password, sizeof password, error);
    wire_array(out, password, sizeof password);
    /* In FPLoginExt Netatalk wants at least one byte more than the eight (4.3). */
    wire_reserved(out, 1);
    memory_wipe(password, sizeof password);
    return fits;
}

static enum uam_verdict check(struct uam_state *state, const struct uam_directory *directory,
                              struct span user, struct span in, struct wire *out)
{
    if (in.size < PASSWORD_SIZE) {
        return UAM_MALFORMED;
    }
    return steps_is_password(directory, user, in.data, PASSWORD_SIZE) ? UAM_ACCEPTED : UAM_REFUSED;
}

const struct uam uam_cleartext = {
    .name = "Cleartxt Passwrd",
    .option = "cleartxt",
    .rank = 1,
    .needs_password = true,
    .password_limit = PASSWORD_SIZE,
    .client = {tell},
    .server = {check},
};
