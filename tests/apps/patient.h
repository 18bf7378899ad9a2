/* For programs that many tests run at a time: with PATIENT, which the short check sets, a rank that has waited for some
 * milliseconds sleeps between its polls, and leaves the processor to other tests. MPI yields the processor between two
 * polls; this takes the place of the C library's function. No program that polls by itself (MPI_Test) may include it:
 * each of its polls would sleep; and none with which tests measure. Needs _POSIX_C_SOURCE 200809L. */
#ifndef PATIENT_H
#define PATIENT_H
#ifdef PATIENT
#include "pace.h"
#include <sched.h>
#include <sys/syscall.h>

/* Yields with more than this between them are not of one wait. */
#define ONE_WAIT_NS 20000
/* A wait of this length is a long one. */
#define LONG_WAIT_NS 2000000
#define LONGEST_SLEEP_NS 3000000

/* Not in POSIX. */
long syscall(long number, ...);

int sched_yield(void)
{
    static __thread long long begun_ns, last_ns;
    long long at_ns = now_ns();
    if (at_ns - last_ns > ONE_WAIT_NS)
        begun_ns = at_ns;
    long long waited_ns = at_ns - begun_ns;
    int status = 0;
    if (waited_ns < LONG_WAIT_NS)
        status = (int)syscall(SYS_sched_yield);
    else
        /* A part of what it waited: of many ranks even the polls take a processor's time. */
        sleep_until(at_ns + (waited_ns < 8 * LONGEST_SLEEP_NS ? waited_ns / 8 : LONGEST_SLEEP_NS));
    last_ns = now_ns();
    return status;
}
#endif
#endif
