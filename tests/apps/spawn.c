/* spawn: two ranks start two others, exchange messages with them and part. */
#include <mpi.h>
#include <stdio.h>

enum { TAG = 5 };

int main(int argc, char **argv)
{
    MPI_Comm parent, others;
    int rank, given, taken = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    others = parent;
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
    given = rank + (parent == MPI_COMM_NULL ? 10 : 20);
    MPI_Sendrecv(&given, 1, MPI_INT, rank, TAG, &taken, 1, MPI_INT, rank, TAG, others, MPI_STATUS_IGNORE);
    MPI_Barrier(others);
    MPI_Comm_disconnect(&others);
    printf("rank %d, of %s, got %d\n", rank, parent == MPI_COMM_NULL ? "the first" : "those that came later", taken);
    MPI_Finalize();
    return 0;
}
