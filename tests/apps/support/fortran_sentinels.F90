! The sentinels of Fortran, which are known by their addresses: included by the fortran_sentinels_* programs behind the
! choice of the binding. Each is used such that the result is wrong when it does not arrive as itself. MPI_ARGV_NULL and
! MPI_ERRCODES_IGNORE are left out: they are for starting further processes only. For two ranks or more.
#include "support/fortran_truth.F90"
#include "support/fortran_binding.h"

program sentinels
   use truth
   USE_MPI
   implicit none
   INCLUDE_MPI
   integer, asynchronous, target :: given(10), taken(10)
   integer :: rank, ranks, right, left, ierror

   call MPI_Init(ierror)
   call truth_begin()
   call truth_call('Init')
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
   right = mod(rank + 1, ranks)
   left = mod(rank + ranks - 1, ranks)
   call in_place()
   call bottom()
   call status_ignore()
   call statuses_ignore()
   call unweighted()
   call truth_print()
   call MPI_Finalize(ierror)

contains

   subroutine in_place()
      integer :: all_blocks(0:ranks - 1), own(1), peer
      own = rank + 1
      call truth_moved('Allreduce', integer_bytes)
      call MPI_Allreduce(MPI_IN_PLACE, own, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
      call truth_check(own(1) == ranks * (ranks + 1) / 2, __LINE__)
      all_blocks = -1
      all_blocks(rank) = rank
      call truth_moved('Allgather', integer_bytes)
      call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, all_blocks, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
      call truth_check(all(all_blocks == [(peer, peer = 0, ranks - 1)]), __LINE__)
      ! The place of a receive.
      all_blocks = rank
      own = -1
      if (rank == 0) then
         call truth_moved('Scatter', ranks * integer_bytes)
         call MPI_Scatter(all_blocks, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
      else
         call truth_moved('Scatter', integer_bytes)
         call MPI_Scatter(all_blocks, 1, MPI_INTEGER, own, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
         call truth_check(own(1) == 0, __LINE__)
      end if
      call truth_check(all(all_blocks == rank), __LINE__)
   end subroutine

   ! A type of absolute addresses, on both sides.
   subroutine bottom()
      DATATYPE :: sent_type, received_type
      REQUEST :: send
      integer(kind=MPI_ADDRESS_KIND) :: address(2)
      integer :: lengths(2), position
      lengths = 2
      given = [(100 * rank + position, position = 1, 10)]
      taken = -1
      call MPI_Get_address(given(1), address(1), ierror)
      call MPI_Get_address(given(6), address(2), ierror)
      call MPI_Type_create_hindexed(2, lengths, address, MPI_INTEGER, sent_type, ierror)
      call MPI_Type_commit(sent_type, ierror)
      call MPI_Get_address(taken(3), address(1), ierror)
      call MPI_Get_address(taken(9), address(2), ierror)
      call MPI_Type_create_hindexed(2, lengths, address, MPI_INTEGER, received_type, ierror)
      call MPI_Type_commit(received_type, ierror)
      call truth_send('Isend', 4, right)
      call MPI_Isend(MPI_BOTTOM, 1, sent_type, right, 1, MPI_COMM_WORLD, send, ierror)
      call truth_call('Recv')
      call MPI_Recv(MPI_BOTTOM, 1, received_type, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call truth_call('Wait')
      call MPI_Wait(send, MPI_STATUS_IGNORE, ierror)
      call truth_check(all(taken == [-1, -1, 100 * left + 1, 100 * left + 2, -1, -1, -1, -1, 100 * left + 6, &
         100 * left + 7]), __LINE__)
      call MPI_Type_free(sent_type, ierror)
      call MPI_Type_free(received_type, ierror)
   end subroutine

   ! Who takes the sentinel for a status writes to it.
   subroutine status_ignore()
      REQUEST :: request
      integer :: source, tag
      logical :: flag
      source = SOURCE_OF(MPI_STATUS_IGNORE)
      tag = TAG_OF(MPI_STATUS_IGNORE)
      call truth_send('Isend', 3, right)
      call MPI_Isend(given, 3, MPI_INTEGER, right, 77, MPI_COMM_WORLD, request, ierror)
      call truth_call('Probe')
      call MPI_Probe(left, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call truth_call('Recv')
      call MPI_Recv(taken, 3, MPI_INTEGER, left, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call truth_call('Wait')
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      call truth_call('Irecv')
      call MPI_Irecv(taken, 4, MPI_INTEGER, left, 78, MPI_COMM_WORLD, request, ierror)
      call truth_send('Send', 4, right)
      call MPI_Send(given, 4, MPI_INTEGER, right, 78, MPI_COMM_WORLD, ierror)
      flag = .false.
      do while (.not. flag)
         call truth_call('Test')
         call MPI_Test(request, flag, MPI_STATUS_IGNORE, ierror)
      end do
      call truth_check(SOURCE_OF(MPI_STATUS_IGNORE) == source .and. TAG_OF(MPI_STATUS_IGNORE) == tag, __LINE__)
   end subroutine

   subroutine statuses_ignore()
      REQUEST :: requests(2)
      integer :: source, tag
      source = SOURCE_OF_ONE(MPI_STATUSES_IGNORE, 1)
      tag = TAG_OF_ONE(MPI_STATUSES_IGNORE, 1)
      call truth_call('Irecv')
      call MPI_Irecv(taken, 5, MPI_INTEGER, left, 79, MPI_COMM_WORLD, requests(1), ierror)
      call truth_send('Isend', 5, right)
      call MPI_Isend(given, 5, MPI_INTEGER, right, 79, MPI_COMM_WORLD, requests(2), ierror)
      call truth_call('Waitall')
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
      call truth_check(requests(1) == MPI_REQUEST_NULL .and. requests(2) == MPI_REQUEST_NULL, __LINE__)
      call truth_check(SOURCE_OF_ONE(MPI_STATUSES_IGNORE, 1) == source, __LINE__)
      call truth_check(TAG_OF_ONE(MPI_STATUSES_IGNORE, 1) == tag, __LINE__)
   end subroutine

   ! A graph knows whether it was given weights.
   subroutine unweighted()
      COMM :: graph
      integer :: sources, destinations, weights(1)
      logical :: weighted
      weights = 7
      call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, &
         MPI_INFO_NULL, .false., graph, ierror)
      call MPI_Dist_graph_neighbors_count(graph, sources, destinations, weighted, ierror)
      call truth_check(sources == 1 .and. destinations == 1 .and. .not. weighted, __LINE__)
      call truth_call('Comm_free')
      call MPI_Comm_free(graph, ierror)
      call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], weights, 1, [right], weights, &
         MPI_INFO_NULL, .false., graph, ierror)
      call MPI_Dist_graph_neighbors_count(graph, sources, destinations, weighted, ierror)
      call truth_check(weighted, __LINE__)
      call truth_call('Comm_free')
      call MPI_Comm_free(graph, ierror)
   end subroutine

end program
