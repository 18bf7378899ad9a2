/* between [steps] [extra_us]: the ranks of even number and those of odd number meet between two groups, and rank 1 works
   longer than the others in each step. Work is sleeping: ranks on few processors do not disturb each other. */
#include "truth.h"

#include <time.h>

enum { TAG = 6 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm half, between;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long steps = truth_argument(argc, argv, 1, 100);
    long extra_us = truth_argument(argc, argv, 2, 4000);
    T_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, TAG, &between);

    for (long step = 0; step < steps; step++) {
        struct timespec work = {0, 1000 * (1000 + (rank == 1 ? extra_us : 0))};
        nanosleep(&work, NULL);
        double own = 1, sum = 0;
        T_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, between);
        truth_require(sum == (size + rank % 2) / 2);
        /* From rank 0 to all of odd number. */
        T_Bcast(&own, 1, MPI_DOUBLE, rank % 2 ? 0 : rank ? MPI_PROC_NULL : MPI_ROOT, between);
        T_Barrier(between);
    }

    T_Comm_free(&between);
    T_Comm_free(&half);
    T_Finalize();
    return 0;
}
