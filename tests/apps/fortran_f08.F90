! fortran_f08 [threads]: all kinds of calls by the module mpi_f08, where handles have types of their own.
#define BINDING_F08
#include "support/fortran_calls.F90"
