/* ring [rounds]: a token goes round the ring with blocking calls, so all traffic is one chain of dependencies. */
#include "truth.h"

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long rounds = truth_argument(argc, argv, 1, 100);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    long token = 0; /* the number of hops it has made */
    /* A single rank would have to send to itself before it can receive. */
    for (long round = 0; round < rounds && size > 1; round++) {
        if (rank == 0)
            T_Send(&token, 1, MPI_LONG, right, 0, MPI_COMM_WORLD);
        T_Recv(&token, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        token++;
        truth_require(token == round * size + (rank == 0 ? size : rank));
        if (rank != 0)
            T_Send(&token, 1, MPI_LONG, right, 0, MPI_COMM_WORLD);
    }

    T_Finalize();
    return 0;
}
