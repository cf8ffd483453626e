/*
 * units.h - sizes and numbers as people type and read them.
 *
 * Parsing is strict: the whole text or an error that names the range; independent of the locale; no
 * floating point, so that 0.004 MiB is 4194 bytes on every machine. Pure functions.
 */
#ifndef AFPBENCH_BASE_UNITS_H
#define AFPBENCH_BASE_UNITS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* A whole decimal number within [minimum, maximum]; `what` names it in the error (ERROR_USAGE). */
MUST_CHECK bool parse_unsigned(const char *text, const char *what, uint64_t minimum,
                               uint64_t maximum, uint64_t *value, struct error *error);

/* A decimal number with an optional fraction, then the name of one of the units (any case; "" is a
 * bare number): value × factor, what is left of one dropped. False if it is something else or not
 * within [minimum, maximum]. */
struct unit {
    const char *name;
    uint64_t factor;
};
bool parse_in_units(const char *text, const struct unit *units, size_t unit_count, uint64_t minimum,
                    uint64_t maximum, uint64_t *value);

/* A size: decimal digits with an optional fraction and an optional suffix b, k, M, G or T (binary,
 * any case); without a suffix the number counts `unit` bytes. Fractions of a byte are dropped. */
MUST_CHECK bool parse_size(const char *text, const char *what, uint64_t unit, uint64_t minimum,
                           uint64_t maximum, uint64_t *size_bytes, struct error *error);

/* "1.5 MiB", "100 bytes": for messages. Writes into `text` and returns it. */
#define SIZE_TEXT_LENGTH 32
const char *size_text(uint64_t size_bytes, char text[SIZE_TEXT_LENGTH]);

/* bytes ÷ 1024 ÷ seconds with two decimals, rounded to nearest in whole arithmetic so that no
 * locale and no platform differs; "0.00" for a duration of 0, and never more than 2^64 hundredths,
 * which no machine reaches. */
#define RATE_TEXT_LENGTH 24
const char *rate_kib_text(uint64_t bytes, uint64_t duration_ns, char text[RATE_TEXT_LENGTH]);

#endif
