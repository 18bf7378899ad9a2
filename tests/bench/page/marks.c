/* marks SECONDS [calls a second]: steady traffic of N calls a second in all ranks together, and twice a
 * second a mark: one rank after the other waits some milliseconds in MPI_Bcast, which nothing else here calls for long.
 * For each mark it prints `mark RANK NANOSECONDS DURATION`: when the call ended, by CLOCK_MONOTONIC, and how long it
 * took. Needs an even number of ranks. */
#define _POSIX_C_SOURCE 200809L
#include "pace.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS_AN_ITERATION = 3, MARKS_A_SECOND = 2, MARK_MILLISECONDS = 8 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm pair;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 10;
    long rate = (argc > 2 ? strtol(argv[2], NULL, 10) : 20000) / size / CALLS_AN_ITERATION;
    long iterations = (long)(seconds * (double)rate), mark_every = rate / MARKS_A_SECOND;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    long long start = now_ns();
    for (long number = 0; number < iterations; number++) {
        sleep_until(start + number * 1000000000LL / rate);
        long received;
        MPI_Request requests[2];
        MPI_Irecv(&received, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&number, 1, MPI_LONG, right, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        int marked = (int)(number / mark_every % size);
        if (number % mark_every != mark_every / 2 || marked / 2 != rank / 2)
            continue;
        int word = 1, other = marked % 2 ^ 1;
        if (rank != marked)
            sleep_until(now_ns() + MARK_MILLISECONDS * 1000000LL);
        long long begin = now_ns();
        MPI_Bcast(&word, 1, MPI_INT, other, pair);
        if (rank == marked) {
            long long end = now_ns();
            printf("mark %d %lld %lld\n", rank, end, end - begin);
            fflush(stdout);
        }
    }
    MPI_Comm_free(&pair);
    MPI_Finalize();
    return 0;
}
