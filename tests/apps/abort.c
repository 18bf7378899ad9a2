/* abort: some traffic, then rank 1 aborts the job with status 7. No rank comes to MPI_Finalize. */
#define _POSIX_C_SOURCE 200809L
#include "truth.h"
#include <time.h>

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int number = 0; number < 100; number++) {
        int received;
        T_Sendrecv(&number, 1, MPI_INT, (rank + 1) % size, 0, &received, 1, MPI_INT, (rank + size - 1) % size, 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_require(received == number);
    }
    T_Barrier(MPI_COMM_WORLD);

    /* In advance: nobody is left to tell it afterwards. */
    if (rank == 1)
        truth_count(TRUTH_Abort);
    truth_print();
    if (rank == 1) {
        /* The launcher may drop output that it has not forwarded yet when the job aborts. */
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        T_Abort(MPI_COMM_WORLD, 7);
    }
    PMPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
