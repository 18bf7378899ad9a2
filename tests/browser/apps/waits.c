/* waits FILE [iterations a second] [receives before]: rank 0 waits in one MPI_Recv until the file exists and the last
 * rank sends; the others pass numbers round a ring meanwhile. Before that, it receives so often without waiting long.
 * Needs three ranks. Gives up after five minutes. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_EVERY = 20, MOST_SECONDS = 300 };

int main(int argc, char **argv)
{
    int rank, size, stop = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm others;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &others);
    long rate = argc > 2 ? strtol(argv[2], NULL, 10) : 100;
    long word = 1, before = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    for (long number = 0; number < before && (rank == 0 || rank == size - 1); number++) {
        if (rank == 0)
            MPI_Recv(&word, 1, MPI_LONG, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(&word, 1, MPI_LONG, 0, 7, MPI_COMM_WORLD);
    }
    if (rank == 0)
        MPI_Recv(&word, 1, MPI_LONG, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (long number = 0; rank > 0 && !stop; number++) {
        struct timespec gap = {0, 1000000000 / rate};
        nanosleep(&gap, NULL);
        int right = rank % (size - 1), left = (rank + size - 3) % (size - 1);
        long received;
        MPI_Request requests[2];
        MPI_Irecv(&received, 1, MPI_LONG, left, 0, others, &requests[0]);
        MPI_Isend(&number, 1, MPI_LONG, right, 0, others, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (number % LOOK_EVERY == 0) {
            int mine = rank == 1 && (access(argv[1], F_OK) == 0 || number > MOST_SECONDS * rate);
            MPI_Allreduce(&mine, &stop, 1, MPI_INT, MPI_MAX, others);
        }
    }
    if (rank == size - 1)
        MPI_Send(&word, 1, MPI_LONG, 0, 7, MPI_COMM_WORLD);
    MPI_Comm_free(&others);
    MPI_Finalize();
    return 0;
}
