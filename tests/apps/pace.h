/* To points in time and not for durations: delays do not add up. Needs _POSIX_C_SOURCE 200809L. */
#ifndef PACE_H
#define PACE_H

#include <errno.h>
#include <time.h>

static inline long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static inline void sleep_until(long long ns)
{
    struct timespec until = {ns / 1000000000, ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
}

/* Computes until the thread has had a CPU for this time. */
static inline void compute_ns(long long ns)
{
    struct timespec now;
    long long until_ns = 0;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        long long used_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
        until_ns = until_ns == 0 ? used_ns + ns : until_ns;
        if (used_ns >= until_ns)
            return;
    } while (1);
}

#endif
