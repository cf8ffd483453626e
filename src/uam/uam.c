#include "uam/uam.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct uam *const uam_table[] = {&uam_cleartext, &uam_guest};
const size_t uam_count = sizeof uam_table / sizeof uam_table[0];

void uam_state_wipe(struct uam_state *state)
{
    memory_wipe(state, sizeof *state);
}

const struct uam *uam_by_name(struct span name)
{
    for (size_t i = 0; i < uam_count; i++) {
        const char *known = uam_table[i]->name;
        if (strlen(known) == name.size &&
            strncasecmp(known, (const char *)name.data, name.size) == 0) {
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

static void append(char *text, size_t size, const char *more, size_t length)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.*s", used > 0 ? ", " : "", (int)length, more);
}

bool uam_choose(const struct uam **chosen, const struct afp_server_info *info, struct error *error)
{
    *chosen = NULL;
    char ours[120] = "";
    char theirs[160] = "";
    for (uint8_t i = 0; i < info->uams.count; i++) {
        struct span name = info->uams.items[i];
        append(theirs, sizeof theirs, (const char *)name.data, name.size);
        const struct uam *uam = uam_by_name(name);
        if (uam != NULL && uam->rank > 0 && (*chosen == NULL || uam->rank > (*chosen)->rank)) {
            *chosen = uam;
        }
    }
    if (*chosen != NULL) {
        return true;
    }
    for (size_t i = 0; i < uam_count; i++) {
        if (uam_table[i]->rank > 0) {
            append(ours, sizeof ours, uam_table[i]->name, strlen(uam_table[i]->name));
        }
    }
    return error_set(error, ERROR_LIMIT, 0,
                     "no login method in common: the server takes %s; this program has %s; "
                     "-A guest logs in without a password where the server allows it",
                     theirs[0] != '\0' ? theirs : "none", ours);
}
