! sites: calls each function of MPI in one place, which a mark beside it names, with the subroutine that it is in. What a
! mark says is only so by mpif: of some calls with interfaces gfortran tells debuggers another line.
subroutine solve(rank, rounds)
#if defined(BINDING_F08)
    use mpi_f08
    implicit none
    type(MPI_Request) :: request
#elif defined(BINDING_MPI)
    use mpi
    implicit none
    integer :: request
#else
    implicit none
    include 'mpif.h'
    integer :: request
#endif
    integer :: rank, rounds, round, ierror, value(1)
    value = rank
    do round = 1, rounds
        if (rank == 0) call MPI_Send(value, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierror) ! site: MPI_Send in solve
        if (rank == 1) then
            call MPI_Irecv(value, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, request, ierror) ! site: MPI_Irecv in solve
            call MPI_Wait(request, MPI_STATUS_IGNORE, ierror) ! site: MPI_Wait in solve by mpif
        end if
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierror) ! site: MPI_Barrier in solve
    rounds = ierror
end subroutine solve

program sites
#if defined(BINDING_F08)
    use mpi_f08
    implicit none
#elif defined(BINDING_MPI)
    use mpi
    implicit none
#else
    implicit none
    include 'mpif.h'
#endif
    integer :: rank, ierror, rounds
    call MPI_Init(ierror) ! site: MPI_Init in sites by mpif
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    rounds = 50
    call solve(rank, rounds)
    call MPI_Finalize(ierror) ! site: MPI_Finalize in sites by mpif
end program sites
