/* one_call KIND BATCHES STEPS: makes calls of one kind over and over, and says how long that took. With 0 batches it
 * makes that many steps and prints nothing: nothing else is in its instructions. */
#include "measure.h"
#include <mpi.h>
#include <string.h>

enum { WINDOW = 64 };

static uint64_t buffer[WINDOW], sum;
static MPI_Request requests[WINDOW];

static void call_send(int rank)
{
    (void)rank;
    MPI_Send(buffer, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
}

static void call_recv(int rank)
{
    (void)rank;
    MPI_Recv(buffer, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void call_isend_wait(int rank)
{
    (void)rank;
    MPI_Isend(buffer, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void call_irecv_wait(int rank)
{
    (void)rank;
    MPI_Irecv(buffer, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void call_isend_window(int rank)
{
    (void)rank;
    for (int number = 0; number < WINDOW; number++)
        MPI_Isend(&buffer[number], 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, &requests[number]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
}

static void call_irecv_window(int rank)
{
    (void)rank;
    for (int number = 0; number < WINDOW; number++)
        MPI_Irecv(&buffer[number], 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, &requests[number]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
}

static void call_failed_test(int rank)
{
    (void)rank;
    int flag;
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
}

static void call_allreduce(int rank)
{
    (void)rank;
    MPI_Allreduce(buffer, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void call_barrier(int rank)
{
    (void)rank;
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*step)(int rank);
} kinds[] = {
    {"send", call_send},
    {"recv", call_recv},
    {"isend_wait", call_isend_wait},
    {"irecv_wait", call_irecv_wait},
    {"isend_window", call_isend_window},
    {"irecv_window", call_irecv_window},
    {"failed_test", call_failed_test},
    {"allreduce", call_allreduce},
    {"barrier", call_barrier},
};

int main(int argc, char **argv)
{
    for (size_t at = 0; argc == 4 && at < sizeof kinds / sizeof *kinds; at++) {
        if (strcmp(kinds[at].name, argv[1]) != 0)
            continue;
        long batches = argument(argc, argv, 2), steps = argument(argc, argv, 3);
        MPI_Init(&argc, &argv);
        /* The request that a test never finds completed. */
        MPI_Irecv(buffer, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, &requests[0]);
        if (batches > 0)
            measure(kinds[at].step, 0, batches, steps);
        for (long step = 0; batches == 0 && step < steps; step++)
            kinds[at].step(0);
        MPI_Finalize();
        return 0;
    }
    fprintf(stderr, "usage: one_call KIND BATCHES STEPS\n");
    return 2;
}
