/* exchange_later [rounds] [any]: messages that are sent and received by one request, and beside them plain ones of other
 * sizes with the same tag, on the world and on a communicator in which ranks stand in reverse. Needs an MPI of version 4.
 * With `any` the last round's are received from any source, which MPICH 4.0 does not report. */
#include "truth.h"
#include <string.h>

enum { MOST = 40, TAG = 3 };

static int given[MOST], taken[MOST], plain[MOST], own[MOST];

static void exchange(MPI_Comm comm, long round)
{
    MPI_Request requests[3];
    int rank, size, flag = 0, sent = 1 + (int)(7 * round % MOST), beside = 1 + (int)(11 * round % MOST);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int at = 0; at < MOST; at++)
        given[at] = own[at] = (int)(1000 * round + at);

    T_Irecv(plain, MOST, MPI_INT, left, TAG, comm, &requests[0]);
    T_Isend(given, beside, MPI_INT, right, TAG, comm, &requests[1]);
    T(Isendrecv, sent * (long)sizeof(int), given, sent, MPI_INT, right, TAG, taken, MOST, MPI_INT, left, TAG, comm,
      &requests[2]);
    truth_message(sent, MPI_INT, right, comm);
    if (round % 2)
        T_Waitall(3, requests, MPI_STATUSES_IGNORE);
    else
        while (!flag)
            T_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
    truth_require(taken[sent - 1] == given[sent - 1] && plain[beside - 1] == given[beside - 1]);

    T(Isendrecv_replace, beside * (long)sizeof(int), own, beside, MPI_INT, left, TAG, right, TAG, comm, &requests[0]);
    truth_message(beside, MPI_INT, left, comm);
    T_Wait(&requests[0], MPI_STATUS_IGNORE);
    truth_require(own[beside - 1] == given[beside - 1]);

    /* One side of it only. */
    T(Isendrecv, sizeof(int), given, 1, MPI_INT, right, TAG, taken, MOST, MPI_INT, MPI_PROC_NULL, TAG, comm, &requests[0]);
    truth_message(1, MPI_INT, right, comm);
    T(Isendrecv, 0, given, 1, MPI_INT, MPI_PROC_NULL, TAG, taken, MOST, MPI_INT, left, TAG, comm, &requests[1]);
    T_Waitall(2, requests, MPI_STATUSES_IGNORE);
    truth_require(taken[0] == given[0]);
}

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long rounds = truth_argument(argc, argv, 1, 20);
    MPI_Comm reverse;
    T_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reverse);
    for (long round = 0; round < rounds; round++)
        exchange(round % 3 ? MPI_COMM_WORLD : reverse, round);

    if (argc > 2 && strcmp(argv[2], "any") == 0) {
        MPI_Request request;
        T_Barrier(MPI_COMM_WORLD);
        T(Isendrecv, sizeof(int), given, 1, MPI_INT, (rank + 1) % size, TAG, taken, MOST, MPI_INT, MPI_ANY_SOURCE, TAG,
          MPI_COMM_WORLD, &request);
        truth_message(1, MPI_INT, (rank + 1) % size, MPI_COMM_WORLD);
        T_Wait(&request, MPI_STATUS_IGNORE);
    }
    T_Comm_free(&reverse);
    T_Finalize();
    return 0;
}
