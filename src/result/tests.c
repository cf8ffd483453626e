#include "result/tests.h"

#include <stdio.h>
#include <string.h>

#define TEST_ROW(id, implementation, ...) [TEST_##id] = {__VA_ARGS__},
const struct test_facts known_tests[] = {
#include "result/test_rows.h"
};
#undef TEST_ROW

const size_t known_test_count = TEST_COUNT;

/* TEST_COUNT: another test. */
static size_t place(const char *name)
{
    size_t i = 0;
    while (i < TEST_COUNT && strcmp(known_tests[i].name, name) != 0) {
        i++;
    }
    return i;
}

const struct test_facts *known_test(const char *name)
{
    size_t i = place(name);
    return i < TEST_COUNT ? &known_tests[i] : NULL;
}

int test_order(const char *a, const char *b)
{
    size_t first = place(a);
    size_t second = place(b);
    if (first != second) {
        return first < second ? -1 : 1;
    }
    return strcmp(a, b);
}

const char *test_names(const char *separator, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < TEST_COUNT && length < size; i++) {
        length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? separator : "",
                                   known_tests[i].name);
    }
    return text;
}
