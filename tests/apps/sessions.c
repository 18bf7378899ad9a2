/* sessions: MPI by a session alone, without MPI_Init: a communicator of its processes, messages around a ring, a sum. For
 * an MPI of version 4. */
#include <mpi.h>
#include <stdio.h>

enum { TAG = 4, ROUNDS = 20 };

int main(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, size, sum = 0, initialized = 1;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) != MPI_SUCCESS)
        return 1;
    MPI_Initialized(&initialized);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < ROUNDS; round++) {
        int given = rank + round, taken = -1;
        MPI_Request request;
        MPI_Irecv(&taken, 1, MPI_INT, (rank + size - 1) % size, TAG, comm, &request);
        MPI_Send(&given, 1, MPI_INT, (rank + 1) % size, TAG, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (taken != (rank + size - 1) % size + round)
            return 2;
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    printf("rank %d of %d: %d, MPI_Init %s\n", rank, size, sum, initialized ? "was called" : "was not called");
    return 0;
}
