! A part of fortran_calls.F90: messages that are found by probes or sent by persistent requests, and other rare forms.

   subroutine from_anybody()
      STATUS(status)
      integer :: message
      call barrier()
      if (rank /= 0) then
         call truth_send('Send', 300 + rank, 0)
         call MPI_Send(given, 300 + rank, MPI_INTEGER, 0, rank, MPI_COMM_WORLD IERR)
      else
         do message = 1, ranks - 1
            taken = -1
            call truth_call('Recv')
            call MPI_Recv(taken, longest, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status IERR)
            call truth_check(SOURCE_OF(status) == TAG_OF(status), __LINE__)
            call check_block(taken, 300 + SOURCE_OF(status), SOURCE_OF(status), __LINE__)
         end do
      end if
      call barrier()
   end subroutine

   subroutine probes()
      REQUEST :: send
      STATUS(status)
      logical :: flag
      call truth_call('Iprobe')
      call MPI_Iprobe(left, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE IERR)
      call truth_check(.not. flag, __LINE__)
      call truth_send('Isend', 30, right)
      call MPI_Isend(given, 30, MPI_INTEGER, right, 1, MPI_COMM_WORLD, send IERR)
      call truth_call('Probe')
      call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status IERR)
      call check_status(status, 30, left, __LINE__)
      call truth_call('Probe')
      call MPI_Probe(left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
      flag = .false.
      do while (.not. flag)
         call truth_call('Iprobe')
         call MPI_Iprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, flag, status IERR)
      end do
      call check_status(status, 30, left, __LINE__)
      taken = -1
      call truth_call('Recv')
      call MPI_Recv(taken, 30, MPI_INTEGER, SOURCE_OF(status), TAG_OF(status), MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
      call check_block(taken, 30, left, __LINE__)
      call wait_for(send)
   end subroutine

   subroutine both_ways()
      STATUS(status)
      taken = -1
      call truth_send('Sendrecv', 40, right)
      call MPI_Sendrecv(given, 40, MPI_INTEGER, right, 1, taken, longest, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status IERR)
      call check_status(status, 40, left, __LINE__)
      call check_block(taken, 40, left, __LINE__)
      call truth_send('Sendrecv', 41, right)
      call MPI_Sendrecv(given, 41, MPI_INTEGER, right, 2, taken, longest, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &
         MPI_STATUS_IGNORE IERR)
      call check_block(taken, 41, left, __LINE__)
      taken(:42) = given(:42)
      call truth_send('Sendrecv_replace', 42, left)
      call MPI_Sendrecv_replace(taken, 42, MPI_INTEGER, left, 3, right, 3, MPI_COMM_WORLD, status IERR)
      call check_status(status, 42, right, __LINE__)
      call check_block(taken, 42, right, __LINE__)
   end subroutine

   ! Two messages that are taken out of the queue and received the other way round.
   subroutine matched()
      MESSAGE :: first, second
      REQUEST :: sends(2), receive
      STATUS(status)
      logical :: flag
      call truth_call('Improbe')
      call MPI_Improbe(left, 99, MPI_COMM_WORLD, flag, first, MPI_STATUS_IGNORE IERR)
      call truth_check(.not. flag, __LINE__)
      call truth_send('Isend', 50, right)
      call MPI_Isend(given, 50, MPI_INTEGER, right, 1, MPI_COMM_WORLD, sends(1) IERR)
      call truth_send('Isend', 51, right)
      call MPI_Isend(given, 51, MPI_INTEGER, right, 1, MPI_COMM_WORLD, sends(2) IERR)
      call truth_call('Mprobe')
      call MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, first, status IERR)
      call check_status(status, 50, left, __LINE__)
      flag = .false.
      do while (.not. flag)
         call truth_call('Improbe')
         call MPI_Improbe(left, MPI_ANY_TAG, MPI_COMM_WORLD, flag, second, status IERR)
      end do
      taken = -1
      also_taken = -1
      call truth_call('Mrecv')
      call MPI_Mrecv(also_taken, longest, MPI_INTEGER, second, status IERR)
      call check_status(status, 51, left, __LINE__)
      call truth_check(second == MPI_MESSAGE_NULL, __LINE__)
      call truth_call('Imrecv')
      call MPI_Imrecv(taken, longest, MPI_INTEGER, first, receive IERR)
      call wait_for(receive)
      call check_block(taken, 50, left, __LINE__)
      call check_block(also_taken, 51, left, __LINE__)
      call wait_for(sends(2))
      call wait_for(sends(1))
      call truth_call('Mprobe')
      call MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, first, status IERR)
      call truth_check(first == MPI_MESSAGE_NO_PROC, __LINE__)
      call truth_call('Mrecv')
      call MPI_Mrecv(taken, 1, MPI_INTEGER, first, MPI_STATUS_IGNORE IERR)
   end subroutine

   subroutine persistent()
      REQUEST :: requests(5)
      ADDRESS :: detached
      integer :: round, position, counts(4), buffer(4096), bytes
      bytes = size(buffer) * integer_bytes
      call MPI_Buffer_attach(buffer, bytes IERR)
      counts = [60, 61, 62, 63]
      call truth_call('Recv_init')
      call MPI_Recv_init(taken, longest, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1) IERR)
      call truth_call('Send_init')
      call MPI_Send_init(given, counts(1), MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(2) IERR)
      call truth_call('Bsend_init')
      call MPI_Bsend_init(given, counts(2), MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(3) IERR)
      call truth_call('Ssend_init')
      call MPI_Ssend_init(given, counts(3), MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(4) IERR)
      call truth_call('Rsend_init')
      call MPI_Rsend_init(given, counts(4), MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(5) IERR)
      do round = 1, 3
         do position = 1, 4
            taken = -1
            if (position == 1) then ! both at once
               call truth_call('Startall')
               call truth_message(right, counts(1) * integer_bytes)
               call MPI_Startall(2, requests IERR)
            else
               call truth_call('Start')
               call MPI_Start(requests(1) IERR)
               call barrier()
               call truth_send('Start', counts(position), right)
               call MPI_Start(requests(1 + position) IERR)
            end if
            call truth_call('Waitall') ! the others are inactive
            call MPI_Waitall(5, requests, MPI_STATUSES_IGNORE IERR)
            call check_block(taken, counts(position), left, __LINE__)
         end do
      end do
      do position = 1, 5
         call truth_call('Request_free')
         call MPI_Request_free(requests(position) IERR)
         call truth_check(requests(position) == MPI_REQUEST_NULL, __LINE__)
      end do
      call MPI_Buffer_detach(detached, bytes IERR)
   end subroutine

   ! Of what nobody sends; the next message is the next receive's.
   subroutine cancelled()
      REQUEST :: receive
      STATUS(status)
      logical :: flag
      integer :: round
      do round = 1, 2
         call truth_call('Irecv')
         call MPI_Irecv(taken, longest, MPI_INTEGER, left, 1, MPI_COMM_WORLD, receive IERR)
         call truth_call('Cancel')
         call MPI_Cancel(receive IERR)
         if (round == 1) then
            call truth_call('Wait')
            call MPI_Wait(receive, status IERR)
            call MPI_Test_cancelled(status, flag IERR)
            call truth_check(flag, __LINE__)
         else
            call wait_for(receive)
         end if
         call barrier()
         taken = -1
         call truth_call('Irecv')
         call MPI_Irecv(taken, longest, MPI_INTEGER, left, 1, MPI_COMM_WORLD, receive IERR)
         call truth_send('Send', 70 + round, right)
         call MPI_Send(given, 70 + round, MPI_INTEGER, right, 1, MPI_COMM_WORLD IERR)
         call wait_for(receive)
         call check_block(taken, 70 + round, left, __LINE__)
         call barrier()
      end do
   end subroutine

   ! Every third integer, five of them an element.
   subroutine with_holes()
      DATATYPE :: holes
      REQUEST :: send
      STATUS(status)
      integer :: position
      call MPI_Type_vector(5, 1, 3, MPI_INTEGER, holes IERR)
      call MPI_Type_commit(holes IERR)
      taken = -1
      call truth_send('Isend', 5, right)
      call MPI_Isend(given, 1, holes, right, 1, MPI_COMM_WORLD, send IERR)
      call truth_call('Recv')
      call MPI_Recv(taken, 1, holes, left, 1, MPI_COMM_WORLD, status IERR)
      call check_status(status, 5, left, __LINE__)
      do position = 1, 13
         call truth_check(taken(position) == merge(10000 * left + position, -1, mod(position, 3) == 1), __LINE__)
      end do
      call wait_for(send)
      call MPI_Type_free(holes IERR)
   end subroutine
