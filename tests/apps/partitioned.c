/* partitioned [rounds]: messages that are handed over in parts, and beside them plain ones of other sizes with the same
 * tag, which match only each other. Needs an MPI of version 4. For two ranks or more. */
#include "truth.h"

enum { PARTS = 5, COUNT = 30, TAG = 3 };

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, size, right, left;
static int given[PARTS * COUNT], taken[PARTS * COUNT], plain[COUNT];

int main(int argc, char **argv)
{
    MPI_Request requests[2], other;
    MPI_Status status;
    int list[2] = {3, 4}, flag, count;
    T_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    long rounds = truth_argument(argc, argv, 1, 20);
    T(Psend_init, 0, given, PARTS, COUNT, MPI_INT, right, TAG, world, MPI_INFO_NULL, &requests[0]);
    T(Precv_init, 0, taken, PARTS, COUNT, MPI_INT, left, TAG, world, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < rounds; round++) {
        for (int at = 0; at < PARTS * COUNT; at++)
            given[at] = 1000 * round + at;
        T_Irecv(plain, COUNT, MPI_INT, left, TAG, world, &other);
        truth_message(PARTS * COUNT, MPI_INT, right, world);
        if (round % 2) {
            T_Startall(2, requests);
        } else {
            T_Start(&requests[1]);
            T_Start(&requests[0]);
        }
        T(Pready, 0, 1, requests[0]);
        T_Send(given, 1 + round % COUNT, MPI_INT, right, TAG, world);
        T(Pready, 0, 0, requests[0]);
        T(Pready_range, 0, 2, 2, requests[0]);
        T(Pready_list, 0, 2, list, requests[0]);
        for (int part = 0; part < PARTS; part++)
            for (flag = 0; !flag;)
                T(Parrived, 0, requests[1], part, &flag);
        T_Waitall(2, requests, MPI_STATUSES_IGNORE);
        T_Wait(&other, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        truth_require(count == 1 + round % COUNT && taken[PARTS * COUNT - 1] == 1000 * round + PARTS * COUNT - 1);
    }
    T_Request_free(&requests[0]);
    T_Request_free(&requests[1]);
    T_Finalize();
    return 0;
}
