! The calls of the fortran_* programs: included by each behind the choice of its binding. With the argument "threads" MPI
! begins with MPI_Init_thread. For two ranks or more.
#include "support/fortran_truth.F90"
#include "support/fortran_binding.h"

program calls
   use truth
   USE_MPI
   implicit none
   INCLUDE_MPI
   integer, parameter :: longest = 2000
   integer, asynchronous, target :: given(longest), taken(longest), also_taken(longest)
   integer :: rank, ranks, right, left
#ifndef LEAVE_OUT_IERROR
   integer :: ierror
#endif

   call begin()
   call all_sends()
   call completions()
   call from_anybody()
   call probes()
   call both_ways()
   call matched()
   call persistent()
   call cancelled()
   call with_holes()
   call communicators()
   call truth_print()
   call MPI_Finalize(IERR_ALONE)

contains

   subroutine begin()
      character(len=16) :: argument
      integer :: provided, position
      call get_command_argument(1, argument)
      if (argument == 'threads') then
         call MPI_Init_thread(MPI_THREAD_FUNNELED, provided IERR)
         call truth_begin()
         call truth_call('Init_thread')
      else
         call MPI_Init(IERR_ALONE)
         call truth_begin()
         call truth_call('Init')
      end if
      call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
      call MPI_Comm_size(MPI_COMM_WORLD, ranks IERR)
      right = mod(rank + 1, ranks)
      left = mod(rank + ranks - 1, ranks)
      given = [(10000 * rank + position, position = 1, longest)]
   end subroutine

   ! Whether N integers have come from a rank, and no more.
   subroutine check_block(buffer, count, source, line)
      integer, intent(in) :: buffer(:), count, source, line
      integer :: position
      call truth_check(all(buffer(:count) == [(10000 * source + position, position = 1, count)]), line)
      call truth_check(buffer(count + 1) == -1, line)
   end subroutine

   subroutine check_status(status, count, source, line)
      STATUS(status)
      integer, intent(in) :: count, source, line
      integer :: found
      call MPI_Get_count(status, MPI_INTEGER, found IERR)
      call truth_check(found == count .and. SOURCE_OF(status) == source, line)
   end subroutine

   subroutine wait_for(one)
      REQUEST, intent(inout) :: one
      call truth_call('Wait')
      call MPI_Wait(one, MPI_STATUS_IGNORE IERR)
      call truth_check(one == MPI_REQUEST_NULL, __LINE__)
   end subroutine

   subroutine barrier()
      call truth_call('Barrier')
      call MPI_Barrier(MPI_COMM_WORLD IERR)
   end subroutine

   subroutine all_sends()
      REQUEST :: receive, send
      STATUS(status)
      ADDRESS :: detached
      integer :: flavour, count, buffer(4096), bytes
      bytes = size(buffer) * integer_bytes
      call MPI_Buffer_attach(buffer, bytes IERR)
      do flavour = 0, 7
         count = 10 + flavour
         taken = -1
         call truth_call('Irecv')
         call MPI_Irecv(taken, longest, MPI_INTEGER, left, flavour, MPI_COMM_WORLD, receive IERR)
         call barrier() ! a ready send is an error unless the receive is posted
         select case (flavour)
         case (0)
            call truth_send('Send', count, right)
            call MPI_Send(given, count, MPI_INTEGER, right, flavour, MPI_COMM_WORLD IERR)
         case (1)
            call truth_send('Bsend', count, right)
            call MPI_Bsend(given, count, MPI_INTEGER, right, flavour, MPI_COMM_WORLD IERR)
         case (2)
            call truth_send('Ssend', count, right)
            call MPI_Ssend(given, count, MPI_INTEGER, right, flavour, MPI_COMM_WORLD IERR)
         case (3)
            call truth_send('Rsend', count, right)
            call MPI_Rsend(given, count, MPI_INTEGER, right, flavour, MPI_COMM_WORLD IERR)
         case (4)
            call truth_send('Isend', count, right)
            call MPI_Isend(given, count, MPI_INTEGER, right, flavour, MPI_COMM_WORLD, send IERR)
         case (5)
            call truth_send('Ibsend', count, right)
            call MPI_Ibsend(given, count, MPI_INTEGER, right, flavour, MPI_COMM_WORLD, send IERR)
         case (6)
            call truth_send('Issend', count, right)
            call MPI_Issend(given, count, MPI_INTEGER, right, flavour, MPI_COMM_WORLD, send IERR)
         case (7)
            call truth_send('Irsend', count, right)
            call MPI_Irsend(given, count, MPI_INTEGER, right, flavour, MPI_COMM_WORLD, send IERR)
         end select
         if (mod(flavour, 2) == 0) then
            call truth_call('Wait')
            call MPI_Wait(receive, status IERR)
            call check_status(status, count, left, __LINE__)
         else
            call wait_for(receive)
         end if
         if (flavour >= 4) call wait_for(send)
         call check_block(taken, count, left, __LINE__)
      end do
      call MPI_Buffer_detach(detached, bytes IERR)
      ! To nobody and from nobody.
      call truth_call('Send')
      call MPI_Send(given, 5, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD IERR)
      call truth_call('Recv')
      call MPI_Recv(taken, 5, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
   end subroutine

   ! Whether an index is that of no request. MPICH 4.0 adds one to MPI_UNDEFINED, too, but not in the module mpi_f08.
   logical function is_none(at)
      integer, intent(in) :: at
      is_none = at == MPI_UNDEFINED .or. at == MPI_UNDEFINED + 1
   end function

   ! Every way to complete, with and without statuses, null requests among the others. The indices of several are not
   ! looked at: in MPICH 4.0's module mpi_f08 they begin at 0.
   subroutine completions()
      REQUEST :: requests(6)
      STATUS(status)
      STATUSES(statuses, 6)
      integer :: way, at, number, indices(6), other
      logical :: flag
      do way = 0, 15
         requests = MPI_REQUEST_NULL
         taken = -1
         also_taken = -1
         call truth_call('Irecv')
         call MPI_Irecv(taken, longest, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(2) IERR)
         call truth_call('Irecv')
         call MPI_Irecv(also_taken, longest, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(5) IERR)
         call truth_send('Isend', 100 + way, right)
         call MPI_Isend(given, 100 + way, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(4) IERR)
         call truth_send('Isend', 200 + way, right)
         call MPI_Isend(given, 200 + way, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(6) IERR)
         at = 0
         number = 0
         flag = .false.
         select case (way)
         case (0)
            call truth_call('Waitall')
            call MPI_Waitall(6, requests, statuses IERR)
            call truth_check(SOURCE_OF_ONE(statuses, 2) == left .and. TAG_OF_ONE(statuses, 5) == 2, __LINE__)
         case (1)
            call truth_call('Waitall')
            call MPI_Waitall(6, requests, MPI_STATUSES_IGNORE IERR)
         case (2, 3)
            do while (.not. is_none(at))
               call truth_call('Waitany')
               if (way == 2) call MPI_Waitany(6, requests, at, status IERR)
               if (way == 3) call MPI_Waitany(6, requests, at, MPI_STATUS_IGNORE IERR)
               if (way == 2 .and. (at == 2 .or. at == 5)) call truth_check(SOURCE_OF(status) == left, __LINE__)
            end do
         case (4, 5)
            do while (number /= MPI_UNDEFINED)
               call truth_call('Waitsome')
               if (way == 4) call MPI_Waitsome(6, requests, number, indices, statuses IERR)
               if (way == 5) call MPI_Waitsome(6, requests, number, indices, MPI_STATUSES_IGNORE IERR)
            end do
         case (6, 7)
            do while (.not. flag .or. .not. is_none(at))
               call truth_call('Testany')
               if (way == 6) call MPI_Testany(6, requests, at, flag, status IERR)
               if (way == 7) call MPI_Testany(6, requests, at, flag, MPI_STATUS_IGNORE IERR)
            end do
         case (8, 9)
            do while (.not. flag)
               call truth_call('Testall')
               if (way == 8) call MPI_Testall(6, requests, flag, statuses IERR)
               if (way == 9) call MPI_Testall(6, requests, flag, MPI_STATUSES_IGNORE IERR)
            end do
         case (10, 11)
            do while (number /= MPI_UNDEFINED)
               call truth_call('Testsome')
               if (way == 10) call MPI_Testsome(6, requests, number, indices, statuses IERR)
               if (way == 11) call MPI_Testsome(6, requests, number, indices, MPI_STATUSES_IGNORE IERR)
            end do
         case (12, 13)
            do other = 1, 6
               flag = .false.
               do while (.not. flag)
                  call truth_call('Test')
                  if (way == 12) call MPI_Test(requests(other), flag, status IERR)
                  if (way == 13) call MPI_Test(requests(other), flag, MPI_STATUS_IGNORE IERR)
               end do
            end do
         case default
            do other = 6, 1, -1
               call wait_for(requests(other))
            end do
         end select
         do other = 1, 6
            call truth_check(requests(other) == MPI_REQUEST_NULL, __LINE__)
         end do
         call check_block(taken, 100 + way, left, __LINE__)
         call check_block(also_taken, 200 + way, left, __LINE__)
      end do
   end subroutine

#include "support/fortran_messages.F90"
#include "support/fortran_collectives.F90"

end program
