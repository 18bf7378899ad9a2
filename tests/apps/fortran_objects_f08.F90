! fortran_objects_f08: grids, neighbours, windows and files by the module mpi_f08.
#define BINDING_F08
#include "support/fortran_objects.F90"
