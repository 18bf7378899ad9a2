/* started [steps] [extra_us]: rank 1 works longer than the others in each step, and then all enter a reduction that they
   complete at once, and a barrier that they complete together with a message. Work is sleeping: ranks on few
   processors do not disturb each other. */
#include "truth.h"

#include <time.h>

enum { TAG = 5 };

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long steps = truth_argument(argc, argv, 1, 100);
    long extra_us = truth_argument(argc, argv, 2, 4000);

    for (long step = 0; step < steps; step++) {
        struct timespec work = {0, 1000 * (1000 + (rank == 1 ? extra_us : 0))};
        nanosleep(&work, NULL);
        double own = 1, sum = 0, taken = 0;
        MPI_Request requests[3];
        T_Iallreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
        T_Wait(&requests[0], MPI_STATUS_IGNORE);
        truth_require(sum == size);
        T_Irecv(&taken, 1, MPI_DOUBLE, (rank + size - 1) % size, TAG, MPI_COMM_WORLD, &requests[0]);
        T_Isend(&own, 1, MPI_DOUBLE, (rank + 1) % size, TAG, MPI_COMM_WORLD, &requests[1]);
        T_Ibarrier(MPI_COMM_WORLD, &requests[2]);
        T_Waitall(3, requests, MPI_STATUSES_IGNORE);
        truth_require(taken == 1);
    }

    T_Finalize();
    return 0;
}
