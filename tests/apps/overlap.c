/* overlap [pieces]: even ranks work in pieces and ask once after each whether a message has come, which their odd
 * neighbours send only afterwards. A last rank without a neighbour has nothing to do. Rank 0 says how long the asking took
 * by its own clock, and without what is far longer than usual: where ranks share cores, a poll may give the processor away. */
#define _POSIX_C_SOURCE 200809L
#include "pace.h"
#include "truth.h"

static const MPI_Comm world = MPI_COMM_WORLD;

static volatile double worked = 1;

static int compare(const void *one, const void *other)
{
    long long a = *(const long long *)one, b = *(const long long *)other;
    return (a > b) - (a < b);
}

static void work(void)
{
    for (int step = 0; step < 100000; step++)
        worked = worked * 0.999999 + 1e-6;
}

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    long pieces = truth_argument(argc, argv, 1, 300);
    int partner = rank ^ 1, go = 1, found = 0, sent = 10;

    if (partner < size && rank % 2 == 0) {
        MPI_Request request;
        T_Irecv(&found, 1, MPI_INT, partner, 1, world, &request);
        long long asking_ns = 0, *each_ns = malloc((size_t)pieces * sizeof *each_ns);
        truth_require(each_ns != NULL);
        for (long piece = 0; piece < pieces; piece++) {
            int flag;
            work();
            long long asked_ns = now_ns();
            T_Test(&request, &flag, MPI_STATUS_IGNORE);
            each_ns[piece] = now_ns() - asked_ns;
            asking_ns += each_ns[piece];
            truth_require(!flag);
        }
        qsort(each_ns, (size_t)pieces, sizeof *each_ns, compare);
        long long most_ns = 10 * each_ns[pieces / 2], undisturbed_ns = 0;
        for (long piece = 0; piece < pieces; piece++)
            undisturbed_ns += each_ns[piece] < most_ns ? each_ns[piece] : most_ns;
        if (rank == 0)
            fprintf(stderr, "asking took %lld ns, undisturbed %lld ns\n", asking_ns, undisturbed_ns);
        free(each_ns);
        T_Send(&go, 1, MPI_INT, partner, 0, world);
        T_Wait(&request, MPI_STATUS_IGNORE);
        truth_require(found == sent);
    } else if (partner < size) {
        T_Recv(&go, 1, MPI_INT, partner, 0, world, MPI_STATUS_IGNORE);
        T_Send(&sent, 1, MPI_INT, partner, 1, world);
    }

    T_Finalize();
    return 0;
}
