/* Rank 1 sleeps in the kernel for some milliseconds where no signal reaches it, as for a slow disk: its child
 * shares its memory until it ends. The others wait in a barrier. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    long milliseconds = argc > 1 ? atol(argv[1]) : 1500;
    struct timespec length = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        pid_t child = vfork();
        if (child == 0) {
            nanosleep(&length, NULL);
            _exit(0);
        }
        if (child < 0 || waitpid(child, NULL, 0) != child)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
