/* unit.h - what every unit test includes: cmocka with its prerequisites, and a few checks that name
 * the row of a table that failed. */
#ifndef AFPBENCH_TESTS_UNIT_H
#define AFPBENCH_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/wire.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Fails the test with a message in the manner of printf if the condition does not hold. */
#define check(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

/* A failure of this domain whose message holds this text. */
static inline void check_error(const struct error *error, enum error_domain domain,
                               const char *text)
{
    check(error->domain == domain, "domain %d, not %d: %s", (int)error->domain, (int)domain,
          error->message);
    check(strstr(error->message, text) != NULL, "'%s' is not in: %s", text, error->message);
    check(strchr(error->message, '\n') == NULL, "more than one line: %s", error->message);
}

/* The bytes in a block of exactly their size, so that the sanitizer sees a step beyond it. */
static inline uint8_t *exact_copy(const void *bytes, size_t size)
{
    uint8_t *copy = malloc(size);
    check(copy != NULL || size == 0, "out of memory");
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

/* Bytes from hexadecimal digits, where blanks and '|' do not count and "text" in quotes stands for
 * its characters. Returns how many. */
static inline size_t bytes_from_text(const char *text, uint8_t *bytes, size_t capacity)
{
    static const char digits[] = "0123456789abcdef";
    size_t nibbles = 0;
    bool quoted = false;
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            quoted = !quoted;
        } else if (quoted) {
            check(nibbles / 2 < capacity, "the buffer is too small");
            bytes[nibbles / 2] = (uint8_t)*text;
            nibbles += 2;
        } else if (*text != ' ' && *text != '|') {
            const char *digit = strchr(digits, *text);
            check(digit != NULL, "'%c' is no hexadecimal digit", *text);
            check(nibbles / 2 < capacity, "the buffer is too small");
            unsigned high = nibbles % 2 == 0 ? 0U : bytes[nibbles / 2];
            bytes[nibbles / 2] = (uint8_t)(high << 4 | (unsigned)(digit - digits));
            nibbles++;
        }
    }
    check(nibbles % 2 == 0, "half a byte is left over");
    return nibbles / 2;
}

static inline bool span_is(struct span span, const char *text)
{
    return span_equals(span, span_from_string(text));
}

/* Numbers that look random and are the same each time. */
static inline uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

#endif
