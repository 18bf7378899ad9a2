/* fork [exchanges]: a rank forks a child that ends at once, running all that runs at an exit, and goes on with one
 * thread more than before. What the child's end gives back, were it to give back its parent's, the new thread would
 * take while the main thread still uses it. */
#define _POSIX_C_SOURCE 200809L
#include "truth.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST = 512 };

struct task {
    int tag, rank, partner;
    long exchanges;
};

static void *exchange(void *argument)
{
    const struct task *task = argument;
    int sent[LONGEST] = {0}, received[LONGEST] = {0};
    for (long exchange = 0; exchange < task->exchanges; exchange++) {
        /* The length tells the threads, and the two ranks of a pair, apart. */
        int length = 1 + 2 * task->tag + task->rank % 2 + 8 * (int)(exchange % 50), expected = length;
        expected += task->rank % 2 ? -1 : 1;
        sent[0] = (int)exchange;
        MPI_Status status;
        MPI_Request requests[2];
        T_Irecv(received, LONGEST, MPI_INT, task->partner, task->tag, MPI_COMM_WORLD, &requests[0]);
        T_Isend(sent, length, MPI_INT, task->partner, task->tag, MPI_COMM_WORLD, &requests[1]);
        T_Wait(&requests[0], &status);
        T_Wait(&requests[1], MPI_STATUS_IGNORE);
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
    long exchanges = truth_argument(argc, argv, 1, 200);
    struct task before = {0, rank, partner, exchanges}, main_task = {1, rank, partner, exchanges},
                new_task = {2, rank, partner, exchanges};
    exchange(&before);

    pid_t child = fork();
    truth_require(child >= 0);
    if (child == 0)
        exit(0);
    int status;
    truth_require(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);

    pthread_t thread;
    truth_require(pthread_create(&thread, NULL, exchange, &new_task) == 0);
    exchange(&main_task);
    pthread_join(thread, NULL);

    T_Finalize();
    return 0;
}
