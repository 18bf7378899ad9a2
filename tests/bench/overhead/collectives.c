/* collectives BATCHES STEPS: a step is one MPI_Allreduce of 8 bytes over all ranks. */
#include "measure.h"
#include <mpi.h>

static void step(int rank)
{
    double own = rank, sum;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    measure(step, rank, argument(argc, argv, 1), argument(argc, argv, 2));
    MPI_Finalize();
    return 0;
}
