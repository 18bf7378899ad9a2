/* tally [seconds] [messages per second] [folder]: the traffic of linger, and a file for each rank in the folder with two
 * numbers of eight bytes: how many calls it has begun, and how many have returned. They are there whatever kills the rank,
 * and what is recorded of it can be compared with what it did. */
#define _POSIX_C_SOURCE 200809L
#include "pace.h"
#include "truth.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BEGUN, RETURNED, NUMBERS };

static volatile long long elsewhere[NUMBERS];
static volatile long long *tally = elsewhere;

/* Shared with nobody: the kernel keeps it when the process is gone. */
static void keep_in(const char *folder, int rank)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/%d", folder, rank);
    int file = open(name, O_RDWR | O_CREAT, 0600);
    truth_require(file >= 0 && ftruncate(file, sizeof elsewhere) == 0);
    void *kept = mmap(NULL, sizeof elsewhere, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    truth_require(kept != MAP_FAILED);
    close(file);
    tally = kept;
    tally[BEGUN] = elsewhere[BEGUN];
    tally[RETURNED] = elsewhere[RETURNED];
}

#define TALLIED(call)        \
    do {                     \
        tally[BEGUN]++;      \
        call;                \
        tally[RETURNED]++;   \
    } while (0)

int main(int argc, char **argv)
{
    int rank, size;
    TALLIED(T_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.2;
    long rate = truth_argument(argc, argv, 2, 200);
    if (argc > 3)
        keep_in(argv[3], rank);
    long messages = (long)(seconds * (double)rate + 0.5);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    long long start = now_ns();
    for (long number = 0; number < messages; number++) {
        sleep_until(start + number * 1000000000LL / rate);
        long received;
        MPI_Request requests[2];
        TALLIED(T_Irecv(&received, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, &requests[0]));
        TALLIED(T_Isend(&number, 1, MPI_LONG, right, 0, MPI_COMM_WORLD, &requests[1]));
        TALLIED(T_Waitall(2, requests, MPI_STATUSES_IGNORE));
        truth_require(received == number);
    }

    TALLIED(T_Finalize());
    return 0;
}
