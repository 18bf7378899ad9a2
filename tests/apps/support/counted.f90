! What count_calls.c is tried on: as many calls as the test says, from Fortran.
program counted
    use mpi
    implicit none
    integer :: rank, ranks, error, at, from
    integer :: status(MPI_STATUS_SIZE)
    real(8) :: buffer(10)
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    buffer = rank
    if (rank == 0) then
        do at = 1, ranks - 1
            call MPI_Recv(buffer, 10, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, status, error)
        end do
    else
        call MPI_Send(buffer, 10, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, error)
    end if
    call MPI_Send(buffer, 10, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 1, MPI_COMM_WORLD, error)
    buffer = rank
    from = mod(rank + ranks - 1, ranks)
    call MPI_Sendrecv_replace(buffer, 3, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 2, from, 2, MPI_COMM_WORLD, &
                              status, error)
    if (nint(buffer(3)) /= from) call MPI_Abort(MPI_COMM_WORLD, 1, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Bcast(buffer, 10, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
    call MPI_Allreduce(MPI_IN_PLACE, buffer, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    if (nint(buffer(10)) /= 0) call MPI_Abort(MPI_COMM_WORLD, 2, error)
    call MPI_Finalize(error)
end program counted
