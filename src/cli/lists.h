/*
 * lists.h - comma lists as people type them on a command line: tests, sizes, and single items for
 * lists of anything else.
 *
 * Strict: a bad item is ERROR_USAGE with `what`, the option's or key's name. Pure.
 */
#ifndef AFPBENCH_CLI_LISTS_H
#define AFPBENCH_CLI_LISTS_H

#include "workload/speed.h"

#define TEST_LIMIT   64 /* tests in one list */
#define SIZE_LIMIT   64 /* sizes in a sweep */
#define LARGEST_FILE (UINT64_C(1) << 50)

#define LIST_ITEM_LENGTH 48

/* The next item of a list, cut to LIST_ITEM_LENGTH - 1 characters, more than any good item has;
 * `list` moves on, to NULL after the last one. */
void list_next(const char **list, char item[LIST_ITEM_LENGTH]);

/* "Read,write": in the order given, repeats allowed. */
MUST_CHECK bool list_of_tests(const char *list, const char *what,
                              const struct speed_test *tests[TEST_LIMIT], size_t *count,
                              struct error *error);

/* "4k,1.5M,64" in MiB or with a suffix; "ci" and "full" stand for 17 and 18 powers of two. */
MUST_CHECK bool list_of_sizes(const char *list, const char *what, uint64_t sizes_bytes[SIZE_LIMIT],
                              size_t *count, struct error *error);

#endif
