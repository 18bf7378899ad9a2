/* A library of a program's own, which calls MPI. */
#include <mpi.h>

static volatile int kept;

void in_library(MPI_Comm comm)
{
    MPI_Barrier(comm); /* site: MPI_Barrier in in_library */
    kept++;
}
