/* paced [seconds] [file]: a ring in which each rank sends to the next and receives from the one before, by turns blocking
 * and not, some hundred times a second, with a barrier now and then, until rank 0 says that the time is over. With a file,
 * rank 0 adds a byte to it in each turn, to show a test how far it is, and ends when the file is gone. */
#define _POSIX_C_SOURCE 200809L
#include "pace.h"
#include "truth.h"
#include <fcntl.h>
#include <unistd.h>

/* Whether the file is still there; it is a byte longer then. */
static int count_turn(const char *path)
{
    int file = open(path, O_WRONLY | O_APPEND);
    if (file < 0)
        return 0;
    truth_require(write(file, ".", 1) == 1);
    close(file);
    return 1;
}

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.3;
    long long start = now_ns(), until = start + (long long)(seconds * 1e9);

    for (int turn = 0, goes_on = 1; goes_on; turn++) {
        int sent = turn, got = -1;
        MPI_Request request;
        T_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &request);
        T_Send(&sent, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
        T_Wait(&request, MPI_STATUS_IGNORE);
        truth_require(got == sent);
        if (turn % 16 == 0)
            T_Barrier(MPI_COMM_WORLD);
        goes_on = now_ns() < until && (rank != 0 || argc < 3 || count_turn(argv[2]));
        T_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        sleep_until(start + (turn + 1) * 5000000LL);
    }

    T_Finalize();
    return 0;
}
