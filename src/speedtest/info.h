/* info.h - afp_speedtest --info: what a server says of itself, for people. */
#ifndef AFPBENCH_SPEEDTEST_INFO_H
#define AFPBENCH_SPEEDTEST_INFO_H

#include "afp/server_info.h"

#include <stdio.h>

/* The same as one JSON object. */
void info_print_json(FILE *out, const struct afp_server_info *info);

/* One "key: value" line each; control characters in the server's strings are shown as '?'. */
void info_print(FILE *out, const struct afp_server_info *info);

#endif
