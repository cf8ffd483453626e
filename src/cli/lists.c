#include "cli/lists.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

void list_next(const char **list, char item[LIST_ITEM_LENGTH])
{
    size_t length = strcspn(*list, ",");
    snprintf(item, LIST_ITEM_LENGTH, "%.*s",
             (int)(length < LIST_ITEM_LENGTH ? length : LIST_ITEM_LENGTH), *list);
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
}

bool list_of_tests(const char *list, const char *what, const struct speed_test *tests[TEST_LIMIT],
                   size_t *count, struct error *error)
{
    *count = 0;
    do {
        char item[LIST_ITEM_LENGTH];
        list_next(&list, item);
        const struct speed_test *test = speed_test_by_name(item, strlen(item));
        if (test == NULL) {
            char names[300];
            return error_set(error, ERROR_USAGE, 0, "%s: '%s' is no test; there are %s", what, item,
                             test_names(", ", names, sizeof names));
        }
        if (*count == TEST_LIMIT) {
            return error_set(error, ERROR_USAGE, 0, "%s: more than %d tests", what, TEST_LIMIT);
        }
        tests[(*count)++] = test;
    } while (list != NULL);
    return true;
}

/* Names for powers of two from 4 KiB on: 17 reach 256 MiB, 18 reach 512 MiB. */
static const struct {
    const char *name;
    size_t count;
} sweeps[] = {{"ci", 17}, {"full", 18}};

bool list_of_sizes(const char *list, const char *what, uint64_t sizes_bytes[SIZE_LIMIT],
                   size_t *count, struct error *error)
{
    *count = 0;
    for (size_t i = 0; i < sizeof sweeps / sizeof sweeps[0]; i++) {
        if (strcmp(list, sweeps[i].name) == 0) {
            while (*count < sweeps[i].count) {
                sizes_bytes[*count] = 4 * KIB << *count;
                (*count)++;
            }
            return true;
        }
    }
    do {
        char item[LIST_ITEM_LENGTH];
        if (*count == SIZE_LIMIT) {
            return error_set(error, ERROR_USAGE, 0, "%s: more than %d sizes", what, SIZE_LIMIT);
        }
        list_next(&list, item);
        if (!parse_size(item, what, MIB, 1, LARGEST_FILE, &sizes_bytes[*count], error)) {
            return false;
        }
        (*count)++;
    } while (list != NULL);
    return true;
}
