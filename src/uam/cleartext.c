/* "Cleartxt Passwrd", doc/protocol.md 4.3: eight bytes of password, padded with zeros. */
#include "uam/uam.h"

#include <string.h>

#define PASSWORD_BYTES 8

static bool client_step(struct uam_state *state, const struct uam_credentials *credentials,
                        struct span challenge, struct wire *out, struct error *error)
{
    (void)challenge;
    if (state->step++ > 0) {
        return error_set(error, ERROR_PROTOCOL, 0,
                         "the server answers a clear password with a challenge");
    }
    struct span password = span_from_string(credentials->password);
    wire_bytes(out, &password, password.size);
    /* In FPLoginExt Netatalk wants at least one byte more than the eight (4.3). */
    wire_reserved(out, PASSWORD_BYTES + 1 - password.size);
    return true;
}

/* Compares without stopping at the first difference. */
static bool same_password(const uint8_t sent[PASSWORD_BYTES], const char *expected)
{
    size_t length = strnlen(expected, PASSWORD_BYTES + 1);
    uint8_t padded[PASSWORD_BYTES] = {0};
    memcpy(padded, expected, length < PASSWORD_BYTES ? length : PASSWORD_BYTES);
    uint8_t difference = length > PASSWORD_BYTES;
    for (size_t i = 0; i < PASSWORD_BYTES; i++) {
        difference |= sent[i] ^ padded[i];
    }
    return difference == 0;
}

static enum uam_verdict server_step(struct uam_state *state, const struct uam_directory *directory,
                                    struct span user, struct span in, struct wire *out)
{
    (void)out;
    if (state->step++ > 0 || in.size < PASSWORD_BYTES) {
        return UAM_MALFORMED;
    }
    const char *expected = directory->password(directory->context, user);
    return expected != NULL && same_password(in.data, expected) ? UAM_ACCEPTED : UAM_REFUSED;
}

const struct uam uam_cleartext = {
    .name = "Cleartxt Passwrd",
    .option = "cleartxt",
    .rank = 1,
    .needs_password = true,
    .password_limit = PASSWORD_BYTES,
    .client_step = client_step,
    .server_step = server_step,
};
