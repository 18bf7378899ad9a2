/* memory STEPS: one rank that sends itself messages, with requests, datatypes and communicators made and freed in each step:
 * 64 MPI_Irecv and 64 MPI_Isend of a datatype of its own, an MPI_Waitall, an MPI_Comm_dup. Prints what is resident in
 * this process after each tenth, in KiB: all of it, and what it does not share. */
#include "measure.h"
#include <mpi.h>
#include <string.h>

enum { WINDOW = 64, TENTHS = 10 };

static void step(long number)
{
    static uint64_t sent[WINDOW * 2], received[WINDOW * 2];
    MPI_Request requests[2 * WINDOW];
    MPI_Datatype pair;
    MPI_Comm comm;
    MPI_Type_contiguous(1 + (int)(number % 2), MPI_UINT64_T, &pair);
    MPI_Type_commit(&pair);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int at = 0; at < WINDOW; at++)
        MPI_Irecv(&received[2 * at], 1, pair, 0, at, comm, &requests[at]);
    for (int at = 0; at < WINDOW; at++)
        MPI_Isend(&sent[2 * at], 1, pair, 0, at, comm, &requests[WINDOW + at]);
    MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Type_free(&pair);
}

/* The number of KiB behind a word in this process's status. */
static long status_kib(const char *word)
{
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && kib < 0 && fgets(line, sizeof line, status)) {
        char name[64];
        long found;
        if (sscanf(line, "%63[^:]: %ld", name, &found) == 2 && strcmp(name, word) == 0)
            kib = found;
    }
    if (status)
        fclose(status);
    return kib;
}

int main(int argc, char **argv)
{
    long steps = argument(argc, argv, 1);
    MPI_Init(&argc, &argv);
    for (int tenth = 0; tenth < TENTHS; tenth++) {
        for (long done = 0; done < steps / TENTHS; done++)
            step(done);
        printf("%ld %ld\n", status_kib("VmRSS"), status_kib("RssAnon"));
    }
    MPI_Finalize();
    return 0;
}
