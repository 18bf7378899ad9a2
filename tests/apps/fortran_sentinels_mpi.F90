! fortran_sentinels_mpi: the values that are known by their addresses, with the binding of that name.
#define BINDING_MPI
#include "support/fortran_sentinels.F90"
