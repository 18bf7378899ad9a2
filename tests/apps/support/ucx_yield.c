/* A preload that lets MPICH over UCX run more ranks than there are processors. It is no part of the recording.
 *
 * UCX polls without ever giving up its processor, so a waiting rank keeps the rank it waits for from running; and
 * MPICH has no setting against that. Here a poll that found nothing yields.
 *
 * MPI_Finalize can hang: it flushes each connection, which needs the peer to make progress, while the peer may
 * already be waiting for the process manager, where it makes none. At that point MPI_Finalize has synchronised all
 * ranks and nothing is left to flush, so the flush is skipped; a null pointer means success to the caller.
 *
 * The prototypes are written out to need no UCX headers: handles are plain pointers to us. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

unsigned ucp_worker_progress(void *worker);
void *ucp_disconnect_nb(void *endpoint);

unsigned ucp_worker_progress(void *worker)
{
    typedef unsigned progress_function(void *);
    static progress_function *original;
    /* Threads that get here at the same time find, and store, the same address. */
    if (!original)
        original = (progress_function *)dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned found = original(worker);
    if (found == 0)
        sched_yield();
    return found;
}

void *ucp_disconnect_nb(void *endpoint)
{
    (void)endpoint;
    return NULL;
}
