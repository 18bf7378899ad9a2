/* throwing: a handler of MPI's errors that throws a C++ exception, out of MPI_Send and through whatever stands between
 * the program and MPI. The program catches it, says so, and each rank then sends three messages of 40 bytes to its right
 * neighbour: the call that was left by an exception must not stop those after it. */
#include <cstdio>
/* The C++ names of MPI are long gone from the standard, and the headers of them do not compile without warnings. */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

struct Refused {
    int code;
};

/* MPI's type of handlers has an ellipsis. */
static void refuse(MPI_Comm *, int *code, ...)
{
    throw Refused{*code};
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(refuse, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);

    int sent[10] = {}, received[10];
    try {
        MPI_Send(sent, 10, MPI_INT, size + 1000, 0, MPI_COMM_WORLD);
        std::printf("not thrown\n");
    } catch (const Refused &refused) {
        std::printf("%s\n", refused.code == MPI_SUCCESS ? "no code" : "caught");
    }
    std::fflush(stdout);

    for (int message = 0; message < 3; message++) {
        MPI_Request request;
        MPI_Irecv(received, 10, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &request);
        MPI_Send(sent, 10, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
