/* The programs' own word about what they did, to compare a recording with.
 *
 * Each T_Something counts the call and then calls MPI_Something exactly once. T_Finalize prints what all ranks
 * counted, from rank 0:
 *
 *     mpiscope-truth 1
 *     pair SOURCE DESTINATION MESSAGES BYTES      world ranks; only pairs that have messages
 *     calls RANK FUNCTION COUNT                   only functions that were called
 *     end
 *
 * - The MPI names that are counted are poisoned below: to forget the counting is an error of compilation.
 * - The wrappers are macros and not functions, so that the call stands in the program's own line and function, as
 *   it would in any other program. The price: the sends evaluate their arguments twice; give them no side effects.
 * - The counting itself uses PMPI_ calls, which a recording through the profiling interface does not see.
 * - A call is counted before it is made, for the calls that do not return.
 * - The counters are atomic, for programs with several threads. */
#ifndef TRUTH_H
#define TRUTH_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* MPICH's MPI_STATUSES_IGNORE is the address 1, which GCC takes for an object too small for a status. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#define TRUTH_FUNCTIONS(X)                                                                  \
    X(Init) X(Init_thread) X(Finalize) X(Abort)                                             \
    X(Send) X(Bsend) X(Ssend) X(Rsend) X(Isend) X(Ibsend) X(Issend) X(Irsend)               \
    X(Recv) X(Irecv) X(Sendrecv) X(Sendrecv_replace)                                        \
    X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome)     \
    X(Probe) X(Iprobe) X(Barrier) X(Bcast) X(Reduce) X(Allreduce)                           \
    X(Comm_split) X(Comm_dup) X(Comm_create) X(Comm_free)

#define TRUTH_ENUMERATOR(name) TRUTH_##name,
enum truth_function { TRUTH_FUNCTIONS(TRUTH_ENUMERATOR) TRUTH_FUNCTION_COUNT };

#define TRUTH_NAME(name) "MPI_" #name,
static const char *const truth_names[] = {TRUTH_FUNCTIONS(TRUTH_NAME)};

static _Atomic long long truth_calls[TRUTH_FUNCTION_COUNT];
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
    int world_rank;
    PMPI_Comm_group(communicator, &group);
    PMPI_Group_translate_ranks(group, 1, &rank, truth_world_group, &world_rank);
    PMPI_Group_free(&group);
    return world_rank;
}

/* A send to MPI_PROC_NULL is a call, but no message. */
static inline void truth_sent(enum truth_function function, int count, MPI_Datatype type, int destination,
                              MPI_Comm communicator)
{
    truth_count(function);
    if (destination == MPI_PROC_NULL)
        return;
    MPI_Count type_size;
    PMPI_Type_size_x(type, &type_size);
    int world_rank = truth_world_rank(destination, communicator);
    atomic_fetch_add_explicit(&truth_messages[world_rank], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&truth_bytes[world_rank], (long long)count * type_size, memory_order_relaxed);
}

/* Collective over the world. T_Finalize does it; only programs that end otherwise call it themselves. The barrier
 * lets nobody go on, and perhaps end the job, before the truth is out. */
static inline void truth_print(void)
{
    int rank, size = truth_world_size, width = TRUTH_FUNCTION_COUNT + 2 * size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long long *own = malloc((size_t)width * sizeof *own);
    long long *all = rank == 0 ? malloc((size_t)size * (size_t)width * sizeof *all) : NULL;
    truth_require(own && (all || rank != 0));
    for (int function = 0; function < TRUTH_FUNCTION_COUNT; function++)
        own[function] = atomic_load(&truth_calls[function]);
    for (int destination = 0; destination < size; destination++) {
        own[TRUTH_FUNCTION_COUNT + destination] = atomic_load(&truth_messages[destination]);
        own[TRUTH_FUNCTION_COUNT + size + destination] = atomic_load(&truth_bytes[destination]);
    }
    PMPI_Gather(own, width, MPI_LONG_LONG, all, width, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("mpiscope-truth 1\n");
        for (int source = 0; source < size; source++) {
            const long long *messages = all + (size_t)source * (size_t)width + TRUTH_FUNCTION_COUNT;
            for (int destination = 0; destination < size; destination++)
                if (messages[destination] > 0)
                    printf("pair %d %d %lld %lld\n", source, destination, messages[destination],
                           messages[size + destination]);
        }
        for (int caller = 0; caller < size; caller++)
            for (int function = 0; function < TRUTH_FUNCTION_COUNT; function++)
                if (all[(size_t)caller * (size_t)width + (size_t)function] > 0)
                    printf("calls %d %s %lld\n", caller, truth_names[function],
                           all[(size_t)caller * (size_t)width + (size_t)function]);
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
/* Nothing can be told after an abort: call truth_count(TRUTH_Abort) and truth_print() before. */
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
#define T_Bcast(...) (truth_count(TRUTH_Bcast), MPI_Bcast(__VA_ARGS__))
#define T_Reduce(...) (truth_count(TRUTH_Reduce), MPI_Reduce(__VA_ARGS__))
#define T_Allreduce(...) (truth_count(TRUTH_Allreduce), MPI_Allreduce(__VA_ARGS__))
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

#endif
