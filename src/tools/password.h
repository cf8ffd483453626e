/* password.h - where a password may come from. */
#ifndef AFPBENCH_TOOLS_PASSWORD_H
#define AFPBENCH_TOOLS_PASSWORD_H

#include "base/error.h"

#define PASSWORD_LIMIT 256

/* The first line of a file, without its end. */
bool password_from_file(const char *path, char password[PASSWORD_LIMIT], struct error *error);

/* From AFP_PASSWORD, which is then overwritten in the environment, else asked for on the terminal
 * without echo. ERROR_USAGE that names all ways if there is neither. */
bool password_from_surroundings(const char *user, char password[PASSWORD_LIMIT],
                                struct error *error);

#endif
