/* phases [rounds]: stretches of the program that have names, and some that are not to be recorded. Messages of before, of
 * meanwhile and of afterwards have the same channel and different sizes. Rank 0 prints how many calls each rank makes
 * while recording is paused: "paused CALLS". For two ranks or more. */
#include "truth.h"

/* CALLS: in an exchange; POLLS: in a loop that finds nothing. */
enum { TAG = 2, CALLS = 3, POLLS = 5 };

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, right, left;
static int given[4096], taken[4096];

static void exchange(int count)
{
    MPI_Request request;
    MPI_Status status;
    int found;
    T_Irecv(taken, 4096, MPI_INT, left, TAG, world, &request);
    T_Send(given, count, MPI_INT, right, TAG, world);
    T_Wait(&request, &status);
    PMPI_Get_count(&status, MPI_INT, &found);
    truth_require(found == count);
}

static void ask_in_vain(void)
{
    for (int poll = 0; poll < POLLS; poll++) {
        int flag;
        T_Iprobe(left, TAG + 1, world, &flag, MPI_STATUS_IGNORE);
        truth_require(!flag);
    }
}

int main(int argc, char **argv)
{
    int size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    int rounds = (int)truth_argument(argc, argv, 1, 20), paused = 0;
    for (int round = 0; round < rounds; round++) {
        T(Pcontrol, 0, 3, "solve the system");
        exchange(3 * round + 1);
        T(Pcontrol, 0, -3, "solve the system");
        T(Pcontrol, 0, 0);
        exchange(3 * round + 2);
        ask_in_vain();
        paused += CALLS + POLLS;
        T(Pcontrol, 0, 1);
        exchange(3 * round + 3);
    }
    if (rank == 0)
        printf("paused %d\n", paused);
    T_Finalize();
    return 0;
}
