/* For programs that many tests run at a time: with PATIENT, which the short check sets, a rank that has waited for some
 * milliseconds sleeps between its polls, and leaves the processor to other tests. MPI yields the processor between two
 * polls; this takes the place of the C library's function. No program that polls by itself (MPI_Test) may include it:
 * each of its polls would sleep; and none with which tests measure. Needs _POSIX_C_SOURCE 200809L. */
#ifndef PATIENT_H
#define PATIENT_H
#ifdef PATIENT
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

/* Not in POSIX. */
long syscall(long number, ...);

static long long patient_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int sched_yield(void)
{
    /* Yields with more than 20 us between them are not of one wait. */
    static __thread long long begun_ns, last_ns;
    long long now_ns = patient_now_ns();
    if (now_ns - last_ns > 20000)
        begun_ns = now_ns;
    long long waited_ns = now_ns - begun_ns;
    int status = 0;
    if (waited_ns < 2000000)
        status = (int)syscall(SYS_sched_yield);
    else
        /* A part of what it waited, at most 3 ms: of many ranks even the polls take a processor's time. */
        nanosleep(&(struct timespec){.tv_nsec = waited_ns < 24000000 ? waited_ns / 8 : 3000000}, NULL);
    last_ns = patient_now_ns();
    return status;
}
#endif
#endif
