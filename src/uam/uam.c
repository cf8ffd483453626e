#include "uam/uam.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct uam *const uam_table[] = {&uam_srp,     &uam_dhx2,      &uam_dhx,  &uam_two_way,
                                       &uam_randnum, &uam_cleartext, &uam_guest};
const size_t uam_count = sizeof uam_table / sizeof uam_table[0];

void uam_state_wipe(struct uam_state *state)
{
    memory_wipe(state, sizeof *state);
}

/* ---- A conversation ---- */

bool uam_client_turn(const struct uam *uam, struct uam_state *state,
                     const struct uam_credentials *credentials, struct span challenge,
                     struct wire *out, struct error *error)
{
    uam_client_step *step = uam->client[state->step];
    if (step == NULL) {
        return error_set(error, ERROR_PROTOCOL, 0, "the server asks for more than '%s' knows",
                         uam->name);
    }
    state->step++;
    return step(state, credentials, challenge, out, error);
}

bool uam_client_end(const struct uam *uam, struct uam_state *state, struct span reply,
                    struct error *error)
{
    if (uam->client[state->step] != NULL) {
        return error_set(error, ERROR_PROTOCOL, 0,
                         "the server accepts before '%s' is through: is it the real one?",
                         uam->name);
    }
    return uam->client_proof == NULL || uam->client_proof(state, reply, error);
}

enum uam_verdict uam_server_turn(const struct uam *uam, struct uam_state *state,
                                 const struct uam_directory *directory, struct span user,
                                 struct span in, struct wire *out)
{
    uam_server_step *step = uam->server[state->step];
    if (step == NULL) {
        return UAM_MALFORMED;
    }
    state->step++;
    return step(state, directory, user, in, out);
}

bool uam_password_fits(const struct uam *uam, const struct uam_credentials *credentials,
                       struct error *error)
{
    size_t length = strlen(credentials->password);
    if (!uam->needs_password || uam->password_limit == 0 || length <= uam->password_limit) {
        return true;
    }
    return error_set(error, ERROR_LIMIT, 0,
                     "the password has %zu bytes, but the login method '%s' carries at most %zu",
                     length, uam->name, uam->password_limit);
}

/* ---- The table ---- */

bool uam_is_named(const struct uam *uam, struct span name)
{
    const char *const known[] = {uam->name, uam->alias};
    for (size_t i = 0; i < 2; i++) {
        if (known[i] != NULL && strlen(known[i]) == name.size &&
            strncasecmp(known[i], (const char *)name.data, name.size) == 0) {
            return true;
        }
    }
    return false;
}

const struct uam *uam_by_name(struct span name)
{
    for (size_t i = 0; i < uam_count; i++) {
        if (uam_is_named(uam_table[i], name)) {
            return uam_table[i];
        }
    }
    return NULL;
}

const struct uam *uam_by_option(const char *option)
{
    for (size_t i = 0; i < uam_count; i++) {
        if (strcasecmp(uam_table[i]->option, option) == 0) {
            return uam_table[i];
        }
    }
    return NULL;
}

void uam_append_options(const char *separator, char *text, size_t size)
{
    for (size_t i = 0; i < uam_count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", used > 0 ? separator : "", uam_table[i]->option);
    }
}
