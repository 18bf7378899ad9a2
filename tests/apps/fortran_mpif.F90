! fortran_mpif [threads]: all kinds of calls by include 'mpif.h', where no interface is known to the compiler.
#define BINDING_MPIF
#include "support/fortran_calls.F90"
