! A part of fortran_calls.F90: all collectives, on the world and on communicators that are made from it.

   subroutine finish(one)
      REQUEST, intent(inout) :: one
      logical :: flag
      if (mod(rank, 2) == 0) then
         call wait_for(one)
      else
         flag = .false.
         do while (.not. flag)
            call truth_call('Test')
            call MPI_Test(one, flag, MPI_STATUS_IGNORE IERR)
         end do
      end if
   end subroutine

   subroutine communicators()
      COMM :: half, copy
      call collectives(MPI_COMM_WORLD)
      call truth_call('Comm_split')
      call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half IERR)
      call truth_call('Comm_dup')
      call MPI_Comm_dup(half, copy IERR)
      call truth_call('Comm_free')
      call MPI_Comm_free(half IERR)
      call truth_check(half == MPI_COMM_NULL, __LINE__)
      call neighbours(copy)
      call collectives(copy)
      call truth_call('Comm_free')
      call MPI_Comm_free(copy IERR)
   end subroutine

   ! A message to the next rank of a half, in which the world's ranks are in reverse.
   subroutine neighbours(half)
      COMM, intent(in) :: half
      STATUS(status)
      integer :: own, members, last
      call MPI_Comm_rank(half, own IERR)
      call MPI_Comm_size(half, members IERR)
      last = mod(rank, 2) + 2 * (members - 1)
      taken = -1
      call truth_send('Sendrecv', 80 + own, last - 2 * mod(own + 1, members))
      call MPI_Sendrecv(given, 80 + own, MPI_INTEGER, mod(own + 1, members), 1, taken, longest, MPI_INTEGER, &
         mod(own + members - 1, members), 1, half, status IERR)
      call check_status(status, 80 + mod(own + members - 1, members), mod(own + members - 1, members), __LINE__)
      call check_block(taken, 80 + mod(own + members - 1, members), last - 2 * SOURCE_OF(status), __LINE__)
   end subroutine

   subroutine collectives(communicator)
      COMM, intent(in) :: communicator
      integer :: own, members
      call MPI_Comm_rank(communicator, own IERR)
      call MPI_Comm_size(communicator, members IERR)
      call computed(communicator, own, members)
      call blocks(communicator, own, members)
      call blocks_of_lengths(communicator, own, members)
      call blocks_in_place(communicator, own, members)
   end subroutine

   subroutine computed(communicator, own, members)
      COMM, intent(in) :: communicator
      integer, intent(in) :: own, members
      REQUEST :: one
      integer, asynchronous :: brought(3), sums(3), values(2), many(2 * members), counts(members)
      integer :: all_of, before, last
      last = members - 1
      all_of = members * (members + 1) / 2
      before = own * (own + 1) / 2
      call truth_call('Barrier')
      call MPI_Barrier(communicator IERR)
      call truth_call('Ibarrier')
      call MPI_Ibarrier(communicator, one IERR)
      call finish(one)

      values = merge(7, 0, own == last)
      call truth_moved('Bcast', 2 * integer_bytes)
      call MPI_Bcast(values, 2, MPI_INTEGER, last, communicator IERR)
      call truth_check(all(values == 7), __LINE__)
      values = merge(8, 0, own == 0)
      call truth_moved('Ibcast', 2 * integer_bytes)
      call MPI_Ibcast(values, 2, MPI_INTEGER, 0, communicator, one IERR)
      call finish(one)
      call truth_check(all(values == 8), __LINE__)

      brought = own + 1
      call truth_moved('Reduce', 3 * integer_bytes)
      call MPI_Reduce(brought, sums, 3, MPI_INTEGER, MPI_SUM, last, communicator IERR)
      call truth_check(own /= last .or. all(sums == all_of), __LINE__)
      sums = brought
      call truth_moved('Reduce', 3 * integer_bytes)
      if (own == last) then
         call MPI_Reduce(MPI_IN_PLACE, sums, 3, MPI_INTEGER, MPI_SUM, last, communicator IERR)
         call truth_check(all(sums == all_of), __LINE__)
      else
         call MPI_Reduce(brought, sums, 3, MPI_INTEGER, MPI_SUM, last, communicator IERR)
      end if
      call truth_moved('Ireduce', 3 * integer_bytes)
      call MPI_Ireduce(brought, sums, 3, MPI_INTEGER, MPI_SUM, 0, communicator, one IERR)
      call finish(one)
      call truth_check(own /= 0 .or. all(sums == all_of), __LINE__)

      call truth_moved('Allreduce', 3 * integer_bytes)
      call MPI_Allreduce(brought, sums, 3, MPI_INTEGER, MPI_SUM, communicator IERR)
      call truth_check(all(sums == all_of), __LINE__)
      sums = brought
      call truth_moved('Allreduce', 3 * integer_bytes)
      call MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INTEGER, MPI_SUM, communicator IERR)
      call truth_check(all(sums == all_of), __LINE__)
      sums = brought
      call truth_moved('Iallreduce', 3 * integer_bytes)
      call MPI_Iallreduce(MPI_IN_PLACE, sums, 3, MPI_INTEGER, MPI_SUM, communicator, one IERR)
      call finish(one)
      call truth_check(all(sums == all_of), __LINE__)

      call truth_moved('Scan', 3 * integer_bytes)
      call MPI_Scan(brought, sums, 3, MPI_INTEGER, MPI_SUM, communicator IERR)
      call truth_check(all(sums == before + own + 1), __LINE__)
      call truth_moved('Iscan', 3 * integer_bytes)
      call MPI_Iscan(brought, sums, 3, MPI_INTEGER, MPI_SUM, communicator, one IERR)
      call finish(one)
      call truth_check(all(sums == before + own + 1), __LINE__)
      call truth_moved('Exscan', 3 * integer_bytes)
      call MPI_Exscan(brought, sums, 3, MPI_INTEGER, MPI_SUM, communicator IERR)
      call truth_check(own == 0 .or. all(sums == before), __LINE__)
      call truth_moved('Iexscan', 3 * integer_bytes)
      call MPI_Iexscan(brought, sums, 3, MPI_INTEGER, MPI_SUM, communicator, one IERR)
      call finish(one)
      call truth_check(own == 0 .or. all(sums == before), __LINE__)

      many = own + 1
      counts = 2
      call truth_moved('Reduce_scatter', 2 * members * integer_bytes)
      call MPI_Reduce_scatter(many, values, counts, MPI_INTEGER, MPI_SUM, communicator IERR)
      call truth_check(all(values == all_of), __LINE__)
      call truth_moved('Ireduce_scatter', 2 * members * integer_bytes)
      call MPI_Ireduce_scatter(many, values, counts, MPI_INTEGER, MPI_SUM, communicator, one IERR)
      call finish(one)
      call truth_check(all(values == all_of), __LINE__)
      call truth_moved('Reduce_scatter_block', 2 * members * integer_bytes)
      call MPI_Reduce_scatter_block(many, values, 2, MPI_INTEGER, MPI_SUM, communicator IERR)
      call truth_check(all(values == all_of), __LINE__)
      call truth_moved('Ireduce_scatter_block', 2 * members * integer_bytes)
      call MPI_Ireduce_scatter_block(MPI_IN_PLACE, many, 2, MPI_INTEGER, MPI_SUM, communicator, one IERR)
      call finish(one)
      call truth_check(all(many(:2) == all_of), __LINE__)
   end subroutine

   ! Two integers for each rank: 100 for who has them, 1 for whom they are.
   subroutine blocks(communicator, own, members)
      COMM, intent(in) :: communicator
      integer, intent(in) :: own, members
      REQUEST :: one
      integer, asynchronous :: had(2, 0:members - 1), got(2, 0:members - 1), block(2)
      integer :: form, peer, last
      last = members - 1
      do form = 1, 2
         do peer = 0, last
            had(:, peer) = 100 * own + peer
         end do
         block = 100 * own
         got = -1
         if (form == 1) then
            call truth_moved('Gather', 2 * integer_bytes)
            call MPI_Gather(block, 2, MPI_INTEGER, got, 2, MPI_INTEGER, last, communicator IERR)
         else
            call truth_moved('Igather', 2 * integer_bytes)
            call MPI_Igather(block, 2, MPI_INTEGER, got, 2, MPI_INTEGER, last, communicator, one IERR)
            call finish(one)
         end if
         call truth_check(own /= last .or. all(got(2, :) == [(100 * peer, peer = 0, last)]), __LINE__)
         if (form == 1) then
            call truth_moved('Allgather', 2 * integer_bytes)
            call MPI_Allgather(block, 2, MPI_INTEGER, got, 2, MPI_INTEGER, communicator IERR)
         else
            call truth_moved('Iallgather', 2 * integer_bytes)
            call MPI_Iallgather(block, 2, MPI_INTEGER, got, 2, MPI_INTEGER, communicator, one IERR)
            call finish(one)
         end if
         call truth_check(all(got(2, :) == [(100 * peer, peer = 0, last)]), __LINE__)
         if (form == 1) then
            call truth_moved('Scatter', 2 * integer_bytes * merge(members, 1, own == last))
            call MPI_Scatter(had, 2, MPI_INTEGER, block, 2, MPI_INTEGER, last, communicator IERR)
         else
            call truth_moved('Iscatter', 2 * integer_bytes * merge(members, 1, own == last))
            call MPI_Iscatter(had, 2, MPI_INTEGER, block, 2, MPI_INTEGER, last, communicator, one IERR)
            call finish(one)
         end if
         call truth_check(all(block == 100 * last + own), __LINE__)
         if (form == 1) then
            call truth_moved('Alltoall', 2 * members * integer_bytes)
            call MPI_Alltoall(had, 2, MPI_INTEGER, got, 2, MPI_INTEGER, communicator IERR)
         else
            call truth_moved('Ialltoall', 2 * members * integer_bytes)
            call MPI_Ialltoall(had, 2, MPI_INTEGER, got, 2, MPI_INTEGER, communicator, one IERR)
            call finish(one)
         end if
         call truth_check(all(got(2, :) == [(100 * peer + own, peer = 0, last)]), __LINE__)
      end do
   end subroutine

   ! To every rank as many integers as its number modulo 3, in places of three.
   subroutine blocks_of_lengths(communicator, own, members)
      COMM, intent(in) :: communicator
      integer, intent(in) :: own, members
      REQUEST :: one
      DATATYPE :: types(members)
      integer, asynchronous :: had(3 * members), got(3 * members), block(3)
      integer, asynchronous, dimension(members) :: lengths, places, own_lengths, bytes_to
      integer :: form, peer, length, all_bytes
      length = mod(own, 3)
      lengths = [(mod(peer, 3), peer = 0, members - 1)]
      own_lengths = length
      places = [(3 * peer, peer = 0, members - 1)]
      bytes_to = places * integer_bytes
      types = MPI_INTEGER
      all_bytes = sum(lengths) * integer_bytes
      do form = 1, 2
         had = own + 1
         block = own + 1
         got = -1
         if (form == 1) then
            call truth_moved('Gatherv', length * integer_bytes)
            call MPI_Gatherv(block, length, MPI_INTEGER, got, lengths, places, MPI_INTEGER, 0, communicator IERR)
         else
            call truth_moved('Igatherv', length * integer_bytes)
            call MPI_Igatherv(block, length, MPI_INTEGER, got, lengths, places, MPI_INTEGER, 0, communicator, one IERR)
            call finish(one)
         end if
         if (own == 0) call check_places(got, lengths, __LINE__)
         got = -1
         if (form == 1) then
            call truth_moved('Allgatherv', length * integer_bytes)
            call MPI_Allgatherv(block, length, MPI_INTEGER, got, lengths, places, MPI_INTEGER, communicator IERR)
         else
            call truth_moved('Iallgatherv', length * integer_bytes)
            call MPI_Iallgatherv(block, length, MPI_INTEGER, got, lengths, places, MPI_INTEGER, communicator, one IERR)
            call finish(one)
         end if
         call check_places(got, lengths, __LINE__)
         block = -1
         if (form == 1) then
            call truth_moved('Scatterv', merge(all_bytes, length * integer_bytes, own == 0))
            call MPI_Scatterv(had, lengths, places, MPI_INTEGER, block, length, MPI_INTEGER, 0, communicator IERR)
         else
            call truth_moved('Iscatterv', merge(all_bytes, length * integer_bytes, own == 0))
            call MPI_Iscatterv(had, lengths, places, MPI_INTEGER, block, length, MPI_INTEGER, 0, communicator, one IERR)
            call finish(one)
         end if
         call truth_check(all(block(:length) == 1) .and. all(block(length + 1:) == -1), __LINE__)
         got = -1
         if (form == 1) then
            call truth_moved('Alltoallv', all_bytes)
            call MPI_Alltoallv(had, lengths, places, MPI_INTEGER, got, own_lengths, places, MPI_INTEGER, communicator IERR)
         else
            call truth_moved('Ialltoallv', all_bytes)
            call MPI_Ialltoallv(had, lengths, places, MPI_INTEGER, got, own_lengths, places, MPI_INTEGER, communicator, &
               one IERR)
            call finish(one)
         end if
         call check_places(got, own_lengths, __LINE__)
         got = -1
         if (form == 1) then
            call truth_moved('Alltoallw', all_bytes)
            call MPI_Alltoallw(had, lengths, bytes_to, types, got, own_lengths, bytes_to, types, communicator IERR)
         else
            call truth_moved('Ialltoallw', all_bytes)
            call MPI_Ialltoallw(had, lengths, bytes_to, types, got, own_lengths, bytes_to, types, communicator, one IERR)
            call finish(one)
         end if
         call check_places(got, own_lengths, __LINE__)
      end do
   end subroutine

   ! Each rank's number plus one, as often as its length is, and nothing else.
   subroutine check_places(got, lengths, line)
      integer, intent(in) :: got(:), lengths(:), line
      integer :: at, position
      do at = 1, size(lengths)
         do position = 1, 3
            call truth_check(got(3 * at - 3 + position) == merge(at, -1, position <= lengths(at)), line)
         end do
      end do
   end subroutine

   subroutine blocks_in_place(communicator, own, members)
      COMM, intent(in) :: communicator
      integer, intent(in) :: own, members
      REQUEST :: one
      integer, asynchronous :: all_blocks(2, 0:members - 1)
      integer :: peer, last
      last = members - 1
      all_blocks = -1
      all_blocks(:, own) = 100 * own
      call truth_moved('Gather', 2 * integer_bytes)
      if (own == last) then
         call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, all_blocks, 2, MPI_INTEGER, last, communicator IERR)
         call truth_check(all(all_blocks(2, :) == [(100 * peer, peer = 0, last)]), __LINE__)
      else
         call MPI_Gather(all_blocks(1, own), 2, MPI_INTEGER, all_blocks, 2, MPI_INTEGER, last, communicator IERR)
      end if
      all_blocks = -1
      all_blocks(:, own) = 100 * own
      call truth_moved('Allgather', 2 * integer_bytes)
      call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, all_blocks, 2, MPI_INTEGER, communicator IERR)
      call truth_check(all(all_blocks(2, :) == [(100 * peer, peer = 0, last)]), __LINE__)
      if (own == last) then
         call truth_moved('Scatter', 2 * members * integer_bytes)
         call MPI_Scatter(all_blocks, 2, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, last, communicator IERR)
      else
         call truth_moved('Scatter', 2 * integer_bytes)
         call MPI_Scatter(all_blocks, 2, MPI_INTEGER, all_blocks, 2, MPI_INTEGER, last, communicator IERR)
         call truth_check(all(all_blocks(:, 0) == 100 * own), __LINE__)
      end if
      do peer = 0, last
         all_blocks(:, peer) = 100 * own + peer
      end do
      call truth_moved('Alltoall', 2 * members * integer_bytes)
      call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, all_blocks, 2, MPI_INTEGER, communicator IERR)
      call truth_check(all(all_blocks(2, :) == [(100 * peer + own, peer = 0, last)]), __LINE__)
      do peer = 0, last
         all_blocks(:, peer) = 100 * own + peer
      end do
      call truth_moved('Ialltoall', 2 * members * integer_bytes)
      call MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INTEGER, all_blocks, 2, MPI_INTEGER, communicator, one IERR)
      call finish(one)
      call truth_check(all(all_blocks(2, :) == [(100 * peer + own, peer = 0, last)]), __LINE__)
   end subroutine
