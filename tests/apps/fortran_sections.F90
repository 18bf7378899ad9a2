! fortran_sections: buffers that are sections of arrays with gaps, by the module mpi_f08. Nonblocking calls take them
! only where the library says so by MPI_SUBARRAYS_SUPPORTED (MPICH); to a blocking call the compiler may hand a copy
! (Open MPI). Sections with gaps in both dimensions are left out: MPICH 4.0 with gfortran takes the wrong elements.
#include "support/fortran_truth.F90"

program sections
   use truth
   use mpi_f08
   implicit none
   integer, parameter :: rows = 12, columns = 10
   integer, asynchronous, target :: given(rows, columns), taken(rows, columns)
   integer :: rank, ranks, right, left, row, column
   type(MPI_Status) :: status

   call MPI_Init()
   call truth_begin()
   call truth_call('Init')
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks)
   right = mod(rank + 1, ranks)
   left = mod(rank + ranks - 1, ranks)
   do column = 1, columns
      given(:, column) = [(1000 * rank + 100 * column + row, row = 1, rows)]
   end do
   call blocking()
   if (MPI_SUBARRAYS_SUPPORTED) call nonblocking()
   call collective()
   call truth_print()
   call MPI_Finalize()

contains

   ! What came is what left sent of these rows and columns, and no more.
   subroutine check(rows_step, columns_step, line)
      integer, intent(in) :: rows_step, columns_step, line
      logical :: chosen
      do column = 1, columns
         do row = 1, rows
            chosen = mod(row - 1, rows_step) == 0 .and. mod(column - 1, columns_step) == 0
            call truth_check(taken(row, column) == merge(1000 * left + 100 * column + row, -1, chosen), line)
         end do
      end do
   end subroutine

   subroutine blocking()
      taken = -1
      call truth_send('Sendrecv', 48, right)
      call MPI_Sendrecv(given(:, ::3), 48, MPI_INTEGER, right, 1, taken(:, ::3), 48, MPI_INTEGER, left, 1, &
         MPI_COMM_WORLD, status)
      call check(1, 3, __LINE__)
      taken = -1
      if (mod(rank, 2) == 0) then
         call truth_send('Send', 6, right)
         call MPI_Send(given(::2, 1), 6, MPI_INTEGER, right, 2, MPI_COMM_WORLD)
      end if
      call truth_call('Recv')
      call MPI_Recv(taken(::2, 1), 6, MPI_INTEGER, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      if (mod(rank, 2) == 1) then
         call truth_send('Send', 6, right)
         call MPI_Send(given(::2, 1), 6, MPI_INTEGER, right, 2, MPI_COMM_WORLD)
      end if
      call check(2, columns, __LINE__)
   end subroutine

   subroutine nonblocking()
      type(MPI_Request) :: requests(2)
      taken = -1
      call truth_call('Irecv')
      call MPI_Irecv(taken(::3, 1), 4, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(1))
      call truth_send('Isend', 4, right)
      call MPI_Isend(given(::3, 1), 4, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(2))
      call truth_call('Waitall')
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call check(3, columns, __LINE__)
   end subroutine

   ! No reductions: MPICH makes of a section one element of a type that it then cannot add.
   subroutine collective()
      integer :: gathered(6, ranks)
      taken = -1
      if (rank == 0) taken(::2, 1) = 5
      call truth_moved('Bcast', 6 * integer_bytes)
      call MPI_Bcast(taken(::2, 1), 6, MPI_INTEGER, 0, MPI_COMM_WORLD)
      call truth_check(all(taken(::2, 1) == 5), __LINE__)
      call truth_moved('Allgather', 6 * integer_bytes)
      call MPI_Allgather(taken(::2, 1), 6, MPI_INTEGER, gathered, 6, MPI_INTEGER, MPI_COMM_WORLD)
      call truth_check(all(gathered == 5), __LINE__)
   end subroutine

end program
