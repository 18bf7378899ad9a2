/* topologies: communicators made in every way, each with a name of its own: grids and parts of them, graphs told by
 * all and by each, groups, both sides of an intercommunicator and what is merged from it, duplicates that come later.
 * Over each of them messages of a size that no other has, and collectives among its neighbours in all forms. For two
 * ranks or more. */
#include "truth.h"

enum { MOST_NEIGHBORS = 64, LONGEST = 64, TAG = 4 };

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, size, made;
static int sent[MOST_NEIGHBORS * LONGEST], received[MOST_NEIGHBORS * LONGEST];

/* What the last communicator is called: the recording has to have it. */
static void name(MPI_Comm communicator, const char *what)
{
    MPI_Comm_set_name(communicator, what);
    made++;
}

/* Round a communicator, by ranks of it. */
static void ring(MPI_Comm communicator)
{
    int own, members, inter;
    MPI_Status status;
    MPI_Comm_rank(communicator, &own);
    MPI_Comm_size(communicator, &members);
    MPI_Comm_test_inter(communicator, &inter);
    truth_require(!inter);
    T_Sendrecv(sent, 10 + made, MPI_INT, (own + 1) % members, TAG, received, LONGEST, MPI_INT,
               (own + members - 1) % members, TAG, communicator, &status);
    truth_require(status.MPI_SOURCE == (own + members - 1) % members);
    T_Barrier(communicator);
}

static long long bytes_of(int neighbors, int count)
{
    return (long long)neighbors * count * (long long)sizeof(int);
}

static void complete(MPI_Request *request)
{
    T_Wait(request, MPI_STATUS_IGNORE);
}

/* Who sends to nobody moves what it receives. */
static void among_neighbors(MPI_Comm communicator, int sources, int destinations)
{
    int counts[MOST_NEIGHBORS], places[MOST_NEIGHBORS];
    MPI_Aint offsets[MOST_NEIGHBORS];
    MPI_Datatype types[MOST_NEIGHBORS];
    MPI_Request request;
    truth_require(sources <= MOST_NEIGHBORS && destinations <= MOST_NEIGHBORS);
    for (int at = 0; at < MOST_NEIGHBORS; at++) {
        counts[at] = 3;
        places[at] = 3 * at;
        offsets[at] = 3 * at * (MPI_Aint)sizeof(int);
        types[at] = MPI_INT;
    }
    long long gathered = destinations > 0 ? bytes_of(1, 3) : bytes_of(sources, 3);
    long long exchanged = destinations > 0 ? bytes_of(destinations, 3) : bytes_of(sources, 3);
    T(Neighbor_allgather, gathered, sent, 3, MPI_INT, received, 3, MPI_INT, communicator);
    T(Neighbor_allgatherv, gathered, sent, 3, MPI_INT, received, counts, places, MPI_INT, communicator);
    T(Neighbor_alltoall, exchanged, sent, 3, MPI_INT, received, 3, MPI_INT, communicator);
    T(Neighbor_alltoallv, exchanged, sent, counts, places, MPI_INT, received, counts, places, MPI_INT, communicator);
    T(Neighbor_alltoallw, exchanged, sent, counts, offsets, types, received, counts, offsets, types, communicator);
    T(Ineighbor_allgather, gathered, sent, 3, MPI_INT, received, 3, MPI_INT, communicator, &request);
    complete(&request);
    T(Ineighbor_allgatherv, gathered, sent, 3, MPI_INT, received, counts, places, MPI_INT, communicator, &request);
    complete(&request);
    T(Ineighbor_alltoall, exchanged, sent, 3, MPI_INT, received, 3, MPI_INT, communicator, &request);
    complete(&request);
    T(Ineighbor_alltoallv, exchanged, sent, counts, places, MPI_INT, received, counts, places, MPI_INT, communicator,
      &request);
    complete(&request);
    T(Ineighbor_alltoallw, exchanged, sent, counts, offsets, types, received, counts, offsets, types, communicator,
      &request);
    complete(&request);
}

static void grids(void)
{
    MPI_Comm grid, row;
    int sizes[2] = {0, 0}, periods[2] = {1, 0}, keep[2] = {0, 1};
    MPI_Dims_create(size, 2, sizes);
    T(Cart_create, 0, world, 2, sizes, periods, 0, &grid);
    name(grid, "grid");
    ring(grid);
    /* Also those that are nobody, behind the ends, count as neighbours. */
    among_neighbors(grid, 4, 4);
    T(Cart_sub, 0, grid, keep, &row);
    name(row, "row of the grid");
    ring(row);
    among_neighbors(row, 2, 2);
    T_Comm_free(&row);
    T_Comm_free(&grid);
}

static void graphs(void)
{
    MPI_Comm graph;
    int *index = malloc(2 * (size_t)size * sizeof *index), *edges = index + size;
    int next = (rank + 1) % size, before = (rank + size - 1) % size, degree = rank > 0, to_first = 0;
    truth_require(index);
    for (int at = 0; at < size; at++) {
        index[at] = at + 1;
        edges[at] = at ^ 1;
    }
    int even = size - size % 2;
    /* Pairs; who is left is in no graph. */
    T(Graph_create, 0, world, even, index, edges, 0, &graph);
    if (graph != MPI_COMM_NULL) {
        name(graph, "pairs");
        ring(graph);
        among_neighbors(graph, 1, 1);
        T_Comm_free(&graph);
    }
    /* A ring, told by each for its own. */
    T(Dist_graph_create_adjacent, 0, world, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
      &graph);
    name(graph, "ring");
    ring(graph);
    among_neighbors(graph, 1, 1);
    T_Comm_free(&graph);
    /* All to the first, which sends to nobody. */
    T(Dist_graph_create, 0, world, 1, &rank, &degree, &to_first, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    name(graph, "star");
    ring(graph);
    among_neighbors(graph, rank == 0 ? size - 1 : 0, degree);
    T_Comm_free(&graph);
    free(index);
}

static void groups(void)
{
    MPI_Group all, part;
    MPI_Comm half, other, between, merged;
    int range[1][3] = {{rank % 2, size - 1 - (size - 1 - rank % 2) % 2, 2}};
    MPI_Comm_group(world, &all);
    MPI_Group_range_incl(all, 1, range, &part);
    /* Odd ranks make more of them: counting calls by the parent does not agree. */
    for (int again = 0; again <= rank % 2; again++) {
        T(Comm_create_group, 0, world, part, TAG, &half);
        ring(half);
        if (again < rank % 2)
            T_Comm_free(&half);
    }
    T(Comm_create_group, 0, world, part, TAG, &other);
    ring(other);
    T(Intercomm_create, 0, half, 0, world, 1 - rank % 2, TAG, &between);
    name(between, "between");
    T_Barrier(between);
    int own, others;
    MPI_Comm_rank(between, &own);
    MPI_Comm_remote_size(between, &others);
    if (own < others)
        T_Sendrecv(sent, 40, MPI_INT, own, TAG, received, LONGEST, MPI_INT, own, TAG, between, MPI_STATUS_IGNORE);
    T(Intercomm_merge, 0, between, rank % 2, &merged);
    name(merged, "merged");
    ring(merged);
    T_Comm_free(&merged);
    T_Comm_free(&between);
    T_Comm_free(&other);
    T_Comm_free(&half);
    MPI_Group_free(&part);
    MPI_Group_free(&all);
}

static void duplicates(void)
{
    MPI_Comm later, node, informed;
    MPI_Request request;
    T(Comm_idup, 0, world, &later, &request);
    complete(&request);
    name(later, "later");
    ring(later);
    T(Comm_split_type, 0, world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    name(node, "node");
    ring(node);
    T(Comm_dup_with_info, 0, later, MPI_INFO_NULL, &informed);
    ring(informed);
    T(Comm_disconnect, 0, &informed);
    T_Comm_free(&node);
    T_Comm_free(&later);
}

int main(int argc, char **argv)
{
    T_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    for (int round = 0; round < 2; round++) {
        grids();
        graphs();
        groups();
        duplicates();
    }
    T_Finalize();
    return 0;
}
