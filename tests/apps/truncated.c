/* truncated: messages that are too long for their receives, which fail and take them all the same. Behind each comes one on
 * the same channel that fits. Rank 0 prints how many were too long: "truncated MESSAGES". For two ranks or more. */
#include "truth.h"

enum { SHORT = 4, TAG = 8, WAYS = 4 };

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, size, right, left;
static int given[64], taken[64];

/* The message is taken, whatever the receive says: the next one gets the next message. */
static void too_long_for_their_receives(void)
{
    MPI_Request request;
    MPI_Status status;
    int count;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int way = 0; way < WAYS; way++) {
        if (way == WAYS - 1)
            truth_require(T_Sendrecv(given, 31, MPI_INT, right, TAG, taken, SHORT, MPI_INT, left, TAG, world, &status)
                          != MPI_SUCCESS);
        else
            T_Send(given, 30, MPI_INT, right, TAG, world);
        T_Send(given, SHORT, MPI_INT, right, TAG, world);
        if (way == WAYS - 1) {
            /* done above */
        } else if (way == 0) {
            truth_require(T_Recv(taken, SHORT, MPI_INT, left, TAG, world, &status) != MPI_SUCCESS);
        } else {
            T_Irecv(taken, SHORT, MPI_INT, left, TAG, world, &request);
            if (way == 1)
                truth_require(T_Wait(&request, &status) != MPI_SUCCESS);
            else
                truth_require(T_Waitall(1, &request, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
        }
        T_Recv(taken, 64, MPI_INT, left, TAG, world, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        truth_require(count == SHORT);
    }
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    T_Barrier(world);
}

int main(int argc, char **argv)
{
    T_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    too_long_for_their_receives();
    if (rank == 0)
        printf("truncated %d\n", WAYS * size);
    T_Finalize();
    return 0;
}
