#include "base/units.h"

#include "base/clock.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

__extension__ typedef unsigned __int128 wide;

bool parse_unsigned(const char *text, const char *what, uint64_t minimum, uint64_t maximum,
                    uint64_t *value, struct error *error)
{
    uint64_t result = 0;
    const char *at = text;
    for (; isdigit((unsigned char)*at); at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (result > (UINT64_MAX - digit) / 10) {
            break;
        }
        result = result * 10 + digit;
    }
    if (at == text || *at != '\0' || result < minimum || result > maximum) {
        return error_set(error, ERROR_USAGE, 0,
                         "%s '%s' is not a whole number from %" PRIu64 " to %" PRIu64, what, text,
                         minimum, maximum);
    }
    *value = result;
    return true;
}

/* Digits with an optional fraction, as whole = value × 10^decimals. False past 18 digits. */
static bool decimal(const char **text, uint64_t *value, uint64_t *divisor)
{
    const char *at = *text;
    size_t digits = 0;
    bool fraction = false;
    *value = 0;
    *divisor = 1;
    for (;; at++) {
        if (*at == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (!isdigit((unsigned char)*at)) {
            break;
        }
        if (++digits > 18) {
            return false;
        }
        *value = *value * 10 + (uint64_t)(*at - '0');
        *divisor *= fraction ? 10 : 1;
    }
    *text = at;
    return digits > 0;
}

bool parse_in_units(const char *text, const struct unit *units, size_t unit_count, uint64_t minimum,
                    uint64_t maximum, uint64_t *value)
{
    const char *at = text;
    uint64_t number;
    uint64_t divisor;
    if (!decimal(&at, &number, &divisor)) {
        return false;
    }
    for (size_t i = 0; i < unit_count; i++) {
        if (strcasecmp(at, units[i].name) == 0) {
            wide whole = (wide)number * units[i].factor / divisor;
            if (whole < minimum || whole > maximum) {
                return false;
            }
            *value = (uint64_t)whole;
            return true;
        }
    }
    return false;
}

bool parse_size(const char *text, const char *what, uint64_t unit, uint64_t minimum,
                uint64_t maximum, uint64_t *size_bytes, struct error *error)
{
    const struct unit units[] = {
        {"", unit}, {"b", 1}, {"k", KIB}, {"m", MIB}, {"g", GIB}, {"t", GIB * 1024},
    };
    if (parse_in_units(text, units, sizeof units / sizeof units[0], minimum, maximum, size_bytes)) {
        return true;
    }
    char least[SIZE_TEXT_LENGTH];
    char most[SIZE_TEXT_LENGTH];
    return error_set(error, ERROR_USAGE, 0,
                     "%s '%s' is not a size from %s to %s (a number, with b, k, M, G or T)", what,
                     text, size_text(minimum, least), size_text(maximum, most));
}

const char *size_text(uint64_t size_bytes, char text[SIZE_TEXT_LENGTH])
{
    static const char *const names[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t step = 0;
    uint64_t unit = 1;
    while (step + 1 < sizeof names / sizeof names[0] && size_bytes / unit >= 1024) {
        unit *= 1024;
        step++;
    }
    if (size_bytes % unit == 0) {
        snprintf(text, SIZE_TEXT_LENGTH, "%" PRIu64 " %s", size_bytes / unit,
                 size_bytes == 1 ? "byte" : names[step]);
    } else {
        uint64_t tenths = (uint64_t)((wide)size_bytes * 10 / unit);
        snprintf(text, SIZE_TEXT_LENGTH, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
                 names[step]);
    }
    return text;
}

const char *rate_kib_text(uint64_t bytes, uint64_t duration_ns, char text[RATE_TEXT_LENGTH])
{
    wide hundredths = 0;
    if (duration_ns > 0) {
        wide divisor = (wide)duration_ns * 1024;
        hundredths = ((wide)bytes * NS_PER_S * 100 + divisor / 2) / divisor;
    }
    uint64_t shown = hundredths < UINT64_MAX ? (uint64_t)hundredths : UINT64_MAX;
    snprintf(text, RATE_TEXT_LENGTH, "%" PRIu64 ".%02" PRIu64, shown / 100, shown % 100);
    return text;
}
