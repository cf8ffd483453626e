#include "netlab/shape.h"

#include "base/clock.h"
#include "base/units.h"

#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define KILO UINT64_C(1000)
#define MEGA (KILO * KILO)
#define GIGA (MEGA * KILO)
#define TERA (GIGA * KILO)

__extension__ typedef unsigned __int128 wide;

/* As tc has them: "bit" are bits, "bps" bytes, and only those with an i are powers of 1024. */
bool link_parse_rate(const char *text, const char *key, uint64_t *rate_bits_per_s,
                     struct error *error)
{
    static const struct unit units[] = {
        {"", 1},
        {"bit", 1},
        {"kbit", KILO},
        {"mbit", MEGA},
        {"gbit", GIGA},
        {"tbit", TERA},
        {"kibit", KIB},
        {"mibit", MIB},
        {"gibit", GIB},
        {"bps", 8},
        {"kbps", 8 * KILO},
        {"mbps", 8 * MEGA},
        {"gbps", 8 * GIGA},
        {"tbps", 8 * TERA},
        {"kibps", 8 * KIB},
        {"mibps", 8 * MIB},
        {"gibps", 8 * GIB},
    };
    return parse_in_units(text, units, COUNT(units), KILO, TERA, rate_bits_per_s) ||
           error_set(error, ERROR_USAGE, 0,
                     "%s '%s' is not a rate from 1kbit to 1tbit (as tc reads them: 10gbit, "
                     "1.5mbit; 125mbps is in bytes per second)",
                     key, text);
}

/* "2" where "2ms" is meant: tc takes it for microseconds, people do not. Zero is zero in all units.
 */
static bool lacks_unit(const char *text, const char *key, const char *what, const char *unit,
                       struct error *error)
{
    if (strspn(text, "0123456789.") != strlen(text) || strpbrk(text, "123456789") == NULL) {
        return false;
    }
    error_set(error, ERROR_USAGE, 0, "%s '%s' is not a %s without its unit: is %s%s meant?", key,
              text, what, text, unit);
    return true;
}

bool link_parse_time(const char *text, const char *key, uint64_t *time_ns, struct error *error)
{
    static const struct unit units[] = {
        {"", 1},
        {"us", NS_PER_US},
        {"usec", NS_PER_US},
        {"usecs", NS_PER_US},
        {"ms", NS_PER_MS},
        {"msec", NS_PER_MS},
        {"msecs", NS_PER_MS},
        {"s", NS_PER_S},
        {"sec", NS_PER_S},
        {"secs", NS_PER_S},
        {"ns", 1},
        {"nsec", 1},
        {"nsecs", 1},
    };
    if (lacks_unit(text, key, "time", "ms", error)) {
        return false;
    }
    return parse_in_units(text, units, COUNT(units), 0, 10 * NS_PER_S, time_ns) ||
           error_set(error, ERROR_USAGE, 0,
                     "%s '%s' is not a time from 0 to 10s with its unit, as 2ms, 500us, 1s", key,
                     text);
}

bool link_parse_loss(const char *text, const char *key, uint32_t *loss_ppm, struct error *error)
{
    static const struct unit units[] = {{"", 10000}, {"%", 10000}};
    uint64_t ppm;
    if (lacks_unit(text, key, "share", "%", error)) {
        return false;
    }
    /* A loss that is too small to be kept must not silently become none. */
    if (parse_in_units(text, units, COUNT(units), 0, MEGA, &ppm) &&
        (ppm > 0 || strpbrk(text, "123456789") == NULL)) {
        *loss_ppm = (uint32_t)ppm;
        return true;
    }
    return error_set(error, ERROR_USAGE, 0,
                     "%s '%s' is not a share from 0%% to 100%% (such as 0.05%%; the least is "
                     "0.0001%%)",
                     key, text);
}

uint64_t link_queue_bytes(uint64_t rate_bits_per_s, uint64_t delay_ns, uint64_t quantum_bytes,
                          uint32_t requests)
{
    wide round_trip = (wide)rate_bits_per_s * delay_ns * 2 / 8 / NS_PER_S;
    wide bytes = 4 * round_trip + 2 * (wide)quantum_bytes * requests + LINK_QUEUE_MARGIN;
    return bytes < UINT64_MAX ? (uint64_t)bytes : UINT64_MAX;
}

double link_capacity_bits_per_s(uint64_t rate_bits_per_s, uint32_t mtu, uint32_t segment_bytes)
{
    double line = (double)mtu + LINK_HEADER + LINK_LINE_OVERHEAD;
    uint32_t full = mtu - LINK_SEGMENT_HEADERS;
    return (double)rate_bits_per_s * (segment_bytes > full ? segment_bytes : full) / line;
}
