/* requests: statuses that are asked for before a request completes, tens of thousands of requests at once, a buffer that
 * is given back. For two ranks or more. */
#include "truth.h"

enum { MANY = 12000, TAG = 8, ASKED_TAG = 9 };

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, size, right, left;
static int given[64], taken[64];

static void asked_for_before(void)
{
    MPI_Request request;
    MPI_Status status;
    int flag = 0, count;
    T_Irecv(taken, 64, MPI_INT, left, ASKED_TAG, world, &request);
    T_Barrier(world);
    T_Send(given, 20, MPI_INT, right, ASKED_TAG, world);
    while (!flag)
        T(Request_get_status, 0, request, &flag, &status);
    T(Request_get_status, 0, request, &flag, MPI_STATUS_IGNORE);
    T_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    truth_require(flag && count == 20);
}

static void many_at_once(void)
{
    static MPI_Request requests[2 * MANY];
    static int cells[MANY];
    for (int at = 0; at < MANY; at++)
        T_Irecv(&cells[at], 1, MPI_INT, left, at % 3, world, &requests[at]);
    for (int at = 0; at < MANY; at++)
        T_Isend(given, 1, MPI_INT, right, at % 3, world, &requests[MANY + at]);
    T_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    static char buffer[1 << 16];
    void *detached;
    int length;
    T_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    asked_for_before();
    many_at_once();
    MPI_Buffer_attach(buffer, sizeof buffer);
    T_Bsend(given, 5, MPI_INT, right, TAG, world);
    T(Buffer_detach, 0, &detached, &length);
    T_Recv(taken, 5, MPI_INT, left, TAG, world, MPI_STATUS_IGNORE);
    T_Finalize();
    return 0;
}
