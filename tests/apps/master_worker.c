/* master_worker [tasks]: rank 0 takes results from whoever comes first and answers with the next task. */
#include "truth.h"

enum { STOP_TAG = 0, LARGEST = 3000 };

static int task_length(long task)
{
    return 1 + (int)(task * 37 % LARGEST);
}

/* The order of the results is left to chance, but not who does which task: worker w has tasks w-1, w-1+workers, ...
 * Handing each task to whoever is free would make the number of messages differ from run to run. */
static void send_task(long task, long tasks, int worker)
{
    static int work[LARGEST];
    if (task >= tasks) {
        T_Send(NULL, 0, MPI_INT, worker, STOP_TAG, MPI_COMM_WORLD);
        return;
    }
    work[0] = (int)task;
    T_Send(work, task_length(task), MPI_INT, worker, 1 + (int)(task % 5), MPI_COMM_WORLD);
}

static void be_master(long tasks, int workers)
{
    static int result[LARGEST];
    for (int worker = 1; worker <= workers; worker++)
        send_task(worker - 1, tasks, worker);
    for (long done = 0; done < tasks; done++) {
        MPI_Status status;
        int length;
        T_Recv(result, LARGEST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &length);
        truth_require(result[0] % workers == status.MPI_SOURCE - 1);
        truth_require(length == (task_length(result[0]) + 1) / 2);
        send_task(result[0] + workers, tasks, status.MPI_SOURCE);
    }
}

static void be_worker(void)
{
    for (;;) {
        MPI_Status status;
        int length;
        T_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &length);
        int *work = malloc(((size_t)length + 1) * sizeof *work);
        truth_require(work);
        T_Recv(work, length, MPI_INT, 0, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (status.MPI_TAG != STOP_TAG) {
            truth_require(length == task_length(work[0]));
            T_Send(work, (length + 1) / 2, MPI_INT, 0, status.MPI_TAG, MPI_COMM_WORLD);
        }
        free(work);
        if (status.MPI_TAG == STOP_TAG)
            return;
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* A master without workers would wait for results for ever. */
    long tasks = size > 1 ? truth_argument(argc, argv, 1, 500) : 0;

    if (rank == 0)
        be_master(tasks, size - 1);
    else
        be_worker();

    T_Finalize();
    return 0;
}
