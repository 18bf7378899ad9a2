/* message_rate BATCHES STEPS: a stream of messages of 8 bytes from rank 0 to rank 1. A step is a window of 64 of them
 * by MPI_Isend, MPI_Irecv and MPI_Waitall, which rank 1 answers with one message. */
#include "measure.h"
#include <mpi.h>

enum { WINDOW = 64 };

static void step(int rank)
{
    static uint64_t messages[WINDOW];
    uint64_t answer = 0;
    MPI_Request requests[WINDOW];
    if (rank == 0) {
        for (int number = 0; number < WINDOW; number++)
            MPI_Isend(&messages[number], 1, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD, &requests[number]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(&answer, 1, MPI_UINT64_T, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        for (int number = 0; number < WINDOW; number++)
            MPI_Irecv(&messages[number], 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, &requests[number]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Send(&answer, 1, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD);
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
