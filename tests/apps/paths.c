/* paths [steps] [grain_us] [levels]: a program whose calls come through functions that are known. Each step exchanges borders from a
 * solver and from a writer of results, by the same function, and sums up in the solver, some of it in a function that calls
 * itself. What each function of the program calls is never inlined, and none has a frame pointer. */
#define _GNU_SOURCE
#include "truth.h"
#include <unistd.h>

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, size;

/* Keeps a call from being the last of its function, which compilers make a jump. */
#define STAYS __asm__ volatile("" ::: "memory")

__attribute__((noinline)) static void exchange(double *border)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    T_Sendrecv(border, 1, MPI_DOUBLE, next, 0, border + 1, 1, MPI_DOUBLE, before, 0, world, MPI_STATUS_IGNORE);
    STAYS;
}

__attribute__((noinline)) static double norm(double part)
{
    double sum = 0;
    T_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, world);
    STAYS;
    return sum;
}

/* Deepest first: a barrier at each of its levels. */
__attribute__((noinline)) static void refine(int levels)
{
    if (levels > 0)
        refine(levels - 1);
    T_Barrier(world);
    STAYS;
}

__attribute__((noinline)) static double solve(double *border, long grain_us)
{
    exchange(border);
    usleep((useconds_t)grain_us);
    double sum = norm(border[1]);
    STAYS;
    return sum;
}

__attribute__((noinline)) static void write_results(double *border)
{
    exchange(border);
    STAYS;
}

int main(int argc, char **argv)
{
    T_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    long steps = truth_argument(argc, argv, 1, 100), grain_us = truth_argument(argc, argv, 2, 0);
    int levels = (int)truth_argument(argc, argv, 3, 3);
    double border[2] = {rank, 0}, sum = 0;
    for (long step = 0; step < steps; step++) {
        sum += solve(border, grain_us);
        if (step % 10 == 0)
            write_results(border);
        if (step % 20 == 0)
            refine(levels);
    }
    truth_require(sum > -1);
    T_Finalize();
    return 0;
}
