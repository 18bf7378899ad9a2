! fortran_f08_short [threads]: as fortran_f08, without the ierror that may be left out.
#define BINDING_F08
#define LEAVE_OUT_IERROR
#include "support/fortran_calls.F90"
