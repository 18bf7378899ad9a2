/* The little of MPI that one_call.c and floor.c need, with the ABI of Open MPI 4: handles are addresses. */
#ifndef FAKE_MPI_H
#define FAKE_MPI_H

#include <stddef.h>

typedef struct fake_object {
    size_t size;
} *MPI_Comm, *MPI_Datatype, *MPI_Group, *MPI_Op, *MPI_Request;

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, cancelled;
    size_t bytes;
} MPI_Status;

extern struct fake_object ompi_mpi_comm_world, ompi_mpi_comm_null, ompi_mpi_uint64_t, ompi_mpi_op_sum;
extern struct fake_object ompi_request_null;

#define MPI_COMM_WORLD (&ompi_mpi_comm_world)
#define MPI_UINT64_T (&ompi_mpi_uint64_t)
#define MPI_SUM (&ompi_mpi_op_sum)
#define MPI_REQUEST_NULL (&ompi_request_null)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)

/* Each function by its name and by that of the profiling interface. */
#define BOTH(name, ...) int MPI_##name(__VA_ARGS__), PMPI_##name(__VA_ARGS__)

BOTH(Init, int *argc, char ***argv);
BOTH(Finalize, void);
BOTH(Send, const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
BOTH(Recv, void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status);
BOTH(Isend, const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
BOTH(Irecv, void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request);
BOTH(Wait, MPI_Request *request, MPI_Status *status);
BOTH(Waitall, int count, MPI_Request *requests, MPI_Status *statuses);
BOTH(Test, MPI_Request *request, int *flag, MPI_Status *status);
BOTH(Allreduce, const void *own, void *sum, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm);
BOTH(Barrier, MPI_Comm comm);

#undef BOTH

#endif
