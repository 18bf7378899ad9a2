/* The least that a recorder of every call can do: two looks at the clock and one record of 32 bytes with a release
 * store, into a ring in shared memory whose pages were touched beforehand. It looks nothing up, keeps no requests,
 * guards against nothing and nobody reads what it writes. Compiled twice: as it stands it reads the time-stamp
 * counter, with FLOOR_CLOCK defined it calls clock_gettime.
 *
 * FLOOR_SLOTS, a power of two, is the size of the ring in records. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

struct record {
    uint64_t start, end;
    int32_t function, peer, tag;
    uint32_t bytes;
};
_Static_assert(sizeof(struct record) == 32, "as small as those of the collector");

enum function { SEND, RECV, ISEND, IRECV, WAIT, WAITALL, TEST, ALLREDUCE, BARRIER };

static struct record *ring;
static uint64_t mask, next;
static _Atomic uint64_t *head;

static inline uint64_t now(void)
{
#ifdef FLOOR_CLOCK
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
#else
    return __rdtsc();
#endif
}

static inline int record(uint64_t start, int result, enum function function, int peer, int tag, int count)
{
    uint64_t end = now();
    ring[next & mask] = (struct record){start, end, (int32_t)function, peer, tag, (uint32_t)count};
    next++;
    atomic_store_explicit(head, next, memory_order_release);
    return result;
}

int MPI_Init(int *argc, char ***argv)
{
    const char *slots = getenv("FLOOR_SLOTS");
    size_t count = slots ? strtoul(slots, NULL, 10) : 65536, page = 4096;
    int file = memfd_create("floor", 0);
    if (file < 0 || ftruncate(file, (off_t)(page + count * sizeof *ring)) != 0) {
        perror("floor: a ring");
        exit(2);
    }
    char *mapped = mmap(NULL, page + count * sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    if (mapped == MAP_FAILED) {
        perror("floor: a mapping");
        exit(2);
    }
    head = (_Atomic uint64_t *)mapped;
    ring = (struct record *)(mapped + page);
    mask = count - 1;
    return PMPI_Init(argc, argv);
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    uint64_t start = now();
    return record(start, PMPI_Send(buffer, count, type, to, tag, comm), SEND, to, tag, count);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    uint64_t start = now();
    return record(start, PMPI_Recv(buffer, count, type, from, tag, comm, status), RECV, from, tag, count);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    uint64_t start = now();
    return record(start, PMPI_Isend(buffer, count, type, to, tag, comm, request), ISEND, to, tag, count);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    uint64_t start = now();
    return record(start, PMPI_Irecv(buffer, count, type, from, tag, comm, request), IRECV, from, tag, count);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    uint64_t start = now();
    return record(start, PMPI_Wait(request, status), WAIT, 0, 0, 1);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    uint64_t start = now();
    return record(start, PMPI_Test(request, flag, status), TEST, 0, 0, 1);
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    uint64_t start = now();
    return record(start, PMPI_Waitall(count, requests, statuses), WAITALL, 0, 0, count);
}

int MPI_Allreduce(const void *own, void *sum, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm)
{
    uint64_t start = now();
    return record(start, PMPI_Allreduce(own, sum, count, type, operation, comm), ALLREDUCE, 0, 0, count);
}

int MPI_Barrier(MPI_Comm comm)
{
    uint64_t start = now();
    return record(start, PMPI_Barrier(comm), BARRIER, 0, 0, 0);
}
