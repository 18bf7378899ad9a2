! fortran_mpi [threads]: all kinds of calls by the module mpi, where handles are integers.
#define BINDING_MPI
#include "support/fortran_calls.F90"
