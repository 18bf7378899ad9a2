/* slow_rank FILE [extra_us]: rank 1 works longer than the others in each step, and then all meet, until the file exists: a
 * test decides how long it lasts. Work is sleeping: ranks on few processors do not disturb each other. Gives up
 * after five minutes. */
#define _POSIX_C_SOURCE 200809L
#include "pace.h"
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORK_US = 1000 };

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long extra_us = argc > 2 ? strtol(argv[2], NULL, 10) : 4000;
    long long last = now_ns() + 300000000000LL;
    double mine = 0, stop = 0;
    while (stop == 0) {
        sleep_until(now_ns() + 1000LL * (WORK_US + (rank == 1 ? extra_us : 0)));
        mine = argc > 1 && rank == 0 && (access(argv[1], F_OK) == 0 || now_ns() > last);
        MPI_Allreduce(&mine, &stop, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
