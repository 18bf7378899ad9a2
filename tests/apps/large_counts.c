/* large_counts: calls with counts of 64 bits, each a number of times that tests/e2e/tests/large_counts.rs knows. For an MPI
 * of version 4, on two ranks or more. */
#include <mpi.h>
#include <stdlib.h>

/* MPICH's MPI_STATUSES_IGNORE is the address 1, which GCC takes for an object too small for a status. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

enum { ROUNDS = 5, NUMBERS = 3 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *numbers = calloc((size_t)(NUMBERS * size), sizeof *numbers);
    int *others = calloc((size_t)(NUMBERS * size), sizeof *others);
    MPI_Count *counts = malloc((size_t)size * sizeof *counts);
    MPI_Aint *places = malloc((size_t)size * sizeof *places);
    for (int other = 0; other < size; other++) {
        counts[other] = NUMBERS;
        places[other] = NUMBERS * other;
    }
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        MPI_Message message;
        MPI_Irecv_c(others, NUMBERS, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend_c(numbers, NUMBERS, MPI_INT, right, round, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Sendrecv_c(numbers, NUMBERS, MPI_INT, right, round, others, NUMBERS, MPI_INT, left, round, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
        MPI_Isend_c(numbers, 1, MPI_INT, right, 100, MPI_COMM_WORLD, &requests[1]);
        MPI_Mprobe(left, 100, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv_c(others, NUMBERS, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Bcast_c(numbers, NUMBERS, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Allreduce_c(MPI_IN_PLACE, numbers, NUMBERS, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Alltoallv_c(numbers, counts, places, MPI_INT, others, counts, places, MPI_INT, MPI_COMM_WORLD);
        MPI_Gatherv_c(numbers, NUMBERS, MPI_INT, others, counts, places, MPI_INT, size - 1, MPI_COMM_WORLD);
    }
    free(numbers);
    free(others);
    free(counts);
    free(places);
    MPI_Finalize();
    return 0;
}
