/* threads [exchanges of each thread]: four threads a rank, each with a counterpart on the neighbour rank and a tag
 * of its own, in MPI at the same time. */
#include "truth.h"
#include <pthread.h>

enum { THREADS = 4, LONGEST = 512 };

struct task {
    int number, rank, partner;
    long exchanges;
};

static void *exchange(void *argument)
{
    const struct task *task = argument;
    int sent[LONGEST] = {0}, received[LONGEST] = {0};
    for (long exchange = 0; exchange < task->exchanges; exchange++) {
        /* The length tells the threads, and the two ranks of a pair, apart. */
        int length = 1 + 2 * task->number + task->rank % 2 + 8 * (int)(exchange % 50), expected = length;
        expected += task->rank % 2 ? -1 : 1;
        sent[0] = (int)exchange;
        MPI_Status status;
        if (exchange % 2 == 0) {
            MPI_Request requests[2];
            T_Irecv(received, LONGEST, MPI_INT, task->partner, task->number, MPI_COMM_WORLD, &requests[0]);
            T_Isend(sent, length, MPI_INT, task->partner, task->number, MPI_COMM_WORLD, &requests[1]);
            T_Wait(&requests[0], &status);
            T_Wait(&requests[1], MPI_STATUS_IGNORE);
        } else {
            T_Sendrecv(sent, length, MPI_INT, task->partner, task->number, received, LONGEST, MPI_INT,
                       task->partner, task->number, MPI_COMM_WORLD, &status);
        }
        if (task->partner == MPI_PROC_NULL)
            continue;
        int count;
        MPI_Get_count(&status, MPI_INT, &count);
        truth_require(count == expected && received[0] == (int)exchange);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, size;
    if (!truth_init_threads(&argc, &argv))
        return 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    /* A last rank without a neighbour makes the same calls to nobody. */
    int partner = (rank ^ 1) < size ? rank ^ 1 : MPI_PROC_NULL;
    pthread_t threads[THREADS];
    struct task tasks[THREADS];
    for (int number = 0; number < THREADS; number++) {
        tasks[number] = (struct task){number, rank, partner, truth_argument(argc, argv, 1, 50)};
        truth_require(pthread_create(&threads[number], NULL, exchange, &tasks[number]) == 0);
    }
    for (int number = 0; number < THREADS; number++)
        pthread_join(threads[number], NULL);

    T_Finalize();
    return 0;
}
