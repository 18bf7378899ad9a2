/* ports: two halves of one job meet as strangers do: by a port, and the first two ranks by a socket. Each time they exchange messages over what that makes, and part. For an even number of
 * ranks. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 3, TAG = 5 };

#define require(condition)                                                                  \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition);       \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                   \
        }                                                                                   \
    } while (0)

static const MPI_Comm world = MPI_COMM_WORLD;

/* Everybody with whoever has the same rank on the other side. */
static void meet(MPI_Comm others, int rank)
{
    for (int round = 0; round < ROUNDS; round++) {
        int given = 100 * rank + round, taken = -1;
        MPI_Sendrecv(&given, 1, MPI_INT, rank, TAG, &taken, 1, MPI_INT, rank, TAG, others, MPI_STATUS_IGNORE);
        require(taken == given);
    }
    MPI_Barrier(others);
    MPI_Comm_disconnect(&others);
}

static void by_port(MPI_Comm half, int is_first, int rank)
{
    MPI_Comm others;
    char port[MPI_MAX_PORT_NAME] = "";
    if (is_first) {
        if (rank == 0) {
            MPI_Open_port(MPI_INFO_NULL, port);
            MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, TAG, world);
        }
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &others);
    } else {
        if (rank == 0)
            MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, TAG, world, MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &others);
    }
    meet(others, rank);
    if (is_first && rank == 0)
        MPI_Close_port(port);
}

/* A connection of the two first ranks, through the loopback. */
static int connected(int listens)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    int end = socket(AF_INET, SOCK_STREAM, 0), other = end;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require(end >= 0);
    if (listens) {
        require(bind(end, (struct sockaddr *)&address, length) == 0 && listen(end, 1) == 0);
        require(getsockname(end, (struct sockaddr *)&address, &length) == 0);
        MPI_Send(&address.sin_port, sizeof address.sin_port, MPI_BYTE, 1, TAG, world);
        other = accept(end, NULL, NULL);
        close(end);
    } else {
        MPI_Recv(&address.sin_port, sizeof address.sin_port, MPI_BYTE, 0, TAG, world, MPI_STATUS_IGNORE);
        require(connect(end, (struct sockaddr *)&address, length) == 0);
    }
    require(other >= 0);
    return other;
}

static void by_socket(int is_first)
{
    MPI_Comm other;
    int end = connected(is_first);
    if (MPI_Comm_join(end, &other) == MPI_SUCCESS && other != MPI_COMM_NULL)
        meet(other, 0);
    close(end);
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    MPI_Comm_split(world, rank % 2, rank, &half);
    by_port(half, rank % 2 == 0, rank / 2);
    if (rank < 2)
        by_socket(rank == 0);
    MPI_Comm_free(&half);
    if (rank == 0)
        printf("they met\n");
    MPI_Finalize();
    return 0;
}
