! fortran_pcontrol: MPI_Pcontrol by the module mpi_f08, in which MPICH has an error that the standard has not. Absent or
! given, it has to arrive as it is.
#include "support/fortran_truth.F90"

program pcontrol
   use truth
   use mpi_f08
   implicit none
   integer :: ierror, round

   call MPI_Init()
   call truth_begin()
   call truth_call('Init')
   do round = 1, 10
      ierror = 99
      call truth_call('Pcontrol')
      call MPI_Pcontrol(1, ierror)
      if (ierror /= 0) error stop 3
      call truth_call('Pcontrol')
      call MPI_Pcontrol(1)
   end do
   call truth_print()
   call MPI_Finalize()
end program pcontrol
