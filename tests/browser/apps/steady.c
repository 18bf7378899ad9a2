/* steady FILE [iterations a second]: each rank passes a number round a ring so often, until the file exists: a
 * test decides how long it lasts. Gives up after five minutes. */
#define _POSIX_C_SOURCE 200809L
#include "pace.h"
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOK_EVERY = 20, MOST_SECONDS = 300 };

int main(int argc, char **argv)
{
    int rank, size, stop = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long rate = argc > 2 ? strtol(argv[2], NULL, 10) : 300;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    long long start = now_ns();
    for (long number = 0; !stop; number++) {
        sleep_until(start + number * 1000000000LL / rate);
        long received;
        MPI_Request requests[2];
        MPI_Irecv(&received, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&number, 1, MPI_LONG, right, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (number % LOOK_EVERY == 0) {
            int mine = argc > 1 && rank == 0 && (access(argv[1], F_OK) == 0 || number > MOST_SECONDS * rate);
            MPI_Allreduce(&mine, &stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
