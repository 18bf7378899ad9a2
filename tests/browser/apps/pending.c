/* pending FILE: rank 0 sends rank 1 three messages, which rank 1 receives only once the file exists. Until then they are in
 * flight. Gives up after five minutes. */
#define _POSIX_C_SOURCE 200809L
#include "pace.h"
#include <mpi.h>
#include <unistd.h>

enum { MESSAGES = 3, BYTES = 100, TAG = 7, LOOK_NS = 20000000 };

int main(int argc, char **argv)
{
    int rank;
    char buffers[MESSAGES][BYTES] = {{0}};
    MPI_Request requests[MESSAGES];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int at = 0; rank == 0 && at < MESSAGES; at++)
        MPI_Isend(buffers[at], BYTES, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &requests[at]);
    long long last = now_ns() + 300000000000LL;
    while (argc > 1 && access(argv[1], F_OK) != 0 && now_ns() < last)
        sleep_until(now_ns() + LOOK_NS);
    for (int at = 0; rank == 1 && at < MESSAGES; at++)
        MPI_Recv(buffers[at], BYTES, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
