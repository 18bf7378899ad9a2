/* jumping: a handler of MPI's errors that jumps, out of MPI_Send and over whatever stands between the program and MPI.
 * Each rank then sends three messages of 40 bytes to its right neighbour: the call that was left by a jump must not stop
 * those after it. The standard does not promise that it can be done; both families bear it. */
#include <mpi.h>
#include <setjmp.h>
#include <string.h>

static jmp_buf back;

/* MPI's type of handlers has an ellipsis. */
static void refuse(MPI_Comm *communicator, int *code, ...)
{
    (void)communicator, (void)code;
    longjmp(back, 1);
}

/* Not counted, for it does not return. Deeper in the stack than what comes after it, whatever the frames of those. */
static __attribute__((noinline)) int send_to_nobody(int size)
{
    volatile char depth[8192];
    memset((char *)depth, size, sizeof depth);
    int number = 0;
    return MPI_Send(&number, 1, MPI_INT, size + 1000, 0, MPI_COMM_WORLD) + depth[size % 8192];
}

#include "truth.h"

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(refuse, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);

    if (setjmp(back) == 0) {
        send_to_nobody(size);
        truth_require(!"refused");
    }

    int sent[10] = {0}, received[10];
    for (int message = 0; message < 3; message++) {
        MPI_Request request;
        T_Irecv(received, 10, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &request);
        T_Send(sent, 10, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
        T_Wait(&request, MPI_STATUS_IGNORE);
    }
    T_Finalize();
    return 0;
}
