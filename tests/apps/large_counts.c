/* large_counts: calls with counts of 64 bits, each a number of times that tests/e2e/tests/large_counts.rs knows. For an MPI
 * of version 4, on two ranks or more. */
#include <mpi.h>
#include <stdlib.h>

/* MPICH's MPI_STATUSES_IGNORE is the address 1, which GCC takes for an object too small for a status. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

enum { ROUNDS = 5, NUMBERS = 3, BYTES = NUMBERS * (int)sizeof(int) };

/* A persistent send and receive, and a persistent collective, each started once. */
static void persistent(int *numbers, int *others, int right, int left)
{
    MPI_Request requests[3];
    MPI_Recv_init_c(others, NUMBERS, MPI_INT, left, 200, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init_c(numbers, NUMBERS, MPI_INT, right, 200, MPI_COMM_WORLD, &requests[1]);
    MPI_Bcast_init_c(numbers, NUMBERS, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
    MPI_Startall(3, requests);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < 3; at++)
        MPI_Request_free(&requests[at]);
}

static void one_sided(int *numbers, int *others, int right, int size)
{
    MPI_Win window;
    MPI_Win_create_c(others, (MPI_Aint)BYTES * size, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put_c(numbers, NUMBERS, MPI_INT, right, 0, NUMBERS, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Get_c(numbers, NUMBERS, MPI_INT, right, 0, NUMBERS, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Accumulate_c(numbers, 2, MPI_INT, right, 0, 2, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

/* Each has two neighbours, and the same number for both. */
static void among_neighbours(MPI_Comm ring, int *numbers, int *others)
{
    const MPI_Count counts[2] = {1, 1};
    const MPI_Aint places[2] = {0, 1};
    MPI_Neighbor_allgather_c(numbers, NUMBERS, MPI_INT, others, NUMBERS, MPI_INT, ring);
    MPI_Neighbor_alltoall_c(numbers, 1, MPI_INT, others, 1, MPI_INT, ring);
    MPI_Neighbor_allgatherv_c(numbers, 1, MPI_INT, others, counts, places, MPI_INT, ring);
}

static void file(int *numbers, int *others, int rank)
{
    MPI_File file;
    const MPI_Offset place = (MPI_Offset)BYTES * rank;
    MPI_File_open(MPI_COMM_WORLD, "large_counts.out", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_write_at_c(file, place, numbers, NUMBERS, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all_c(file, place, others, NUMBERS, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Comm ring;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *numbers = calloc((size_t)(NUMBERS * size), sizeof *numbers);
    int *others = calloc((size_t)(NUMBERS * size), sizeof *others);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring);
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
        persistent(numbers, others, right, left);
        one_sided(numbers, others, right, size);
        among_neighbours(ring, numbers, others);
        file(numbers, others, rank);
    }
    MPI_Comm_free(&ring);
    free(numbers);
    free(others);
    free(counts);
    free(places);
    MPI_Finalize();
    return 0;
}
