/* The programs' own word about what they did, to compare a recording with.
 *
 * Each T_Something counts the call and then calls MPI_Something exactly once. T_Finalize prints what all ranks
 * counted, from rank 0:
 *
 *     mpiscope-truth 1
 *     pair SOURCE DESTINATION MESSAGES BYTES      world ranks; only pairs that have messages
 *     calls RANK FUNCTION COUNT                   only functions that were called
 *     moved RANK FUNCTION BYTES                   of the collectives and of truth_others.h; only where it is not 0
 *     end
 *
 * What a collective moved on a rank is what the call hands over, its block for itself included, or what it receives
 * where it hands over nothing. Of a nonblocking one it counts when it is started.
 *
 * - The MPI names that are counted are poisoned below: to forget the counting is an error of compilation.
 * - The wrappers are macros and not functions: the call stands in the program's own line and function, as
 *   it would in any other program. The price: the sends evaluate their arguments twice; give them no side effects.
 * - The counting itself uses PMPI_ calls, which a recording through the profiling interface does not see.
 * - A call is counted before it is made, for the calls that do not return.
 * - What reductions and broadcasts move follows from their arguments. Of the other collectives, where it depends on
 *   the communicator, the root and MPI_IN_PLACE, the program says it: it is the first argument of the wrapper.
 * - A persistent send is a message each time it is started: the program says so by truth_message.
 * - The counters are atomic, for programs with several threads. */
#ifndef TRUTH_H
#define TRUTH_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include "truth_others.h"

/* MPICH's MPI_STATUSES_IGNORE and MPI_UNWEIGHTED are addresses that GCC takes for objects that are too small. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif

#define TRUTH_FUNCTIONS(X)                                                                  \
    X(Init) X(Init_thread) X(Finalize) X(Abort)                                             \
    X(Send) X(Bsend) X(Ssend) X(Rsend) X(Isend) X(Ibsend) X(Issend) X(Irsend)               \
    X(Recv) X(Irecv) X(Sendrecv) X(Sendrecv_replace)                                        \
    X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome)     \
    X(Probe) X(Iprobe) X(Barrier) X(Bcast) X(Reduce) X(Allreduce)                           \
    X(Comm_split) X(Comm_dup) X(Comm_create) X(Comm_free)                                   \
    X(Send_init) X(Bsend_init) X(Ssend_init) X(Rsend_init) X(Recv_init) X(Start) X(Startall) \
    X(Cancel) X(Request_free) X(Mprobe) X(Improbe) X(Mrecv) X(Imrecv)                       \
    X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv)                  \
    X(Alltoall) X(Alltoallv) X(Alltoallw) X(Reduce_scatter) X(Reduce_scatter_block) X(Scan) X(Exscan) \
    X(Ibarrier) X(Ibcast) X(Ireduce) X(Iallreduce)                                          \
    X(Igather) X(Igatherv) X(Iscatter) X(Iscatterv) X(Iallgather) X(Iallgatherv)            \
    X(Ialltoall) X(Ialltoallv) X(Ialltoallw) X(Ireduce_scatter) X(Ireduce_scatter_block) X(Iscan) X(Iexscan)

#define TRUTH_ALL(X) TRUTH_FUNCTIONS(X) TRUTH_OTHERS(X)

#define TRUTH_ENUMERATOR(name) TRUTH_##name,
enum truth_function { TRUTH_ALL(TRUTH_ENUMERATOR) TRUTH_FUNCTION_COUNT };

#define TRUTH_NAME(name) "MPI_" #name,
static const char *const truth_names[] = {TRUTH_ALL(TRUTH_NAME)};

static _Atomic long long truth_calls[TRUTH_FUNCTION_COUNT];
static _Atomic long long truth_moved_bytes[TRUTH_FUNCTION_COUNT];
static _Atomic long long *truth_messages; /* by world rank of the destination */
static _Atomic long long *truth_bytes;
static int truth_world_size;
static MPI_Group truth_world_group;

/* For the programs' checks of themselves: a violated one ends the whole job with status 1. */
#define truth_require(condition)                                                            \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition);       \
            PMPI_Abort(MPI_COMM_WORLD, 1);                                                  \
        }                                                                                   \
    } while (0)

static inline void truth_count(enum truth_function function)
{
    atomic_fetch_add_explicit(&truth_calls[function], 1, memory_order_relaxed);
}

static inline void truth_prepare(void)
{
    PMPI_Comm_size(MPI_COMM_WORLD, &truth_world_size);
    PMPI_Comm_group(MPI_COMM_WORLD, &truth_world_group);
    truth_messages = calloc((size_t)truth_world_size, sizeof *truth_messages);
    truth_bytes = calloc((size_t)truth_world_size, sizeof *truth_bytes);
    truth_require(truth_messages && truth_bytes);
}

static inline int truth_world_rank(int rank, MPI_Comm communicator)
{
    if (communicator == MPI_COMM_WORLD)
        return rank;
    MPI_Group group;
    int world_rank, is_between_groups;
    PMPI_Comm_test_inter(communicator, &is_between_groups);
    if (is_between_groups)
        PMPI_Comm_remote_group(communicator, &group);
    else
        PMPI_Comm_group(communicator, &group);
    PMPI_Group_translate_ranks(group, 1, &rank, truth_world_group, &world_rank);
    PMPI_Group_free(&group);
    return world_rank;
}

static inline long long truth_size_of(long long count, MPI_Datatype type)
{
    MPI_Count type_size;
    PMPI_Type_size_x(type, &type_size);
    return count * type_size;
}

/* Adds messages to the truth, or takes one back where the count of messages is negative, as after a send that was
 * cancelled. What goes to MPI_PROC_NULL is no message. */
static inline void truth_messages_of(int messages, int count, MPI_Datatype type, int destination,
                                     MPI_Comm communicator)
{
    if (destination == MPI_PROC_NULL)
        return;
    int world_rank = truth_world_rank(destination, communicator);
    long long bytes = messages * truth_size_of(count, type);
    atomic_fetch_add_explicit(&truth_messages[world_rank], messages, memory_order_relaxed);
    atomic_fetch_add_explicit(&truth_bytes[world_rank], bytes, memory_order_relaxed);
}

static inline void truth_message(int count, MPI_Datatype type, int destination, MPI_Comm communicator)
{
    truth_messages_of(1, count, type, destination, communicator);
}

static inline void truth_sent(enum truth_function function, int count, MPI_Datatype type, int destination,
                              MPI_Comm communicator)
{
    truth_count(function);
    truth_message(count, type, destination, communicator);
}

static inline void truth_moved(enum truth_function function, long long bytes)
{
    truth_count(function);
    atomic_fetch_add_explicit(&truth_moved_bytes[function], bytes, memory_order_relaxed);
}

/* Reductions and broadcasts. Of an intercommunicator's two groups, whoever is not the root in the root's one has
 * nothing to do with it. */
static inline void truth_reduced(enum truth_function function, long long count, MPI_Datatype type, int root)
{
    truth_moved(function, root == MPI_PROC_NULL ? 0 : truth_size_of(count, type));
}

/* Collective over the world. T_Finalize does it; only programs that end otherwise call it themselves. The barrier
 * lets nobody go on, and perhaps end the job, before the truth is out. */
static inline void truth_print(void)
{
    int rank, size = truth_world_size, functions = TRUTH_FUNCTION_COUNT, width = 2 * (functions + size);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long long *own = malloc((size_t)width * sizeof *own);
    long long *all = rank == 0 ? malloc((size_t)size * (size_t)width * sizeof *all) : NULL;
    truth_require(own && (all || rank != 0));
    for (int function = 0; function < functions; function++) {
        own[function] = atomic_load(&truth_calls[function]);
        own[functions + function] = atomic_load(&truth_moved_bytes[function]);
    }
    for (int destination = 0; destination < size; destination++) {
        own[2 * functions + destination] = atomic_load(&truth_messages[destination]);
        own[2 * functions + size + destination] = atomic_load(&truth_bytes[destination]);
    }
    PMPI_Gather(own, width, MPI_LONG_LONG, all, width, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("mpiscope-truth 1\n");
        for (int source = 0; source < size; source++) {
            const long long *messages = all + (size_t)source * (size_t)width + 2 * functions;
            for (int destination = 0; destination < size; destination++)
                if (messages[destination] > 0)
                    printf("pair %d %d %lld %lld\n", source, destination, messages[destination],
                           messages[size + destination]);
        }
        for (int caller = 0; caller < size; caller++)
            for (int function = 0; function < functions; function++) {
                const long long *calls = all + (size_t)caller * (size_t)width + function;
                if (calls[0] > 0)
                    printf("calls %d %s %lld\n", caller, truth_names[function], calls[0]);
                if (calls[functions] > 0)
                    printf("moved %d %s %lld\n", caller, truth_names[function], calls[functions]);
            }
        printf("end\n");
        fflush(stdout);
    }
    free(own);
    free(all);
    PMPI_Barrier(MPI_COMM_WORLD);
}

/* The whole number at a position of the command line, or the default when there is none. */
static inline long truth_argument(int argument_count, char **arguments, int position, long otherwise)
{
    return position < argument_count ? strtol(arguments[position], NULL, 10) : otherwise;
}

/* A function that returns after its call is counted, with whatever the call returned. */
static inline int truth_prepared(int result)
{
    truth_prepare();
    return result;
}

#define T_Init(...) (truth_count(TRUTH_Init), truth_prepared(MPI_Init(__VA_ARGS__)))
#define T_Init_thread(...) (truth_count(TRUTH_Init_thread), truth_prepared(MPI_Init_thread(__VA_ARGS__)))
#define T_Finalize() (truth_count(TRUTH_Finalize), truth_print(), MPI_Finalize())
/* Nothing can be printed after an abort: call truth_count(TRUTH_Abort) and truth_print() before. */
#define T_Abort(...) MPI_Abort(__VA_ARGS__)

#define T_Send(buffer, count, type, destination, tag, communicator)                         \
    (truth_sent(TRUTH_Send, count, type, destination, communicator),                        \
     MPI_Send(buffer, count, type, destination, tag, communicator))
#define T_Bsend(buffer, count, type, destination, tag, communicator)                        \
    (truth_sent(TRUTH_Bsend, count, type, destination, communicator),                       \
     MPI_Bsend(buffer, count, type, destination, tag, communicator))
#define T_Ssend(buffer, count, type, destination, tag, communicator)                        \
    (truth_sent(TRUTH_Ssend, count, type, destination, communicator),                       \
     MPI_Ssend(buffer, count, type, destination, tag, communicator))
#define T_Rsend(buffer, count, type, destination, tag, communicator)                        \
    (truth_sent(TRUTH_Rsend, count, type, destination, communicator),                       \
     MPI_Rsend(buffer, count, type, destination, tag, communicator))
#define T_Isend(buffer, count, type, destination, tag, communicator, request)               \
    (truth_sent(TRUTH_Isend, count, type, destination, communicator),                       \
     MPI_Isend(buffer, count, type, destination, tag, communicator, request))
#define T_Ibsend(buffer, count, type, destination, tag, communicator, request)              \
    (truth_sent(TRUTH_Ibsend, count, type, destination, communicator),                      \
     MPI_Ibsend(buffer, count, type, destination, tag, communicator, request))
#define T_Issend(buffer, count, type, destination, tag, communicator, request)              \
    (truth_sent(TRUTH_Issend, count, type, destination, communicator),                      \
     MPI_Issend(buffer, count, type, destination, tag, communicator, request))
#define T_Irsend(buffer, count, type, destination, tag, communicator, request)              \
    (truth_sent(TRUTH_Irsend, count, type, destination, communicator),                      \
     MPI_Irsend(buffer, count, type, destination, tag, communicator, request))
#define T_Sendrecv(buffer, count, type, destination, tag, received, received_count, received_type, source, \
                   received_tag, communicator, status)                                      \
    (truth_sent(TRUTH_Sendrecv, count, type, destination, communicator),                    \
     MPI_Sendrecv(buffer, count, type, destination, tag, received, received_count, received_type, source, \
                  received_tag, communicator, status))
#define T_Sendrecv_replace(buffer, count, type, destination, tag, source, received_tag, communicator, status) \
    (truth_sent(TRUTH_Sendrecv_replace, count, type, destination, communicator),            \
     MPI_Sendrecv_replace(buffer, count, type, destination, tag, source, received_tag, communicator, status))

#define T_Recv(...) (truth_count(TRUTH_Recv), MPI_Recv(__VA_ARGS__))
#define T_Irecv(...) (truth_count(TRUTH_Irecv), MPI_Irecv(__VA_ARGS__))
#define T_Wait(...) (truth_count(TRUTH_Wait), MPI_Wait(__VA_ARGS__))
#define T_Waitall(...) (truth_count(TRUTH_Waitall), MPI_Waitall(__VA_ARGS__))
#define T_Waitany(...) (truth_count(TRUTH_Waitany), MPI_Waitany(__VA_ARGS__))
#define T_Waitsome(...) (truth_count(TRUTH_Waitsome), MPI_Waitsome(__VA_ARGS__))
#define T_Test(...) (truth_count(TRUTH_Test), MPI_Test(__VA_ARGS__))
#define T_Testall(...) (truth_count(TRUTH_Testall), MPI_Testall(__VA_ARGS__))
#define T_Testany(...) (truth_count(TRUTH_Testany), MPI_Testany(__VA_ARGS__))
#define T_Testsome(...) (truth_count(TRUTH_Testsome), MPI_Testsome(__VA_ARGS__))
#define T_Probe(...) (truth_count(TRUTH_Probe), MPI_Probe(__VA_ARGS__))
#define T_Iprobe(...) (truth_count(TRUTH_Iprobe), MPI_Iprobe(__VA_ARGS__))
#define T_Barrier(...) (truth_count(TRUTH_Barrier), MPI_Barrier(__VA_ARGS__))
#define T_Send_init(...) (truth_count(TRUTH_Send_init), MPI_Send_init(__VA_ARGS__))
#define T_Bsend_init(...) (truth_count(TRUTH_Bsend_init), MPI_Bsend_init(__VA_ARGS__))
#define T_Ssend_init(...) (truth_count(TRUTH_Ssend_init), MPI_Ssend_init(__VA_ARGS__))
#define T_Rsend_init(...) (truth_count(TRUTH_Rsend_init), MPI_Rsend_init(__VA_ARGS__))
#define T_Recv_init(...) (truth_count(TRUTH_Recv_init), MPI_Recv_init(__VA_ARGS__))
#define T_Start(...) (truth_count(TRUTH_Start), MPI_Start(__VA_ARGS__))
#define T_Startall(...) (truth_count(TRUTH_Startall), MPI_Startall(__VA_ARGS__))
#define T_Cancel(...) (truth_count(TRUTH_Cancel), MPI_Cancel(__VA_ARGS__))
#define T_Request_free(...) (truth_count(TRUTH_Request_free), MPI_Request_free(__VA_ARGS__))
#define T_Mprobe(...) (truth_count(TRUTH_Mprobe), MPI_Mprobe(__VA_ARGS__))
#define T_Improbe(...) (truth_count(TRUTH_Improbe), MPI_Improbe(__VA_ARGS__))
#define T_Mrecv(...) (truth_count(TRUTH_Mrecv), MPI_Mrecv(__VA_ARGS__))
#define T_Imrecv(...) (truth_count(TRUTH_Imrecv), MPI_Imrecv(__VA_ARGS__))

#define T_Bcast(buffer, count, type, root, communicator) \
    (truth_reduced(TRUTH_Bcast, count, type, root), MPI_Bcast(buffer, count, type, root, communicator))
#define T_Ibcast(buffer, count, type, root, communicator, request) \
    (truth_reduced(TRUTH_Ibcast, count, type, root), MPI_Ibcast(buffer, count, type, root, communicator, request))
#define T_Reduce(buffer, result, count, type, operation, root, communicator) \
    (truth_reduced(TRUTH_Reduce, count, type, root), \
     MPI_Reduce(buffer, result, count, type, operation, root, communicator))
#define T_Ireduce(buffer, result, count, type, operation, root, communicator, request) \
    (truth_reduced(TRUTH_Ireduce, count, type, root), \
     MPI_Ireduce(buffer, result, count, type, operation, root, communicator, request))
#define T_Allreduce(buffer, result, count, type, operation, communicator) \
    (truth_reduced(TRUTH_Allreduce, count, type, 0), \
     MPI_Allreduce(buffer, result, count, type, operation, communicator))
#define T_Iallreduce(buffer, result, count, type, operation, communicator, request) \
    (truth_reduced(TRUTH_Iallreduce, count, type, 0), \
     MPI_Iallreduce(buffer, result, count, type, operation, communicator, request))
#define T_Scan(buffer, result, count, type, operation, communicator) \
    (truth_reduced(TRUTH_Scan, count, type, 0), MPI_Scan(buffer, result, count, type, operation, communicator))
#define T_Iscan(buffer, result, count, type, operation, communicator, request) \
    (truth_reduced(TRUTH_Iscan, count, type, 0), \
     MPI_Iscan(buffer, result, count, type, operation, communicator, request))
#define T_Exscan(buffer, result, count, type, operation, communicator) \
    (truth_reduced(TRUTH_Exscan, count, type, 0), MPI_Exscan(buffer, result, count, type, operation, communicator))
#define T_Iexscan(buffer, result, count, type, operation, communicator, request) \
    (truth_reduced(TRUTH_Iexscan, count, type, 0), \
     MPI_Iexscan(buffer, result, count, type, operation, communicator, request))
#define T_Ibarrier(...) (truth_count(TRUTH_Ibarrier), MPI_Ibarrier(__VA_ARGS__))

#define T_Gather(bytes, ...) (truth_moved(TRUTH_Gather, bytes), MPI_Gather(__VA_ARGS__))
#define T_Igather(bytes, ...) (truth_moved(TRUTH_Igather, bytes), MPI_Igather(__VA_ARGS__))
#define T_Gatherv(bytes, ...) (truth_moved(TRUTH_Gatherv, bytes), MPI_Gatherv(__VA_ARGS__))
#define T_Igatherv(bytes, ...) (truth_moved(TRUTH_Igatherv, bytes), MPI_Igatherv(__VA_ARGS__))
#define T_Scatter(bytes, ...) (truth_moved(TRUTH_Scatter, bytes), MPI_Scatter(__VA_ARGS__))
#define T_Iscatter(bytes, ...) (truth_moved(TRUTH_Iscatter, bytes), MPI_Iscatter(__VA_ARGS__))
#define T_Scatterv(bytes, ...) (truth_moved(TRUTH_Scatterv, bytes), MPI_Scatterv(__VA_ARGS__))
#define T_Iscatterv(bytes, ...) (truth_moved(TRUTH_Iscatterv, bytes), MPI_Iscatterv(__VA_ARGS__))
#define T_Allgather(bytes, ...) (truth_moved(TRUTH_Allgather, bytes), MPI_Allgather(__VA_ARGS__))
#define T_Iallgather(bytes, ...) (truth_moved(TRUTH_Iallgather, bytes), MPI_Iallgather(__VA_ARGS__))
#define T_Allgatherv(bytes, ...) (truth_moved(TRUTH_Allgatherv, bytes), MPI_Allgatherv(__VA_ARGS__))
#define T_Iallgatherv(bytes, ...) (truth_moved(TRUTH_Iallgatherv, bytes), MPI_Iallgatherv(__VA_ARGS__))
#define T_Alltoall(bytes, ...) (truth_moved(TRUTH_Alltoall, bytes), MPI_Alltoall(__VA_ARGS__))
#define T_Ialltoall(bytes, ...) (truth_moved(TRUTH_Ialltoall, bytes), MPI_Ialltoall(__VA_ARGS__))
#define T_Alltoallv(bytes, ...) (truth_moved(TRUTH_Alltoallv, bytes), MPI_Alltoallv(__VA_ARGS__))
#define T_Ialltoallv(bytes, ...) (truth_moved(TRUTH_Ialltoallv, bytes), MPI_Ialltoallv(__VA_ARGS__))
#define T_Alltoallw(bytes, ...) (truth_moved(TRUTH_Alltoallw, bytes), MPI_Alltoallw(__VA_ARGS__))
#define T_Ialltoallw(bytes, ...) (truth_moved(TRUTH_Ialltoallw, bytes), MPI_Ialltoallw(__VA_ARGS__))
#define T_Reduce_scatter(bytes, ...) (truth_moved(TRUTH_Reduce_scatter, bytes), MPI_Reduce_scatter(__VA_ARGS__))
#define T_Ireduce_scatter(bytes, ...) (truth_moved(TRUTH_Ireduce_scatter, bytes), MPI_Ireduce_scatter(__VA_ARGS__))
#define T_Reduce_scatter_block(bytes, ...) \
    (truth_moved(TRUTH_Reduce_scatter_block, bytes), MPI_Reduce_scatter_block(__VA_ARGS__))
#define T_Ireduce_scatter_block(bytes, ...) \
    (truth_moved(TRUTH_Ireduce_scatter_block, bytes), MPI_Ireduce_scatter_block(__VA_ARGS__))

#define T_Comm_split(...) (truth_count(TRUTH_Comm_split), MPI_Comm_split(__VA_ARGS__))
#define T_Comm_dup(...) (truth_count(TRUTH_Comm_dup), MPI_Comm_dup(__VA_ARGS__))
#define T_Comm_create(...) (truth_count(TRUTH_Comm_create), MPI_Comm_create(__VA_ARGS__))
#define T_Comm_free(...) (truth_count(TRUTH_Comm_free), MPI_Comm_free(__VA_ARGS__))

/* Starts MPI for threads that call at any time. Where the library cannot, it says so, ends MPI, and returns 0. */
static inline int truth_init_threads(int *argument_count, char ***arguments)
{
    int provided, rank;
    T_Init_thread(argument_count, arguments, MPI_THREAD_MULTIPLE, &provided);
    if (provided == MPI_THREAD_MULTIPLE)
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("skip: no MPI_THREAD_MULTIPLE\n");
    T_Finalize();
    return 0;
}

/* Macros defined before this point may still use the names. */
#pragma GCC poison MPI_Init MPI_Init_thread MPI_Finalize MPI_Abort
#pragma GCC poison MPI_Send MPI_Bsend MPI_Ssend MPI_Rsend MPI_Isend MPI_Ibsend MPI_Issend MPI_Irsend
#pragma GCC poison MPI_Recv MPI_Irecv MPI_Sendrecv MPI_Sendrecv_replace
#pragma GCC poison MPI_Wait MPI_Waitall MPI_Waitany MPI_Waitsome MPI_Test MPI_Testall MPI_Testany MPI_Testsome
#pragma GCC poison MPI_Probe MPI_Iprobe MPI_Barrier MPI_Bcast MPI_Reduce MPI_Allreduce
#pragma GCC poison MPI_Comm_split MPI_Comm_dup MPI_Comm_create MPI_Comm_free
#pragma GCC poison MPI_Send_init MPI_Bsend_init MPI_Ssend_init MPI_Rsend_init MPI_Recv_init MPI_Start MPI_Startall
#pragma GCC poison MPI_Cancel MPI_Request_free MPI_Mprobe MPI_Improbe MPI_Mrecv MPI_Imrecv
#pragma GCC poison MPI_Gather MPI_Gatherv MPI_Scatter MPI_Scatterv MPI_Allgather MPI_Allgatherv
#pragma GCC poison MPI_Alltoall MPI_Alltoallv MPI_Alltoallw MPI_Reduce_scatter MPI_Reduce_scatter_block MPI_Scan
#pragma GCC poison MPI_Exscan MPI_Ibarrier MPI_Ibcast MPI_Ireduce MPI_Iallreduce
#pragma GCC poison MPI_Igather MPI_Igatherv MPI_Iscatter MPI_Iscatterv MPI_Iallgather MPI_Iallgatherv
#pragma GCC poison MPI_Ialltoall MPI_Ialltoallv MPI_Ialltoallw MPI_Ireduce_scatter MPI_Ireduce_scatter_block
#pragma GCC poison MPI_Iscan MPI_Iexscan

#endif
