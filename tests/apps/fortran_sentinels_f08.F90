! fortran_sentinels_f08: the values that are known by their addresses, with the binding of that name.
#define BINDING_F08
#include "support/fortran_sentinels.F90"
