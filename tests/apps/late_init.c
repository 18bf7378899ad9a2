/* late_init: initializes MPI by a name that no tool sees, then calls it as others do and says that it ran. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    PMPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("the program ran\n");
    MPI_Finalize();
    return 0;
}
