/* one_sided: windows of every kind, what goes into them and comes out of them in every form, between every kind of
 * synchronization: fences, groups of those who expose and those who reach, locks of one and of all. Nothing of it is a
 * message. For two ranks or more. */
#include "truth.h"

enum { CELLS = 256, TAG = 6 };

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, size, right, left;
static int own[CELLS], result[CELLS];

static long long bytes_of(int count)
{
    return count * (long long)sizeof(int);
}

/* Every form, with requests and without, also for nobody. A vector of every second integer has half its extent. */
static void reach(MPI_Win window, int to, int with_requests)
{
    MPI_Datatype every_second;
    MPI_Request requests[4];
    int real = to != MPI_PROC_NULL, one = rank, compared = -1;
    MPI_Type_vector(4, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    T(Put, real * bytes_of(10), own, 10, MPI_INT, to, 0, 10, MPI_INT, window);
    T(Put, real * bytes_of(8), own, 2, every_second, to, 20, 8, MPI_INT, window);
    T(Put, 0, own, 0, MPI_INT, to, 20, 0, MPI_INT, window);
    T(Accumulate, real * bytes_of(5), own, 5, MPI_INT, to, 40, 5, MPI_INT, MPI_SUM, window);
    if (with_requests) {
        T(Rput, real * bytes_of(11), own, 11, MPI_INT, to, 60, 11, MPI_INT, window, &requests[0]);
        T(Raccumulate, real * bytes_of(4), own, 4, MPI_INT, to, 80, 4, MPI_INT, MPI_SUM, window, &requests[1]);
        T_Wait(&requests[0], MPI_STATUS_IGNORE);
        T_Wait(&requests[1], MPI_STATUS_IGNORE);
        T(Rget, real * bytes_of(6), result, 6, MPI_INT, to, 100, 6, MPI_INT, window, &requests[2]);
        T_Wait(&requests[2], MPI_STATUS_IGNORE);
        T(Rget_accumulate, real * bytes_of(3), own, 3, MPI_INT, result, 3, MPI_INT, to, 40, 3, MPI_INT, MPI_SUM, window,
          &requests[3]);
        T_Waitall(1, &requests[3], MPI_STATUSES_IGNORE);
    }
    T(Get, real * bytes_of(7), result, 7, MPI_INT, to, 120, 7, MPI_INT, window);
    T(Get_accumulate, real * bytes_of(3), own, 3, MPI_INT, result + 10, 3, MPI_INT, to, 40, 3, MPI_INT, MPI_SUM, window);
    /* Where nothing is added its arguments mean nothing. */
    T(Get_accumulate, real * bytes_of(2), NULL, 0, MPI_DATATYPE_NULL, result + 20, 2, MPI_INT, to, 40, 2, MPI_INT,
      MPI_NO_OP, window);
    T(Fetch_and_op, real * bytes_of(1), &one, result + 30, MPI_INT, to, 140, MPI_SUM, window);
    T(Compare_and_swap, real * bytes_of(1), &one, &compared, result + 31, MPI_INT, to, 141, window);
    MPI_Type_free(&every_second);
}

static void fenced(MPI_Win window)
{
    T(Win_fence, 0, MPI_MODE_NOPRECEDE, window);
    reach(window, right, 0);
    reach(window, MPI_PROC_NULL, 0);
    T(Win_fence, 0, 0, window);
    T(Get, bytes_of(3), result, 3, MPI_INT, rank, 0, 3, MPI_INT, window);
    T(Win_fence, 0, MPI_MODE_NOSUCCEED, window);
}

/* The left one reaches here, this one to the right. */
static void exposed(MPI_Win window)
{
    MPI_Group all, from, to;
    int flag = 0;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &left, &from);
    MPI_Group_incl(all, 1, &right, &to);
    for (int round = 0; round < 2; round++) {
        T(Win_post, 0, from, 0, window);
        T(Win_start, 0, to, 0, window);
        reach(window, right, 0);
        T(Win_complete, 0, window);
        if (round == 0)
            T(Win_wait, 0, window);
        else
            while (!flag)
                T(Win_test, 0, window, &flag);
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&all);
}

static void locked(MPI_Win window)
{
    T(Win_lock, 0, MPI_LOCK_EXCLUSIVE, right, 0, window);
    reach(window, right, 1);
    T(Win_flush, 0, right, window);
    T(Win_flush_local, 0, right, window);
    T(Win_unlock, 0, right, window);
    T(Win_lock_all, 0, 0, window);
    for (int to = 0; to < size; to++)
        T(Accumulate, bytes_of(1 + to), own, 1 + to, MPI_INT, to, 160, 1 + to, MPI_INT, MPI_SUM, window);
    T(Win_flush_all, 0, window);
    T(Win_flush_local_all, 0, window);
    T(Win_sync, 0, window);
    T(Win_unlock_all, 0, window);
}

static void of_memory_that_comes_later(void)
{
    MPI_Win window;
    MPI_Aint place, there;
    static int memory[CELLS];
    T(Win_create_dynamic, 0, MPI_INFO_NULL, world, &window);
    T(Win_attach, 0, window, memory, sizeof memory);
    MPI_Get_address(memory, &place);
    T_Sendrecv(&place, 1, MPI_AINT, left, TAG, &there, 1, MPI_AINT, right, TAG, world, MPI_STATUS_IGNORE);
    T(Win_lock, 0, MPI_LOCK_SHARED, right, 0, window);
    T(Put, bytes_of(9), own, 9, MPI_INT, right, there, 9, MPI_INT, window);
    T(Win_unlock, 0, right, window);
    T_Barrier(world);
    T(Win_detach, 0, window, memory);
    T(Win_free, 0, &window);
}

/* The ranks of a window are those of its communicator: here they go the other way. */
static void on_part_of_the_world(void)
{
    MPI_Comm backward;
    MPI_Win window;
    int *memory;
    T_Comm_split(world, 0, -rank, &backward);
    T(Win_allocate, 0, CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, backward, &memory, &window);
    T(Win_fence, 0, 0, window);
    T(Put, bytes_of(rank + 1), own, rank + 1, MPI_INT, 0, 0, rank + 1, MPI_INT, window);
    T(Win_fence, 0, 0, window);
    T(Win_free, 0, &window);
    T_Comm_free(&backward);
}

int main(int argc, char **argv)
{
    static int memory[CELLS];
    int *shared;
    MPI_Win window;
    MPI_Comm node;
    T_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    for (int round = 0; round < 2; round++) {
        T(Win_create, 0, memory, sizeof memory, sizeof(int), MPI_INFO_NULL, world, &window);
        MPI_Win_set_name(window, "of memory");
        fenced(window);
        exposed(window);
        locked(window);
        T_Barrier(world);
        T(Win_free, 0, &window);
    }
    of_memory_that_comes_later();
    on_part_of_the_world();
    T(Comm_split_type, 0, world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    T(Win_allocate_shared, 0, CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &shared, &window);
    T(Win_fence, 0, 0, window);
    T(Win_free, 0, &window);
    T_Comm_free(&node);
    T_Finalize();
    return 0;
}
