/*
 * login_method.h - which login method a client uses with a server, and how that server calls it
 * (doc/protocol.md 4.1). Pure.
 */
#ifndef AFPBENCH_AFP_LOGIN_METHOD_H
#define AFPBENCH_AFP_LOGIN_METHOD_H

#include "afp/server_info.h"
#include "uam/uam.h"

/* The method's name as this server lists it; as we do where it is not in the list. */
struct span login_method_name(const struct uam *uam, const struct afp_server_info *info);

/* The strongest method of rank above 0 that the server lists, or an error with both lists. */
MUST_CHECK bool login_method_choose(const struct uam **chosen, const struct afp_server_info *info,
                                    struct error *error);

/* The next weaker one that the server lists and that has a password; never clear text, which
 * nobody is moved to without having asked for it. NULL: there is none. */
const struct uam *login_method_after(const struct uam *refused, const struct afp_server_info *info);

#endif
