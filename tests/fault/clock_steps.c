/* Preloaded into a program: the wall clock jumps by an hour with every look at it, back and forth.
 * The monotonic clock is left alone. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_uint looks;

static time_t step_s(void)
{
    return atomic_fetch_add(&looks, 1) % 2 == 0 ? 3600 : -3600;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, id, now);
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) {
        now->tv_sec += step_s();
    }
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (seconds != NULL) {
        *seconds = now.tv_sec;
    }
    return now.tv_sec;
}
