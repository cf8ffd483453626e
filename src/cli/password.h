/* password.h - where a password may come from. */
#ifndef AFPBENCH_CLI_PASSWORD_H
#define AFPBENCH_CLI_PASSWORD_H

#include "base/error.h"

#include <stddef.h>

#define PASSWORD_LIMIT 1024

/* Each of these fills `password`, which has room for `size` bytes with the zero at the end. A
 * longer password is ERROR_USAGE, with the limit. */

MUST_CHECK bool password_copy(const char *text, char *password, size_t size, struct error *error);

/* The first line of a file, without its end. */
MUST_CHECK bool password_from_file(const char *path, char *password, size_t size,
                                   struct error *error);

/* From a variable, which is then overwritten in the environment; *found is false without one. */
MUST_CHECK bool password_from_environment(const char *variable, char *password, size_t size,
                                          bool *found, struct error *error);

/* Asked for on the terminal without echo; *found is false where nobody can be asked. */
MUST_CHECK bool password_from_terminal(const char *user, char password[PASSWORD_LIMIT], bool *found,
                                       struct error *error);

/* From AFP_PASSWORD, else asked for on the terminal
 * without echo. ERROR_USAGE that names all ways if there is neither. */
MUST_CHECK bool password_from_surroundings(const char *user, char password[PASSWORD_LIMIT],
                                           struct error *error);

#endif
