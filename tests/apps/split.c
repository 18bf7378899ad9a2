/* split [rounds]: traffic on communicators whose ranks are not the world's. They are created and freed again and
 * again: their handles come back with other members. */
#include "truth.h"

static int world_rank, world_size;

static int world_rank_of(int rank, MPI_Comm communicator)
{
    MPI_Group group, world_group;
    int translated;
    MPI_Comm_group(communicator, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world_group);
    MPI_Group_translate_ranks(group, 1, &rank, world_group, &translated);
    MPI_Group_free(&group);
    MPI_Group_free(&world_group);
    return translated;
}

/* Each rank tells its neighbours, in the communicator's order, its world rank; then all the collectives. */
static void talk(MPI_Comm communicator)
{
    int rank, size, received, sum, check = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    T_Sendrecv(&world_rank, 1, MPI_INT, right, 1, &received, 1, MPI_INT, left, 1, communicator, &status);
    truth_require(status.MPI_SOURCE == left && received == world_rank_of(left, communicator));
    T_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, 2, communicator, &request);
    T_Send(&world_rank, 1, MPI_INT, left, 2, communicator);
    T_Wait(&request, &status);
    truth_require(status.MPI_SOURCE == right && received == world_rank_of(right, communicator));

    for (int member = 0; member < size; member++)
        check += world_rank_of(member, communicator);
    T_Barrier(communicator);
    int root = size - 1, broadcast = world_rank;
    T_Bcast(&broadcast, 1, MPI_INT, root, communicator);
    truth_require(broadcast == world_rank_of(root, communicator));
    T_Reduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, 0, communicator);
    truth_require(rank != 0 || sum == check);
    T_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, communicator);
    truth_require(sum == check);
}

int main(int argc, char **argv)
{
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    long rounds = truth_argument(argc, argv, 1, 5);
    MPI_Group world_group;
    MPI_Comm_group(MPI_COMM_WORLD, &world_group);

    for (long round = 0; round < rounds; round++) {
        /* By parity and backwards. In every other round the parities are exchanged and one rank stays outside, so
         * the same handle does not mean the same members. */
        MPI_Comm half, copy = MPI_COMM_NULL, third;
        int colour = (world_rank + (int)round) % 2;
        if (world_size > 2 && world_rank == (int)(round % world_size))
            colour = MPI_UNDEFINED;
        T_Comm_split(MPI_COMM_WORLD, colour, -world_rank, &half);
        truth_require((half == MPI_COMM_NULL) == (colour == MPI_UNDEFINED));
        if (half != MPI_COMM_NULL) {
            T_Comm_dup(half, &copy);
            talk(half);
        }

        /* Every third rank, counted from another first one each round; the others get no communicator. */
        int members[world_size], member_count = 0, first = (int)(round % (world_size < 3 ? world_size : 3));
        for (int member = first; member < world_size; member += 3)
            members[member_count++] = member;
        MPI_Group group;
        MPI_Group_incl(world_group, member_count, members, &group);
        T_Comm_create(MPI_COMM_WORLD, group, &third);
        MPI_Group_free(&group);
        truth_require((third == MPI_COMM_NULL) == (world_rank % 3 != first));

        /* The copy outlives what it was copied from. */
        if (half != MPI_COMM_NULL) {
            T_Comm_free(&half);
            talk(copy);
        }
        if (third != MPI_COMM_NULL) {
            talk(third);
            T_Comm_free(&third);
        }
        if (copy != MPI_COMM_NULL)
            T_Comm_free(&copy);
    }

    MPI_Group_free(&world_group);
    T_Finalize();
    return 0;
}
