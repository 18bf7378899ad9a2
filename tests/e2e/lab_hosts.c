/* lab_hosts: each rank says where it is, and how many ranks share its memory. */
#define _GNU_SOURCE /* gethostname */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, neighbours;
    char host[256];
    MPI_Comm memory;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &memory);
    MPI_Comm_size(memory, &neighbours);
    if (gethostname(host, sizeof host) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    /* In one write each, whatever the launcher does with the pieces of a line. */
    char line[320];
    int length = snprintf(line, sizeof line, "rank %d on %s of %d\n", rank, host, neighbours);
    if (write(STDOUT_FILENO, line, (size_t)length) != length)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_free(&memory);
    MPI_Finalize();
    return 0;
}
