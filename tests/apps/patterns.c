/* patterns PATTERN [steps] [us] [factor] [bytes] [slow_rank] [computes]: exchanges of a pattern (ring, pipeline, halo,
   wavefront, allreduce, groups, root, dealt; waits, persistent, started, reduce, pairs, neighbors, fence, exposed, polls, sparse are
   the same by other calls) between stretches of work. One rank has factor times as much; with slow_rank -1 work grows from
   rank to rank up to that, with -2 each rank is the slow one for a part of the run, with -3 for some steps. Work is sleeping: more
   ranks than processors do not disturb each other; with computes 1 it is computing. Of root all others send to rank 0, which works
   for each of them factor times a hundredth of the time. Of dealt rank 0 deals tasks of different lengths to whoever asks. */
#define _POSIX_C_SOURCE 200809L

#include "truth.h"
#include "pace.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 1024 };
static int rank, size, bytes, computes;
static char *out, *in;

static void put(int to, int tag)
{
    T_Send(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

static void get(int from, int tag)
{
    T_Recv(in, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void swap(int to, int from)
{
    T_Sendrecv(out, bytes, MPI_BYTE, to, 1, in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void work(long us)
{
    if (computes)
        compute_ns(1000 * us);
    else
        sleep_until(now_ns() + 1000 * us);
}

/* What some patterns exchange by, as in a ring of all ranks. */
static MPI_Request persistent[2];
static MPI_Comm grid, pairs;
static MPI_Group before, after;
static MPI_Win window;

static void prepare(const char *pattern, int left, int right)
{
    int all_around = 1;
    if (strcmp(pattern, "persistent") == 0) {
        T_Send_init(out, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &persistent[0]);
        T_Recv_init(in, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &persistent[1]);
    } else if (strcmp(pattern, "pairs") == 0) {
        T_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pairs);
    } else if (strcmp(pattern, "neighbors") == 0) {
        T(Cart_create, 0, MPI_COMM_WORLD, 1, &size, &all_around, 0, &grid);
    } else if (strcmp(pattern, "fence") == 0 || strcmp(pattern, "exposed") == 0) {
        MPI_Group world;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 1, &left, &before);
        MPI_Group_incl(world, 1, &right, &after);
        MPI_Group_free(&world);
        void *memory;
        T(Win_allocate, 0, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
        if (strcmp(pattern, "fence") == 0)
            T(Win_fence, 0, 0, window);
    }
}

static void clean_up(const char *pattern)
{
    if (strcmp(pattern, "persistent") == 0) {
        T_Request_free(&persistent[0]);
        T_Request_free(&persistent[1]);
    } else if (strcmp(pattern, "fence") == 0 || strcmp(pattern, "exposed") == 0) {
        T(Win_free, 0, &window);
        MPI_Group_free(&before);
        MPI_Group_free(&after);
    }
}

/* A step by other calls than sends and receives that wait; 0 for a pattern that has none. */
static int exchange_otherwise(const char *pattern, long own_us, int left, int right)
{
    double own = 1, sum = 0;
    if (strcmp(pattern, "started") == 0) {
        MPI_Request request;
        work(own_us / 2);
        T_Iallreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        work(own_us / 2);
        T_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strcmp(pattern, "exposed") == 0) {
        T(Win_post, 0, before, 0, window);
        T(Win_start, 0, after, 0, window);
        work(own_us);
        T(Put, bytes, out, bytes, MPI_BYTE, right, 0, bytes, MPI_BYTE, window);
        T(Win_complete, 0, window);
        T(Win_wait, 0, window);
    } else if (strcmp(pattern, "waits") == 0) {
        MPI_Request requests[2];
        work(own_us);
        T_Isend(out, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[0]);
        T_Irecv(in, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[1]);
        T_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (strcmp(pattern, "persistent") == 0) {
        work(own_us);
        truth_message(bytes, MPI_BYTE, right, MPI_COMM_WORLD);
        T_Startall(2, persistent);
        T_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    } else if (strcmp(pattern, "reduce") == 0) {
        work(own_us);
        T_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    } else if (strcmp(pattern, "pairs") == 0) {
        work(own_us);
        T_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, pairs);
    } else if (strcmp(pattern, "neighbors") == 0) {
        work(own_us);
        T(Neighbor_allgather, bytes, out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, grid);
    } else if (strcmp(pattern, "fence") == 0) {
        work(own_us);
        T(Put, bytes, out, bytes, MPI_BYTE, right, 0, bytes, MPI_BYTE, window);
        T(Win_fence, 0, 0, window);
    } else if (strcmp(pattern, "polls") == 0) {
        MPI_Request requests[2];
        int is_done = 0;
        work(own_us);
        T_Isend(out, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[0]);
        T_Irecv(in, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[1]);
        while (!is_done)
            T_Testall(2, requests, &is_done, MPI_STATUSES_IGNORE);
    } else if (strcmp(pattern, "sparse") == 0) {
        /* Nothing goes to others than the next rank. */
        static int sent[MOST_RANKS], received[MOST_RANKS], from_start[MOST_RANKS];
        truth_require(size <= MOST_RANKS);
        sent[right] = received[left] = bytes;
        work(own_us);
        T_Alltoallv(bytes, out, sent, from_start, MPI_BYTE, in, received, from_start, MPI_BYTE, MPI_COMM_WORLD);
    } else {
        return 0;
    }
    return 1;
}

/* What this rank has to do in a step. */
static long own_work(long step, long steps, long us, long factor, long slow)
{
    if (slow == -1)
        return us + us * (factor - 1) * rank / (size > 1 ? size - 1 : 1);
    if (slow == -2)
        slow = step * size / steps;
    if (slow == -3)
        slow = (long)((unsigned long)step * 2654435761UL % 4294967296UL * (unsigned long)size >> 32);
    return rank == slow ? us * factor : us;
}

/* Rank 0 deals as many tasks as others have steps together; a task takes from half to one and a half times as long. */
static void deal(long tasks)
{
    long none = -1;
    for (long next = 0, asking = size - 1; asking > 0; next++) {
        MPI_Status status;
        T_Recv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        T_Send(next < tasks ? &next : &none, 1, MPI_LONG, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
        asking -= next >= tasks;
    }
}

static void do_tasks(long us)
{
    for (;;) {
        long task;
        put(0, 1);
        T_Recv(&task, 1, MPI_LONG, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task < 0)
            return;
        work(us / 2 + us * (task * 37 % 100) / 100);
    }
}

int main(int argc, char **argv)
{
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *pattern = argc > 1 ? argv[1] : "ring";
    long steps = truth_argument(argc, argv, 2, 100);
    long us = truth_argument(argc, argv, 3, 5000);
    long factor = truth_argument(argc, argv, 4, 3);
    bytes = (int)truth_argument(argc, argv, 5, 1000);
    long slow = truth_argument(argc, argv, 6, 1);
    computes = (int)truth_argument(argc, argv, 7, 0);
    out = calloc(1, (size_t)bytes + 1);
    in = calloc(2, (size_t)bytes + 1);
    truth_require(out != NULL && in != NULL);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    prepare(pattern, left, right);
    T_Barrier(MPI_COMM_WORLD);
    long long begun_ns = now_ns();
    int is_dealt = strcmp(pattern, "dealt") == 0;
    if (is_dealt && rank == 0)
        deal(steps * (size - 1));
    else if (is_dealt)
        do_tasks(us);
    for (long step = 0; step < steps && !is_dealt; step++) {
        long own_us = own_work(step, steps, us, factor, slow);
        if (exchange_otherwise(pattern, own_us, left, right))
            continue;
        if (strcmp(pattern, "ring") == 0) {
            work(own_us);
            swap(right, left);
        } else if (strcmp(pattern, "pipeline") == 0) {
            if (rank > 0)
                get(rank - 1, 1);
            work(own_us);
            if (rank < size - 1)
                put(rank + 1, 1);
        } else if (strcmp(pattern, "halo") == 0) {
            work(own_us);
            swap(right, left);
            swap(left, right);
        } else if (strcmp(pattern, "wavefront") == 0) {
            /* There and back, a sweep each. */
            if (rank > 0)
                get(rank - 1, 1);
            work(own_us / 2);
            if (rank < size - 1) {
                put(rank + 1, 1);
                get(rank + 1, 2);
            }
            work(own_us / 2);
            if (rank > 0)
                put(rank - 1, 2);
        } else if (strcmp(pattern, "groups") == 0) {
            /* Pairs, and everybody now and then. */
            work(own_us);
            if ((rank ^ 1) < size)
                swap(rank ^ 1, rank ^ 1);
            if (step % 25 == 24)
                T_Barrier(MPI_COMM_WORLD);
        } else if (strcmp(pattern, "root") == 0) {
            if (rank > 0) {
                work(us);
                put(0, 1);
                get(0, 2);
            } else {
                for (int from = 1; from < size; from++) {
                    get(from, 1);
                    work(us * factor / 100);
                }
                for (int to = 1; to < size; to++)
                    put(to, 2);
            }
        } else {
            double own = 1, sum = 0;
            work(own_us);
            T_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }

    /* What is counted is exchanged unseen when all are done: until then nobody waits in that. */
    T_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("took %lld ns\n", now_ns() - begun_ns);
    clean_up(pattern);
    free(out);
    free(in);
    T_Finalize();
    return 0;
}
