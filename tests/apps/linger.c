/* linger [seconds] [messages per second]: steady traffic for a while, for tests that interfere in the middle of it.
 * Each rank sends that many messages to its right neighbour; the seconds may have a fraction. */
#define _POSIX_C_SOURCE 200809L
#include "pace.h"
#include "patient.h"
#include "truth.h"

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.5;
    long rate = truth_argument(argc, argv, 2, 200);
    /* The number is fixed beforehand and not by the clock, so the truth is the same in each run. */
    long messages = (long)(seconds * (double)rate + 0.5);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    long long start = now_ns();
    for (long number = 0; number < messages; number++) {
        sleep_until(start + number * 1000000000LL / rate);
        long received;
        MPI_Request requests[2];
        T_Irecv(&received, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, &requests[0]);
        T_Isend(&number, 1, MPI_LONG, right, 0, MPI_COMM_WORLD, &requests[1]);
        T_Waitall(2, requests, MPI_STATUSES_IGNORE);
        truth_require(received == number);
    }

    T_Finalize();
    return 0;
}
