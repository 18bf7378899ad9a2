/* both_ways: sends and receives that are started together and complete together. Needs an MPI of version 4. For two ranks
 * or more. */
#include "truth.h"

enum { TAG = 8, ROUNDS = 10 };

int main(int argc, char **argv)
{
    int rank, size, given[64] = {0}, taken[64];
    MPI_Request request;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int round = 0; round < ROUNDS; round++) {
        int count = 11 + round, bytes = count * (int)sizeof(int);
        truth_message(count, MPI_INT, right, MPI_COMM_WORLD);
        T(Isendrecv, bytes, given, count, MPI_INT, right, TAG, taken, 64, MPI_INT, left, TAG, MPI_COMM_WORLD, &request);
        T_Wait(&request, MPI_STATUS_IGNORE);
        truth_message(count, MPI_INT, left, MPI_COMM_WORLD);
        T(Isendrecv_replace, bytes, taken, count, MPI_INT, left, TAG, right, TAG, MPI_COMM_WORLD, &request);
        T_Wait(&request, MPI_STATUS_IGNORE);
    }
    T_Finalize();
    return 0;
}
