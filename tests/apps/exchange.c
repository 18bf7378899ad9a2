/* exchange [rounds]: all ranks send to the right and receive from the left at once, round by round, and meet once at half
 * time: what led to what is known exactly. */
#include "truth.h"

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long rounds = truth_argument(argc, argv, 1, 6);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (long round = 0; round < rounds; round++) {
        long sent = round * size + rank, received = -1;
        if (round == rounds / 2)
            T_Barrier(MPI_COMM_WORLD);
        T_Sendrecv(&sent, 1, MPI_LONG, right, 0, &received, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_require(received == round * size + left);
    }

    T_Finalize();
    return 0;
}
