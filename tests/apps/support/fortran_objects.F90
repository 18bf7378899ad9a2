! The calls of the fortran_objects_* programs: included by each behind the choice of its binding. For two ranks or more.
#include "support/fortran_truth.F90"
#include "support/fortran_binding.h"

program objects
   use truth
   USE_MPI
   implicit none
   INCLUDE_MPI
   integer, parameter :: cells = 100
   integer, asynchronous, target :: given(cells), taken(cells), memory(cells)
   integer :: rank, ranks, right, left, ierror

   call MPI_Init(ierror)
   call truth_begin()
   call truth_call('Init')
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
   right = mod(rank + 1, ranks)
   left = mod(rank + ranks - 1, ranks)
   given = rank
   call grids()
   call windows()
   call files()
   call truth_call('Pcontrol')
   call MPI_Pcontrol(1)
   call truth_print()
   call MPI_Finalize(ierror)

contains

   subroutine grids()
      COMM :: grid, line, later
      REQUEST :: request
      integer :: sizes(2), counts(4), places(4), position
      logical :: periods(2), keep(2)
      sizes = [ranks, 1]
      periods = [.true., .false.]
      keep = [.true., .false.]
      counts = 2
      places = [(2 * position, position = 0, 3)]
      call truth_call('Cart_create')
      call MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, .false., grid, ierror)
      call MPI_Comm_set_name(grid, 'the grid', ierror)
      call truth_call('Cart_sub')
      call MPI_Cart_sub(grid, keep, line, ierror)
      call truth_moved('Neighbor_allgather', 3 * integer_bytes)
      call MPI_Neighbor_allgather(given, 3, MPI_INTEGER, taken, 3, MPI_INTEGER, line, ierror)
      call truth_check(all(taken(:3) == left) .and. all(taken(4:6) == right), __LINE__)
      call truth_moved('Neighbor_alltoallv', 8 * integer_bytes)
      call MPI_Neighbor_alltoallv(given, counts, places, MPI_INTEGER, taken, counts, places, MPI_INTEGER, grid, ierror)
      call truth_moved('Ineighbor_alltoall', 2 * integer_bytes)
      call MPI_Ineighbor_alltoall(given, 1, MPI_INTEGER, taken, 1, MPI_INTEGER, line, request, ierror)
      call truth_call('Wait')
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      call truth_call('Comm_idup')
      call MPI_Comm_idup(line, later, request, ierror)
      call truth_call('Wait')
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      call truth_call('Irecv')
      call MPI_Irecv(taken, cells, MPI_INTEGER, left, 4, later, request, ierror)
      call truth_send('Send', 7, right)
      call MPI_Send(given, 7, MPI_INTEGER, right, 4, later, ierror)
      call truth_call('Wait')
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      call truth_call('Comm_free')
      call MPI_Comm_free(later, ierror)
      call truth_call('Comm_free')
      call MPI_Comm_free(line, ierror)
      call truth_call('Comm_free')
      call MPI_Comm_free(grid, ierror)
   end subroutine

   subroutine windows()
      WINDOW :: window
      REQUEST :: request
      integer(kind=MPI_ADDRESS_KIND) :: bytes, there
      integer :: one, before
      bytes = cells * integer_bytes
      there = 10
      one = 1
      call truth_call('Win_create')
      call MPI_Win_create(memory, bytes, integer_bytes, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierror)
      call truth_call('Win_fence')
      call MPI_Win_fence(0, window, ierror)
      call truth_moved('Put', 5 * integer_bytes)
      call MPI_Put(given, 5, MPI_INTEGER, right, there, 5, MPI_INTEGER, window, ierror)
      call truth_call('Win_fence')
      call MPI_Win_fence(0, window, ierror)
      call truth_moved('Get', 6 * integer_bytes)
      call MPI_Get(taken, 6, MPI_INTEGER, right, there, 6, MPI_INTEGER, window, ierror)
      call truth_call('Win_fence')
      call MPI_Win_fence(0, window, ierror)
      call truth_call('Win_lock')
      call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window, ierror)
      call truth_moved('Rput', 4 * integer_bytes)
      call MPI_Rput(given, 4, MPI_INTEGER, right, there, 4, MPI_INTEGER, window, request, ierror)
      call truth_call('Wait')
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      there = 50
      call truth_moved('Fetch_and_op', integer_bytes)
      call MPI_Fetch_and_op(one, before, MPI_INTEGER, right, there, MPI_SUM, window, ierror)
      call truth_call('Win_unlock')
      call MPI_Win_unlock(right, window, ierror)
      call truth_call('Win_free')
      call MPI_Win_free(window, ierror)
   end subroutine

   subroutine files()
      FILE :: file
      STATUS(found)
      integer(kind=MPI_OFFSET_KIND) :: place
      integer :: count
      place = 20_MPI_OFFSET_KIND * integer_bytes * rank
      call truth_call('File_open')
      call MPI_File_open(MPI_COMM_WORLD, 'written.dat', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierror)
      call truth_moved('File_write_at_all', 20 * integer_bytes)
      call MPI_File_write_at_all(file, place, given, 20, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
      call truth_call('File_sync')
      call MPI_File_sync(file, ierror)
      call truth_call('Barrier')
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
      ! More than there is behind the last block.
      place = 20_MPI_OFFSET_KIND * integer_bytes * (ranks - 1)
      call truth_moved('File_read_at', 20 * integer_bytes)
      call MPI_File_read_at(file, place, taken, 30, MPI_INTEGER, found, ierror)
      call MPI_Get_count(found, MPI_INTEGER, count, ierror)
      call truth_check(count == 20 .and. all(taken(:20) == ranks - 1), __LINE__)
      call truth_call('File_close')
      call MPI_File_close(file, ierror)
   end subroutine

end program
