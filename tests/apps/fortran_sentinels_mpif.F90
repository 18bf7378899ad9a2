! fortran_sentinels_mpif: the values that are known by their addresses, with the binding of that name.
#define BINDING_MPIF
#include "support/fortran_sentinels.F90"
