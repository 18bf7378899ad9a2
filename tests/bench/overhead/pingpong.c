/* pingpong BATCHES STEPS: 8 bytes there and back between two ranks by blocking calls. A step is one MPI_Send and one
 * MPI_Recv in each rank: its time is that of a round trip. */
#include "measure.h"
#include <mpi.h>

static void step(int rank)
{
    uint64_t ball = 0;
    if (rank == 0) {
        MPI_Send(&ball, 1, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&ball, 1, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(&ball, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&ball, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
    }
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
