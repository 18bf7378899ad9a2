/* stretched [turns] [first] [last] [extra_us]: a main loop whose turns FIRST to LAST, counted from 1, take longer, because
 * rank 1 works longer in them. A turn sends around a ring, works and adds up. The loop is in three phases: "start" is one
 * turn, "middle" most of them, "end" is one turn. Work is sleeping: ranks on few processors do not disturb each other. */
#define _GNU_SOURCE
#include "truth.h"

#include <time.h>

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, size;

static void turn(long extra_us)
{
    int given = rank, taken = -1, left = (rank + size - 1) % size;
    T_Sendrecv(&given, 1, MPI_INT, (rank + 1) % size, 0, &taken, 1, MPI_INT, left, 0, world, MPI_STATUS_IGNORE);
    truth_require(taken == left);
    long us = 2000 + (rank == 1 ? extra_us : 0);
    struct timespec work = {us / 1000000, 1000 * (us % 1000000)};
    nanosleep(&work, NULL);
    double own = 1, sum = 0;
    T_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, world);
    truth_require(sum == size);
}

int main(int argc, char **argv)
{
    T_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    long turns = truth_argument(argc, argv, 1, 200), first = truth_argument(argc, argv, 2, 0);
    long last = truth_argument(argc, argv, 3, 0), extra_us = truth_argument(argc, argv, 4, 0);

    for (long at = 1; at <= turns; at++) {
        const char *phase = at == 1 ? "start" : at == turns ? "end" : "middle";
        if (at <= 2 || at == turns)
            T(Pcontrol, 0, 3, phase);
        turn(at >= first && at <= last ? extra_us : 0);
        if (at == 1 || at >= turns - 1)
            T(Pcontrol, 0, -3, phase);
    }

    T_Finalize();
    return 0;
}
