/* sites: calls each function of MPI in one place, which a mark beside it names, with the function that it is in. */
#include <mpi.h>
#include <pthread.h>

void in_library(MPI_Comm comm);

/* After the last call of a function: the call is then no jump. */
static volatile int kept;

static __attribute__((noinline)) void *in_thread(void *rank)
{
    int value = 7;
    if (*(int *)rank == 0)
        MPI_Ssend(&value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD); /* site: MPI_Ssend in in_thread */
    kept = value;
    return NULL;
}

static __attribute__((noinline)) void solve(int rank, int rounds)
{
    int value = rank;
    MPI_Request request;
    for (int round = 0; round < rounds; round++) {
        if (rank == 0)
            MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* site: MPI_Send in solve */
        if (rank == 1)
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* site: MPI_Recv in solve */
        if (rank == 1)
            MPI_Isend(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request); /* site: MPI_Isend in solve */
        if (rank == 0)
            MPI_Irecv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request); /* site: MPI_Irecv in solve */
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* site: MPI_Wait in solve */
    }
    kept = value;
}

static inline __attribute__((always_inline)) int inlined(int value)
{
    int sum;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* site: MPI_Allreduce in main */
    return sum;
}

int main(int argc, char **argv)
{
    int rank, provided, value = 0;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided); /* site: MPI_Init_thread in main */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    solve(rank, 50);
    kept = inlined(rank);
    in_library(MPI_COMM_WORLD);
    if (provided == MPI_THREAD_MULTIPLE) {
        pthread_create(&thread, NULL, in_thread, &rank);
        if (rank == 1) {
            MPI_Probe(0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* site: MPI_Probe in main */
            MPI_Request request;
            MPI_Recv_init(&value, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &request);
            MPI_Start(&request); /* site: MPI_Start in main */
            MPI_Status status;
            MPI_Waitall(1, &request, &status); /* site: MPI_Waitall in main */
            MPI_Request_free(&request);
        }
        pthread_join(thread, NULL);
    }
    MPI_Finalize(); /* site: MPI_Finalize in main */
    return value < 0;
}
