/* persistent_collectives: every collective made once and started several times, those of several at once in another
 * order on each rank than they were made in, on the world and on a part of it with the ranks reversed. Needs an MPI of
 * version 4. */
#include "truth.h"

enum { COUNT = 6, KINDS = 22, SCATTER = 6, STARTS = 5, MOST = 64 };

static int own, members;
static int given[MOST * COUNT], taken[MOST * COUNT];
static int counts[MOST], places[MOST], offsets[MOST];
static MPI_Aint distances[MOST];
static MPI_Datatype types[MOST];

/* What each start of it moves. */
struct made {
    MPI_Request request;
    long long bytes;
};

static long long bytes_of(int blocks)
{
    return (long long)blocks * COUNT * (long long)sizeof(int);
}

#define MADE(name, moved, ...)                          \
    do {                                                \
        T(name, 0, __VA_ARGS__, MPI_INFO_NULL, &at->request); \
        (at++)->bytes = (moved);                        \
    } while (0)

static int make(MPI_Comm on, MPI_Comm ring, struct made *all)
{
    struct made *at = all;
    int last = members - 1;
    long long all_of_it = bytes_of(members), one = bytes_of(1);
    MADE(Barrier_init, 0, on);
    MADE(Bcast_init, one, given, COUNT, MPI_INT, last, on);
    MADE(Reduce_init, one, given, taken, COUNT, MPI_INT, MPI_SUM, last, on);
    MADE(Allreduce_init, one, MPI_IN_PLACE, taken, COUNT, MPI_INT, MPI_SUM, on);
    MADE(Gather_init, one, given, COUNT, MPI_INT, taken, COUNT, MPI_INT, last, on);
    MADE(Gatherv_init, one, given, COUNT, MPI_INT, taken, counts, offsets, MPI_INT, 0, on);
    MADE(Scatter_init, own == last ? all_of_it : one, given, COUNT, MPI_INT, taken, COUNT, MPI_INT, last, on);
    MADE(Scatterv_init, own == 0 ? all_of_it : one, given, counts, offsets, MPI_INT, taken, COUNT, MPI_INT, 0, on);
    MADE(Allgather_init, one, given, COUNT, MPI_INT, taken, COUNT, MPI_INT, on);
    MADE(Allgatherv_init, one, given, COUNT, MPI_INT, taken, counts, offsets, MPI_INT, on);
    MADE(Alltoall_init, all_of_it, given, COUNT, MPI_INT, taken, COUNT, MPI_INT, on);
    MADE(Alltoallv_init, all_of_it, given, counts, offsets, MPI_INT, taken, counts, offsets, MPI_INT, on);
    MADE(Alltoallw_init, all_of_it, given, counts, places, types, taken, counts, places, types, on);
    MADE(Reduce_scatter_init, all_of_it, given, taken, counts, MPI_INT, MPI_SUM, on);
    MADE(Reduce_scatter_block_init, all_of_it, given, taken, COUNT, MPI_INT, MPI_SUM, on);
    MADE(Scan_init, one, given, taken, COUNT, MPI_INT, MPI_SUM, on);
    MADE(Exscan_init, one, given, taken, COUNT, MPI_INT, MPI_SUM, on);
    MADE(Neighbor_allgather_init, one, given, COUNT, MPI_INT, taken, COUNT, MPI_INT, ring);
    MADE(Neighbor_allgatherv_init, one, given, COUNT, MPI_INT, taken, counts, offsets, MPI_INT, ring);
    MADE(Neighbor_alltoall_init, 2 * one, given, COUNT, MPI_INT, taken, COUNT, MPI_INT, ring);
    MADE(Neighbor_alltoallv_init, 2 * one, given, counts, offsets, MPI_INT, taken, counts, offsets, MPI_INT, ring);
    MADE(Neighbor_alltoallw_init, 2 * one, given, counts, distances, types, taken, counts, distances, types, ring);
    return (int)(at - all);
}

static void started(const struct made *one)
{
    atomic_fetch_add_explicit(&truth_moved_bytes[TRUTH_Start], one->bytes, memory_order_relaxed);
}

static void on(MPI_Comm communicator)
{
    struct made all[KINDS];
    MPI_Comm ring;
    int periodic = 1;
    MPI_Comm_rank(communicator, &own);
    MPI_Comm_size(communicator, &members);
    truth_require(members <= MOST);
    T(Cart_create, 0, communicator, 1, &members, &periodic, 0, &ring);
    truth_require(make(communicator, ring, all) == KINDS);
    for (int round = 0; round < STARTS; round++)
        for (int kind = 0; kind < KINDS; kind++) {
            /* MPICH 4.0's own fails when it is started again. */
            if (kind == SCATTER && round > 0)
                continue;
            started(&all[kind]);
            T_Start(&all[kind].request);
            T_Wait(&all[kind].request, MPI_STATUS_IGNORE);
        }
    /* Two at once: it is the order in which they were made that says which is which. */
    MPI_Request two[2] = {all[3].request, all[8].request};
    for (int round = 0; round < STARTS; round++) {
        int bytes = (int)(all[3].bytes + all[8].bytes);
        atomic_fetch_add_explicit(&truth_moved_bytes[TRUTH_Startall], bytes, memory_order_relaxed);
        T_Startall(2, two);
        T_Waitall(2, two, MPI_STATUSES_IGNORE);
    }
    for (int kind = 0; kind < KINDS; kind++)
        T_Request_free(&all[kind].request);
    T_Comm_free(&ring);
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    int rank;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int at = 0; at < MOST; at++) {
        counts[at] = COUNT;
        offsets[at] = at * COUNT;
        places[at] = at * COUNT * (int)sizeof(int);
        distances[at] = places[at];
        types[at] = MPI_INT;
    }
    on(MPI_COMM_WORLD);
    T_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    on(half);
    T_Comm_free(&half);
    T_Finalize();
    return 0;
}
