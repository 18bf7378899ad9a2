/* An MPI library of one rank whose functions do next to nothing: all that a call takes under the collector is
 * the collector's. It says that it is Open MPI. Each function has its PMPI_ name and a weak MPI_ one. */
#include <mpi.h>
#include <string.h>

#define FUNCTION(name, ...)                                                                 \
    int MPI_##name(__VA_ARGS__) __attribute__((weak, alias("PMPI_" #name)));                \
    int PMPI_##name(__VA_ARGS__);                                                           \
    int PMPI_##name(__VA_ARGS__)

enum { MOST_REQUESTS = 256 };

struct fake_object ompi_mpi_comm_world, ompi_mpi_comm_null, ompi_mpi_op_sum, ompi_request_null;
struct fake_object ompi_mpi_uint64_t = {8};

static struct fake_object requests[MOST_REQUESTS], group;
static unsigned made;
static int initialized;

static MPI_Request next_request(void)
{
    return &requests[made++ % MOST_REQUESTS];
}

/* Everything comes from rank 0 with tag 0 and 8 bytes. */
static void complete(MPI_Request *request, MPI_Status *status)
{
    *request = MPI_REQUEST_NULL;
    if (status != MPI_STATUS_IGNORE)
        *status = (MPI_Status){.bytes = 8};
}

FUNCTION(Init, int *argc, char ***argv)
{
    (void)argc, (void)argv;
    initialized = 1;
    return 0;
}

FUNCTION(Finalize, void)
{
    return 0;
}

FUNCTION(Initialized, int *flag)
{
    *flag = initialized;
    return 0;
}

FUNCTION(Query_thread, int *level)
{
    *level = 0;
    return 0;
}

FUNCTION(Request_get_status, MPI_Request request, int *flag, MPI_Status *status)
{
    (void)request, (void)status;
    *flag = 0;
    return 0;
}

FUNCTION(Get_library_version, char *text, int *length)
{
    strcpy(text, "Open MPI v4.0.0, a fake for counting instructions");
    *length = (int)strlen(text);
    return 0;
}

FUNCTION(Comm_rank, MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return 0;
}

FUNCTION(Comm_size, MPI_Comm comm, int *size)
{
    (void)comm;
    *size = 1;
    return 0;
}

FUNCTION(Comm_group, MPI_Comm comm, MPI_Group *found)
{
    (void)comm;
    *found = &group;
    return 0;
}

FUNCTION(Comm_remote_group, MPI_Comm comm, MPI_Group *found)
{
    return PMPI_Comm_group(comm, found);
}

FUNCTION(Comm_test_inter, MPI_Comm comm, int *flag)
{
    (void)comm;
    *flag = 0;
    return 0;
}

FUNCTION(Group_size, MPI_Group of, int *size)
{
    (void)of;
    *size = 1;
    return 0;
}

FUNCTION(Group_translate_ranks, MPI_Group from, int count, const int *ranks, MPI_Group to, int *translated)
{
    (void)from, (void)to;
    memcpy(translated, ranks, (size_t)count * sizeof *ranks);
    return 0;
}

FUNCTION(Group_free, MPI_Group *freed)
{
    (void)freed;
    return 0;
}

FUNCTION(Type_size_x, MPI_Datatype type, long long *size)
{
    *size = (long long)type->size;
    return 0;
}

FUNCTION(Error_class, int error, int *class)
{
    *class = error;
    return 0;
}

/* No communicator has a topology: what is asked of one is never called. */
FUNCTION(Topo_test, MPI_Comm comm, int *kind)
{
    (void)comm;
    *kind = -1;
    return 0;
}

FUNCTION(Cartdim_get, MPI_Comm comm, int *dimensions)
{
    (void)comm;
    *dimensions = 0;
    return 0;
}

FUNCTION(Cart_get, MPI_Comm comm, int most, int *sizes, int *periods, int *places)
{
    (void)comm, (void)most, (void)sizes, (void)periods, (void)places;
    return 0;
}

FUNCTION(Graph_neighbors_count, MPI_Comm comm, int rank, int *neighbors)
{
    (void)comm, (void)rank;
    *neighbors = 0;
    return 0;
}

FUNCTION(Dist_graph_neighbors_count, MPI_Comm comm, int *sources, int *destinations, int *weighted)
{
    (void)comm;
    *sources = *destinations = *weighted = 0;
    return 0;
}

FUNCTION(Send, const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    (void)buffer, (void)count, (void)type, (void)to, (void)tag, (void)comm;
    return 0;
}

FUNCTION(Recv, void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    (void)buffer, (void)count, (void)type, (void)from, (void)tag, (void)comm;
    if (status != MPI_STATUS_IGNORE)
        *status = (MPI_Status){.bytes = 8};
    return 0;
}

FUNCTION(Isend, const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    (void)buffer, (void)count, (void)type, (void)to, (void)tag, (void)comm;
    *request = next_request();
    return 0;
}

FUNCTION(Irecv, void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    (void)buffer, (void)count, (void)type, (void)from, (void)tag, (void)comm;
    *request = next_request();
    return 0;
}

FUNCTION(Wait, MPI_Request *request, MPI_Status *status)
{
    complete(request, status);
    return 0;
}

FUNCTION(Waitall, int count, MPI_Request *all, MPI_Status *statuses)
{
    for (int place = 0; place < count; place++)
        complete(&all[place], statuses == MPI_STATUSES_IGNORE ? statuses : &statuses[place]);
    return 0;
}

/* Never is anything done: what is counted is the failed poll. */
FUNCTION(Test, MPI_Request *request, int *flag, MPI_Status *status)
{
    (void)request, (void)status;
    *flag = 0;
    return 0;
}

FUNCTION(Allreduce, const void *own, void *sum, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm)
{
    (void)own, (void)sum, (void)count, (void)type, (void)operation, (void)comm;
    return 0;
}

FUNCTION(Barrier, MPI_Comm comm)
{
    (void)comm;
    return 0;
}
