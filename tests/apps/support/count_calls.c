/* A second opinion about what a program calls: counts calls, the messages and bytes that its sends hand over, and the
 * bytes that its blocking collectives move.
 *
 * Preloaded into a program that is linked to MPI, it writes a file for each rank into the folder that COUNT_CALLS_FOLDER
 * names, at MPI_Finalize and once more when the process exits:
 *
 *     calls C MPI_Send 12
 *     calls Fortran MPI_Send 3        only Open MPI's: under MPICH Fortran calls go through the C functions
 *     moved C MPI_Bcast 800           what the collective's calls handed over, or received where they sent nothing
 *     sent C 12 96                    messages and bytes
 *
 * It shares nothing with the collector: no table of prototypes, no code, another way to call on. A call goes on to
 * whatever has the same symbol behind this library: to MPI, or to a collector that is preloaded behind it: both
 * count one run. Programs that call as often as the moment makes them are compared exactly that way, too.
 *
 * Every function takes and hands on sixteen words, the most that any has with room to spare. That is no C that the
 * standard knows, but it holds for the calling conventions of Linux on x86-64 and AArch64, where arguments are words and
 * the caller cleans up. It is for MPI programs that call functions without floating-point arguments: all but MPI_Wtime
 * and MPI_Wtick. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The first are those that send: buffer, count, type and destination are their first arguments. */
#define SENDS(X)                                                                                                      \
    X(Send, send) X(Bsend, bsend) X(Ssend, ssend) X(Rsend, rsend) X(Isend, isend) X(Ibsend, ibsend)                   \
    X(Issend, issend) X(Irsend, irsend) X(Sendrecv, sendrecv) X(Sendrecv_replace, sendrecv_replace)
/* What these move follows from their arguments, L being the language that they are in. */
#define MOVES(X)                                                                                                      \
    X(Bcast, bcast, is_nobody(L, d) ? 0 : bytes_of(number(L, b), type(L, c)))                                         \
    X(Reduce, reduce, is_nobody(L, f) ? 0 : bytes_of(number(L, c), type(L, d)))                                       \
    X(Allreduce, allreduce, bytes_of(number(L, c), type(L, d)))                                                       \
    X(Scan, scan, bytes_of(number(L, c), type(L, d)))                                                                 \
    X(Exscan, exscan, bytes_of(number(L, c), type(L, d)))                                                             \
    X(Gather, gather,                                                                                                 \
      is_nobody(L, g)     ? 0                                                                                         \
      : is_root(L, g)     ? peers(communicator(L, h)) * bytes_of(number(L, e), type(L, f))                            \
      : is_in_place(L, a) ? bytes_of(number(L, e), type(L, f))                                                        \
                          : bytes_of(number(L, b), type(L, c)))                                                       \
    X(Gatherv, gatherv,                                                                                               \
      is_nobody(L, h)     ? 0                                                                                         \
      : is_root(L, h)     ? bytes_of(sum(e, communicator(L, i)), type(L, g))                                          \
      : is_in_place(L, a) ? bytes_of(own(e, communicator(L, i)), type(L, g))                                          \
                          : bytes_of(number(L, b), type(L, c)))                                                       \
    X(Allgather, allgather,                                                                                           \
      is_in_place(L, a) ? bytes_of(number(L, e), type(L, f)) : bytes_of(number(L, b), type(L, c)))                    \
    X(Allgatherv, allgatherv,                                                                                         \
      is_in_place(L, a) ? bytes_of(own(e, communicator(L, h)), type(L, g)) : bytes_of(number(L, b), type(L, c)))      \
    X(Alltoall, alltoall,                                                                                             \
      peers(communicator(L, g)) *                                                                                     \
          (is_in_place(L, a) ? bytes_of(number(L, e), type(L, f)) : bytes_of(number(L, b), type(L, c))))              \
    X(Alltoallv, alltoallv,                                                                                           \
      is_in_place(L, a) ? bytes_of(sum(f, communicator(L, i)), type(L, h))                                            \
                        : bytes_of(sum(b, communicator(L, i)), type(L, d)))
#define OTHERS(X)                                                                                                     \
    X(Init, init) X(Init_thread, init_thread) X(Abort, abort) X(Recv, recv) X(Irecv, irecv) X(Probe, probe)           \
    X(Iprobe, iprobe) X(Mprobe, mprobe) X(Improbe, improbe) X(Mrecv, mrecv) X(Imrecv, imrecv) X(Wait, wait)           \
    X(Waitall, waitall) X(Waitany, waitany) X(Waitsome, waitsome) X(Test, test) X(Testall, testall)                   \
    X(Testany, testany) X(Testsome, testsome) X(Send_init, send_init) X(Bsend_init, bsend_init)                       \
    X(Ssend_init, ssend_init) X(Rsend_init, rsend_init) X(Recv_init, recv_init) X(Start, start)                       \
    X(Startall, startall) X(Cancel, cancel) X(Request_free, request_free)                                             \
    X(Request_get_status, request_get_status) X(Test_cancelled, test_cancelled)                                       \
    X(Buffer_attach, buffer_attach) X(Buffer_detach, buffer_detach) X(Barrier, barrier) X(Scatter, scatter)           \
    X(Scatterv, scatterv) X(Alltoallw, alltoallw) X(Reduce_scatter, reduce_scatter)                                   \
    X(Reduce_scatter_block, reduce_scatter_block) X(Ibarrier, ibarrier)                                               \
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

#define ENUMERATOR(name, ...) AT_##name,
enum { MOVES(ENUMERATOR) MOVING, SENDS(ENUMERATOR) OTHERS(ENUMERATOR) AT_Finalize, FUNCTIONS };
#define NAME(name, ...) "MPI_" #name,
static const char *const names[] = {MOVES(NAME) "", SENDS(NAME) OTHERS(NAME) "MPI_Finalize"};

enum { C, FORTRAN, LANGUAGES };
static const char *const languages[] = {"C", "Fortran"};
static _Atomic long long calls[LANGUAGES][FUNCTIONS], moved[LANGUAGES][MOVING], messages[LANGUAGES], bytes[LANGUAGES];
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
        for (int function = 0; function < MOVING; function++)
            if (calls[language][function] > 0)
                fprintf(file, "moved %s %s %lld\n", languages[language], names[function], moved[language][function]);
        fprintf(file, "sent %s %lld %lld\n", languages[language], messages[language], bytes[language]);
    }
    if (fclose(file))
        abort();
}

/* In Fortran each argument is the address of an integer. */
static int number(int language, long word)
{
    return language == C ? (int)word : *(int *)word;
}

static MPI_Datatype type(int language, long word)
{
    return language == C ? (MPI_Datatype)word : PMPI_Type_f2c(*(int *)word);
}

static MPI_Comm communicator(int language, long word)
{
    return language == C ? (MPI_Comm)word : PMPI_Comm_f2c(*(int *)word);
}

static int is_nobody(int language, long word)
{
    return number(language, word) == MPI_PROC_NULL;
}

/* Between two groups, in that of the root. */
static int is_root(int language, long word)
{
    return number(language, word) == MPI_ROOT;
}

static int is_in_place(int language, long word)
{
    void *of_fortran = language == FORTRAN ? dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_") : NULL;
    return language == C ? (void *)word == MPI_IN_PLACE : of_fortran && (void *)word == of_fortran;
}

static int peers(MPI_Comm communicator)
{
    int between_groups, count;
    PMPI_Comm_test_inter(communicator, &between_groups);
    /* Calls alone: the address of a function would be looked up in launchers, too, which have no MPI. */
    if (between_groups)
        PMPI_Comm_remote_size(communicator, &count);
    else
        PMPI_Comm_size(communicator, &count);
    return count;
}

static long long sum(long counts, MPI_Comm communicator)
{
    long long all = 0;
    for (int peer = 0; peer < peers(communicator); peer++)
        all += ((int *)counts)[peer];
    return all;
}

static long long own(long counts, MPI_Comm communicator)
{
    int rank;
    PMPI_Comm_rank(communicator, &rank);
    return ((int *)counts)[rank];
}

static long long bytes_of(long long count, MPI_Datatype type)
{
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return count * size;
}

/* A message to nobody is none. */
static void sent(int language, long count, long type_word, long destination)
{
    if (is_nobody(language, destination))
        return;
    messages[language]++;
    bytes[language] += bytes_of(number(language, count), type(language, type_word));
}

#define WORDS                                                                                                         \
    long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n,   \
        long o, long p
#define THE_WORDS a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p

typedef int function(WORDS);

static function *behind(const char *symbol)
{
    function *found = (function *)dlsym(RTLD_NEXT, symbol);
    if (!found) {
        fprintf(stderr, "count_calls: there is no %s\n", symbol);
        abort();
    }
    return found;
}

/* In C functions of our own have the symbols of MPI's, which mpi.h declares otherwise. Threads that are in one for the
 * first time find, and store, the same address. */
#define COUNTED(own, symbol, language, name, before)                                                                  \
    int own(WORDS) __asm__(symbol);                                                                                   \
    int own(WORDS)                                                                                                    \
    {                                                                                                                 \
        static function *real;                                                                                        \
        enum { L = language };                                                                                        \
        calls[L][AT_##name]++;                                                                                        \
        before;                                                                                                       \
        if (!real)                                                                                                    \
            real = behind(symbol);                                                                                    \
        return real(THE_WORDS);                                                                                       \
    }
#define IN_C(name, fortran) COUNTED(c_##name, "MPI_" #name, C, name, )
#define SEND_IN_C(name, fortran) COUNTED(c_##name, "MPI_" #name, C, name, sent(L, b, c, d))
#define MOVE_IN_C(name, fortran, bytes) COUNTED(c_##name, "MPI_" #name, C, name, moved[L][AT_##name] += bytes)
SENDS(SEND_IN_C)
MOVES(MOVE_IN_C)
OTHERS(IN_C)
COUNTED(c_Finalize, "MPI_Finalize", C, Finalize, tell())

#ifdef OPEN_MPI
/* Open MPI's go straight to PMPI functions, so nothing counts twice. */
#define IN_FORTRAN(name, fortran) COUNTED(f_##name, "mpi_" #fortran "_", FORTRAN, name, )
#define SEND_IN_FORTRAN(name, fortran) COUNTED(f_##name, "mpi_" #fortran "_", FORTRAN, name, sent(L, b, c, d))
#define MOVE_IN_FORTRAN(name, fortran, bytes)                                                                         \
    COUNTED(f_##name, "mpi_" #fortran "_", FORTRAN, name, moved[L][AT_##name] += bytes)
SENDS(SEND_IN_FORTRAN)
MOVES(MOVE_IN_FORTRAN)
OTHERS(IN_FORTRAN)
COUNTED(f_Finalize, "mpi_finalize_", FORTRAN, Finalize, tell())
#endif
