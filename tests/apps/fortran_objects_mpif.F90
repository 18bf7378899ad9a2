! fortran_objects_mpif: grids, neighbours, windows and files by include 'mpif.h'.
#define BINDING_MPIF
#include "support/fortran_objects.F90"
