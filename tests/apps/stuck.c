/* stuck KIND [seconds]: a job that hangs in a known way. Kinds that end do so after that number of seconds.
 *
 * ring      each receives from the next, and nobody sends: a circle
 * tags      rank 0 sends with tag 5 and rank 1 receives with tag 6; the others wait for rank 1
 * left-out  all but the last enter a barrier; the last waits for a message from rank 0
 * any       all receive from anybody, and nobody sends
 * chain     each receives from the next; the last computes, then all goes on
 * asks      each receives from the next; the last asks for a message that nobody sends, and sleeps in between
 * gone      each receives from the next; the last kills itself
 * waitall   each has posted receives from both neighbours and waits for them, and nobody sends */
#define _POSIX_C_SOURCE 200809L
#include "pace.h"
#include "patient.h"
#include "truth.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void receive(int from, int tag)
{
    int got = 0;
    T_Recv(&got, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int to, int tag)
{
    int sent = rank;
    T_Ssend(&sent, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

static void chain(double seconds, int dies)
{
    if (rank < size - 1)
        receive(rank + 1, 7);
    else {
        /* By then the others wait. */
        sleep_until(now_ns() + (long long)(seconds * 1e9));
        if (dies)
            raise(SIGKILL);
    }
    if (rank > 0)
        send(rank - 1, 7);
}

/* As patient programs do: with some tenths of a second in between. */
static void ask(void)
{
    int got = 0, flag = 0;
    MPI_Request request;
    T_Irecv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    while (!flag) {
        T_Test(&request, &flag, MPI_STATUS_IGNORE);
        sleep_until(now_ns() + 250000000LL);
    }
}

static void halo(void)
{
    int got[2];
    MPI_Request requests[2];
    T_Irecv(&got[0], 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &requests[0]);
    T_Irecv(&got[1], 1, MPI_INT, (rank + size - 1) % size, 4, MPI_COMM_WORLD, &requests[1]);
    T_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *kind = argc > 1 ? argv[1] : "chain";
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 0.3;
    T_Barrier(MPI_COMM_WORLD);

    if (strcmp(kind, "ring") == 0)
        receive((rank + 1) % size, 7);
    else if (strcmp(kind, "tags") == 0 && rank == 0)
        send(1, 5);
    else if (strcmp(kind, "tags") == 0)
        receive(rank == 1 ? 0 : 1, 6);
    else if (strcmp(kind, "left-out") == 0 && rank == size - 1)
        receive(0, 7);
    else if (strcmp(kind, "left-out") == 0)
        T_Barrier(MPI_COMM_WORLD);
    else if (strcmp(kind, "asks") == 0 && rank == size - 1)
        ask();
    else if (strcmp(kind, "asks") == 0)
        receive(rank + 1, 7);
    else if (strcmp(kind, "any") == 0)
        receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
    else if (strcmp(kind, "waitall") == 0)
        halo();
    else
        chain(seconds, strcmp(kind, "gone") == 0);

    T_Finalize();
    return 0;
}
