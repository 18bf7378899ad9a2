! fortran_objects_mpi: grids, neighbours, windows and files by the module mpi.
#define BINDING_MPI
#include "support/fortran_objects.F90"
