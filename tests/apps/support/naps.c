/* A preload for ranks that share their processors with other tests: one that has polled in vain for a while sleeps
 * between polls, where it would take the time of everybody else. It is no part of the recording, and the library of MPI
 * is the real one: it is asked as before, only less often.
 *
 * Open MPI yields after a poll that found nothing in shared memory. UCX says what it found, but not what MPICH found in
 * shared memory. What neither sees is seen by the time that passes: a rank that has something to do polls later than one
 * that waits in a loop. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum {
    /* Below this a rank polls without sleep: who is answered at once waits no longer than otherwise. */
    PATIENCE_NS = 100 * 1000,
    NAP_NS = 100 * 1000,
    /* Two polls with more than this between them are not of one loop. */
    LOOP_NS = 3 * 1000,
};

void opal_progress(void);
unsigned ucp_worker_progress(void *worker);

/* Whether Open MPI yielded in this poll; since when all polls of this thread were in vain, 0 when the last one was not;
 * and when the last one was over. */
static _Thread_local bool has_yielded;
static _Thread_local int64_t in_vain_since_ns;
static _Thread_local int64_t last_poll_ns;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void begin_poll(void)
{
    if (now_ns() - last_poll_ns > LOOP_NS)
        in_vain_since_ns = 0;
}

static void end_poll(bool found)
{
    int64_t now = now_ns();
    if (found)
        in_vain_since_ns = 0;
    else if (in_vain_since_ns == 0)
        in_vain_since_ns = now;
    else if (now - in_vain_since_ns > PATIENCE_NS)
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    last_poll_ns = now_ns();
}

int sched_yield(void)
{
    static int (*original)(void);
    /* Threads that get here at the same time find, and store, the same address. */
    if (!original)
        original = (int (*)(void))dlsym(RTLD_NEXT, "sched_yield");
    has_yielded = true;
    return original();
}

void opal_progress(void)
{
    static void (*original)(void);
    if (!original)
        original = (void (*)(void))dlsym(RTLD_NEXT, "opal_progress");
    /* A poll may poll again from within. */
    bool outer = has_yielded;
    has_yielded = false;
    begin_poll();
    original();
    end_poll(!has_yielded);
    has_yielded = outer;
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*original)(void *);
    if (!original)
        original = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    begin_poll();
    unsigned found = original(worker);
    end_poll(found > 0);
    return found;
}
