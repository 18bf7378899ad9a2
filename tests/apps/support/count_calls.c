/* A second opinion about what a program calls: counts calls, and the messages and bytes that its sends hand over.
 *
 * Preloaded into a program that is linked to MPI, it writes a file for each rank into the folder that COUNT_CALLS_FOLDER
 * names, at MPI_Finalize and once more when the process exits:
 *
 *     calls C MPI_Send 12
 *     calls Fortran MPI_Send 3        only Open MPI's: under MPICH Fortran calls go through the C functions
 *     sent C 12 96                    messages and bytes
 *
 * It shares nothing with the collector: no table of prototypes, no code, another way to call on. Every function takes
 * and hands on sixteen words, the most that any has with room to spare. That is no C that the standard knows, but it
 * holds for the calling conventions of Linux on x86-64 and AArch64, where arguments are words and the caller cleans up.
 * It is for MPI programs that call functions without floating-point arguments: all but MPI_Wtime and MPI_Wtick. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The first are those that send: buffer, count, type and destination are their first arguments. */
#define SENDS(X)                                                                                                      \
    X(Send, send) X(Bsend, bsend) X(Ssend, ssend) X(Rsend, rsend) X(Isend, isend) X(Ibsend, ibsend)                   \
    X(Issend, issend) X(Irsend, irsend) X(Sendrecv, sendrecv) X(Sendrecv_replace, sendrecv_replace)
#define OTHERS(X)                                                                                                     \
    X(Init, init) X(Init_thread, init_thread) X(Abort, abort) X(Recv, recv) X(Irecv, irecv) X(Probe, probe)           \
    X(Iprobe, iprobe) X(Mprobe, mprobe) X(Improbe, improbe) X(Mrecv, mrecv) X(Imrecv, imrecv) X(Wait, wait)           \
    X(Waitall, waitall) X(Waitany, waitany) X(Waitsome, waitsome) X(Test, test) X(Testall, testall)                   \
    X(Testany, testany) X(Testsome, testsome) X(Send_init, send_init) X(Bsend_init, bsend_init)                       \
    X(Ssend_init, ssend_init) X(Rsend_init, rsend_init) X(Recv_init, recv_init) X(Start, start)                       \
    X(Startall, startall) X(Cancel, cancel) X(Request_free, request_free)                                             \
    X(Request_get_status, request_get_status) X(Test_cancelled, test_cancelled)                                       \
    X(Buffer_attach, buffer_attach) X(Buffer_detach, buffer_detach) X(Barrier, barrier) X(Bcast, bcast)               \
    X(Gather, gather) X(Gatherv, gatherv) X(Scatter, scatter) X(Scatterv, scatterv) X(Allgather, allgather)           \
    X(Allgatherv, allgatherv) X(Alltoall, alltoall) X(Alltoallv, alltoallv) X(Alltoallw, alltoallw)                   \
    X(Reduce, reduce) X(Allreduce, allreduce) X(Reduce_scatter, reduce_scatter)                                       \
    X(Reduce_scatter_block, reduce_scatter_block) X(Scan, scan) X(Exscan, exscan) X(Ibarrier, ibarrier)               \
    X(Ibcast, ibcast) X(Igather, igather) X(Igatherv, igatherv) X(Iscatter, iscatter) X(Iscatterv, iscatterv)         \
    X(Iallgather, iallgather) X(Iallgatherv, iallgatherv) X(Ialltoall, ialltoall) X(Ialltoallv, ialltoallv)           \
    X(Ialltoallw, ialltoallw) X(Ireduce, ireduce) X(Iallreduce, iallreduce) X(Ireduce_scatter, ireduce_scatter)       \
    X(Ireduce_scatter_block, ireduce_scatter_block) X(Iscan, iscan) X(Iexscan, iexscan)                               \
    X(Neighbor_allgather, neighbor_allgather) X(Neighbor_allgatherv, neighbor_allgatherv)                             \
    X(Neighbor_alltoall, neighbor_alltoall) X(Neighbor_alltoallv, neighbor_alltoallv)                                 \
    X(Neighbor_alltoallw, neighbor_alltoallw) X(Comm_dup, comm_dup) X(Comm_idup, comm_idup)                           \
    X(Comm_dup_with_info, comm_dup_with_info) X(Comm_split, comm_split) X(Comm_split_type, comm_split_type)           \
    X(Comm_create, comm_create) X(Comm_create_group, comm_create_group) X(Comm_free, comm_free)                       \
    X(Comm_disconnect, comm_disconnect) X(Cart_create, cart_create) X(Cart_sub, cart_sub)                             \
    X(Graph_create, graph_create) X(Dist_graph_create, dist_graph_create)                                             \
    X(Dist_graph_create_adjacent, dist_graph_create_adjacent) X(Intercomm_create, intercomm_create)                   \
    X(Intercomm_merge, intercomm_merge) X(Comm_spawn, comm_spawn) X(Win_create, win_create)                           \
    X(Win_allocate, win_allocate) X(Win_allocate_shared, win_allocate_shared) X(Win_free, win_free)                   \
    X(Win_fence, win_fence) X(Win_lock, win_lock) X(Win_unlock, win_unlock) X(Put, put) X(Get, get)                   \
    X(Accumulate, accumulate) X(File_open, file_open) X(File_close, file_close)                                       \
    X(File_write_at_all, file_write_at_all) X(File_read_at_all, file_read_at_all)

#define ENUMERATOR(name, fortran) AT_##name,
enum { SENDS(ENUMERATOR) OTHERS(ENUMERATOR) AT_Finalize, FUNCTIONS };
#define NAME(name, fortran) "MPI_" #name,
static const char *const names[] = {SENDS(NAME) OTHERS(NAME) "MPI_Finalize"};

enum { C, FORTRAN, LANGUAGES };
static const char *const languages[] = {"C", "Fortran"};
static _Atomic long long calls[LANGUAGES][FUNCTIONS], messages[LANGUAGES], bytes[LANGUAGES];
static pid_t process;

__attribute__((constructor)) static void begin(void)
{
    process = getpid();
}

/* A launcher has no rank, and a child that a rank forked is not the rank. */
__attribute__((destructor)) static void tell(void)
{
    const char *folder = getenv("COUNT_CALLS_FOLDER"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        rank = getenv("PMI_RANK");
    long long all = 0;
    for (int at = 0; at < LANGUAGES * FUNCTIONS; at++)
        all += calls[at / FUNCTIONS][at % FUNCTIONS];
    if (!folder || !rank || all == 0 || process != getpid())
        return;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.calls", folder, rank);
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    for (int language = 0; language < LANGUAGES; language++) {
        for (int function = 0; function < FUNCTIONS; function++)
            if (calls[language][function] > 0)
                fprintf(file, "calls %s %s %lld\n", languages[language], names[function], calls[language][function]);
        fprintf(file, "sent %s %lld %lld\n", languages[language], messages[language], bytes[language]);
    }
    if (fclose(file))
        abort();
}

/* A message to nobody is none. */
static void sent(int language, long long count, MPI_Datatype type, int destination)
{
    MPI_Count size = 0;
    if (destination == MPI_PROC_NULL)
        return;
    PMPI_Type_size_x(type, &size);
    messages[language]++;
    bytes[language] += count * size;
}

#define WORDS                                                                                                         \
    long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n,   \
        long o, long p
#define THE_WORDS a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p

/* In C functions of our own have the symbols of MPI's, which mpi.h declares otherwise. */
#define COUNTED(own, symbol, real_symbol, language, function, before)                                                 \
    int real_##own(WORDS) __asm__(real_symbol);                                                                       \
    int own(WORDS) __asm__(symbol);                                                                                   \
    int own(WORDS)                                                                                                    \
    {                                                                                                                 \
        calls[language][AT_##function]++;                                                                             \
        before;                                                                                                       \
        return real_##own(THE_WORDS);                                                                                 \
    }
#define IN_C(name, fortran) COUNTED(c_##name, "MPI_" #name, "PMPI_" #name, C, name, )
#define SEND_IN_C(name, fortran)                                                                                      \
    COUNTED(c_##name, "MPI_" #name, "PMPI_" #name, C, name, sent(C, (int)b, (MPI_Datatype)c, (int)d))
SENDS(SEND_IN_C)
OTHERS(IN_C)
COUNTED(c_Finalize, "MPI_Finalize", "PMPI_Finalize", C, Finalize, tell())

#ifdef OPEN_MPI
/* Each argument is the address of an integer. Open MPI's go straight to PMPI functions, so nothing counts twice. */
#define IN_FORTRAN(name, fortran) COUNTED(f_##name, "mpi_" #fortran "_", "pmpi_" #fortran "_", FORTRAN, name, )
#define SEND_IN_FORTRAN(name, fortran)                                                                                \
    COUNTED(f_##name, "mpi_" #fortran "_", "pmpi_" #fortran "_", FORTRAN, name,                                       \
            sent(FORTRAN, *(int *)b, PMPI_Type_f2c(*(int *)c), *(int *)d))
SENDS(SEND_IN_FORTRAN)
OTHERS(IN_FORTRAN)
COUNTED(f_Finalize, "mpi_finalize_", "pmpi_finalize_", FORTRAN, Finalize, tell())
#endif
