/* turns [turns]: even ranks ask by turns in three ways and find nothing, N times, before their odd neighbours are
 * let go on and send what was asked for. A last rank without a neighbour has nothing to do. */
#include "truth.h"

static const MPI_Comm world = MPI_COMM_WORLD;

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    long turns = truth_argument(argc, argv, 1, 50000);
    int partner = rank ^ 1, go = 1, found[2] = {0, 0};

    if (partner < size && rank % 2 == 0) {
        MPI_Request requests[2];
        T_Irecv(&found[0], 1, MPI_INT, partner, 1, world, &requests[0]);
        T_Irecv(&found[1], 1, MPI_INT, partner, 2, world, &requests[1]);
        for (long turn = 0; turn < turns; turn++) {
            int flag, index;
            T_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
            truth_require(!flag);
            T_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
            truth_require(!flag);
            T_Iprobe(partner, 3, world, &flag, MPI_STATUS_IGNORE);
            truth_require(!flag);
        }
        T_Send(&go, 1, MPI_INT, partner, 0, world);
        T_Waitall(2, requests, MPI_STATUSES_IGNORE);
        truth_require(found[0] == 10 && found[1] == 20);
    } else if (partner < size) {
        T_Recv(&go, 1, MPI_INT, partner, 0, world, MPI_STATUS_IGNORE);
        for (int number = 1; number <= 2; number++) {
            int sent = 10 * number;
            T_Send(&sent, 1, MPI_INT, partner, number, world);
        }
    }

    T_Finalize();
    return 0;
}
