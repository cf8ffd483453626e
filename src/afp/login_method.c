#include "afp/login_method.h"

#include <stdio.h>
#include <string.h>

struct span login_method_name(const struct uam *uam, const struct afp_server_info *info)
{
    for (uint8_t i = 0; i < info->uams.count; i++) {
        if (uam_is_named(uam, info->uams.items[i])) {
            return info->uams.items[i];
        }
    }
    return span_from_string(uam->name);
}

static void append(char *text, size_t size, const char *more, size_t length)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.*s", used > 0 ? ", " : "", (int)length, more);
}

bool login_method_choose(const struct uam **chosen, const struct afp_server_info *info,
                         struct error *error)
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
    /* Rank 0 is the guest, which is never chosen for somebody. */
    for (size_t i = 0; i < uam_count; i++) {
        if (uam_table[i]->rank > 0) {
            append(ours, sizeof ours, uam_table[i]->name, strlen(uam_table[i]->name));
        }
    }
    return error_set(error, ERROR_LIMIT, 0,
                     "no login method in common: the server takes %s; this program has %s",
                     theirs[0] != '\0' ? theirs : "none", ours) ||
           error_remedy(error, REMEDY_GUEST);
}

const struct uam *login_method_after(const struct uam *refused, const struct afp_server_info *info)
{
    const struct uam *next = NULL;
    for (uint8_t i = 0; i < info->uams.count; i++) {
        const struct uam *uam = uam_by_name(info->uams.items[i]);
        if (uam != NULL && uam->rank < refused->rank && uam->rank > uam_cleartext.rank &&
            (next == NULL || uam->rank > next->rank)) {
            next = uam;
        }
    }
    return next;
}
