#include "stats/random.h"

uint64_t stats_random_next(struct stats_random *random)
{
    uint64_t z = random->state += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

uint32_t stats_random_below(struct stats_random *random, uint32_t limit)
{
    /* Lemire: the high half of a product; the few values that would favour some are drawn again. */
    uint32_t reject_below = (0U - limit) % limit;
    for (;;) {
        uint64_t product = (uint64_t)(uint32_t)(stats_random_next(random) >> 32) * limit;
        if ((uint32_t)product >= reject_below) {
            return (uint32_t)(product >> 32);
        }
    }
}
