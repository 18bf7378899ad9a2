/* uneven [steps] [extra_us]: rank 1 works longer than the others in each step, and then all meet. Work is sleeping:
   ranks on few processors do not disturb each other. */
#define _POSIX_C_SOURCE 200809L
#include "truth.h"
#include <time.h>

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
        double own = 1, sum = 0;
        T_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        truth_require(sum == size);
    }

    T_Finalize();
    return 0;
}
