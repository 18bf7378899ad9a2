/* reductions: every collective that computes, and the barriers, blocking and nonblocking, on the world, on a part of it
 * and between two groups. The collectives that move blocks are in collectives.c. For two ranks or more. */
#include "collective.h"

enum { COUNT = 3, TOTAL = 12 };

/* Each rank brings its number plus one, and its position in the block a hundred times. */
static void bring(int *buffer, int count)
{
    for (int position = 0; position < count; position++)
        buffer[position] = own + 1 + 100 * position;
}

/* What that sums up to over N ranks. */
static int sum_over(int ranks, int position)
{
    return ranks * (ranks + 1) / 2 + 100 * position * ranks;
}

static int is_sum_over(int ranks, const int *buffer, int count, int first)
{
    for (int position = 0; position < count; position++)
        if (buffer[position] != sum_over(ranks, first + position))
            return 0;
    return 1;
}

static void reduce(int count, int in_place)
{
    int brought[COUNT], sum[COUNT], keeps = in_place && is_root;
    bring(keeps ? sum : brought, count);
    CALL(Reduce, Ireduce, keeps ? MPI_IN_PLACE : brought, is_root ? sum : NULL, count, MPI_INT, MPI_SUM, root,
         communicator);
    truth_require(!is_root || is_sum_over(peers, sum, count, 0));
}

static void allreduce(int count, int in_place)
{
    int brought[COUNT], sum[COUNT];
    bring(in_place ? sum : brought, count);
    CALL(Allreduce, Iallreduce, in_place ? MPI_IN_PLACE : brought, sum, count, MPI_INT, MPI_SUM, communicator);
    truth_require(is_sum_over(peers, sum, count, 0));
}

static void scans(int count, int in_place)
{
    int brought[COUNT], sum[COUNT];
    bring(in_place ? sum : brought, count);
    CALL(Scan, Iscan, in_place ? MPI_IN_PLACE : brought, sum, count, MPI_INT, MPI_SUM, communicator);
    truth_require(is_sum_over(own + 1, sum, count, 0));
    bring(in_place ? sum : brought, count);
    CALL(Exscan, Iexscan, in_place ? MPI_IN_PLACE : brought, sum, count, MPI_INT, MPI_SUM, communicator);
    truth_require(own == 0 || is_sum_over(own, sum, count, 0)); /* rank 0 gets nothing that means anything */
}

/* Parts of several lengths, none among them when the ranks are many. Both groups' parts add up to the same. */
static void reduce_scatter(int in_place)
{
    int brought[TOTAL], sum[TOTAL], counts[members], first = 0;
    for (int member = 0; member < members; member++) {
        counts[member] = TOTAL / members + (member < TOTAL % members);
        first += member < own ? counts[member] : 0;
    }
    bring(in_place ? sum : brought, TOTAL);
    long long moved = TOTAL * (long long)sizeof(int);
    CALL(Reduce_scatter, Ireduce_scatter, moved, in_place ? MPI_IN_PLACE : brought, sum, counts, MPI_INT, MPI_SUM,
         communicator);
    truth_require(is_sum_over(peers, sum, counts[own], first));
}

/* Between groups as long that both add up to the same. */
static void reduce_scatter_block(int count, int in_place)
{
    int all = count * members, brought[all + 1], sum[all + 1];
    bring(in_place ? sum : brought, all);
    long long moved = all * (long long)sizeof(int);
    CALL(Reduce_scatter_block, Ireduce_scatter_block, moved, in_place ? MPI_IN_PLACE : brought, sum, count, MPI_INT,
         MPI_SUM, communicator);
    truth_require(is_sum_over(peers, sum, count, own * count));
}

static void rooted(void)
{
    reduce(0, 0);
    reduce(COUNT, 0);
    if (!is_inter)
        reduce(COUNT, 1);
}

static void unrooted(void)
{
    if (is_nonblocking) {
        MPI_Request request;
        T_Ibarrier(communicator, &request);
        complete(&request);
    } else {
        T_Barrier(communicator);
    }
    for (int in_place = 0; in_place < (is_inter ? 1 : 2); in_place++) {
        allreduce(0, in_place);
        allreduce(COUNT, in_place);
        reduce_scatter(in_place);
        reduce_scatter_block(is_inter ? peers : 2, in_place);
        if (!is_inter) {
            scans(0, in_place);
            scans(COUNT, in_place);
        }
    }
    /* Several at once, completed in another order than they were started. */
    if (is_nonblocking && !is_inter) {
        int brought[2][COUNT], sums[2][COUNT];
        MPI_Request requests[3];
        bring(brought[0], COUNT);
        bring(brought[1], COUNT);
        T_Iallreduce(brought[0], sums[0], COUNT, MPI_INT, MPI_SUM, communicator, &requests[0]);
        T_Ibarrier(communicator, &requests[1]);
        T_Iscan(brought[1], sums[1], COUNT, MPI_INT, MPI_SUM, communicator, &requests[2]);
        complete(&requests[2]);
        complete(&requests[0]);
        complete(&requests[1]);
        truth_require(is_sum_over(peers, sums[0], COUNT, 0) && is_sum_over(own + 1, sums[1], COUNT, 0));
    }
}

int main(int argc, char **argv)
{
    T_Init(&argc, &argv);
    on_every_communicator(rooted, unrooted);
    T_Finalize();
    return 0;
}
