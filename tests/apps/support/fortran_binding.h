! The ways to use MPI from Fortran, behind one set of names: a program defines BINDING_MPIF, BINDING_MPI or BINDING_F08
! before it includes this, and LEAVE_OUT_IERROR where it passes no ierror.
#ifdef BINDING_MPIF
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#endif
#ifdef BINDING_MPI
#define USE_MPI use mpi
#define INCLUDE_MPI
#endif
#ifdef BINDING_F08
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define DATATYPE type(MPI_Datatype)
#define MESSAGE type(MPI_Message)
#define WINDOW type(MPI_Win)
#define FILE type(MPI_File)
#define ADDRESS type(c_ptr)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, count) type(MPI_Status) :: name(count)
#define SOURCE_OF(status) status%MPI_SOURCE
#define TAG_OF(status) status%MPI_TAG
#define SOURCE_OF_ONE(statuses, at) statuses(at)%MPI_SOURCE
#define TAG_OF_ONE(statuses, at) statuses(at)%MPI_TAG
#else
#define COMM integer
#define REQUEST integer
#define DATATYPE integer
#define MESSAGE integer
#define WINDOW integer
#define FILE integer
#define ADDRESS integer(kind=MPI_ADDRESS_KIND)
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, count) integer :: name(MPI_STATUS_SIZE, count)
#define SOURCE_OF(status) status(MPI_SOURCE)
#define TAG_OF(status) status(MPI_TAG)
#define SOURCE_OF_ONE(statuses, at) statuses(MPI_SOURCE, at)
#define TAG_OF_ONE(statuses, at) statuses(MPI_TAG, at)
#endif
#ifdef LEAVE_OUT_IERROR
#define IERR
#define IERR_ALONE
#else
#define IERR , ierror
#define IERR_ALONE ierror
#endif
