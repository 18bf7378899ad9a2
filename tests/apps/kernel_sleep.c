/* Rank 1 sleeps in the kernel for some milliseconds where no signal reaches it, as for a slow disk: its child
 * shares its memory until it ends. The others wait in a barrier. With a second argument, the name of a new file, rank 1
 * first reads pages of that file that are on the disk alone, and prints how many page faults had to read the disk
 * until then, and how many pages of the file were in memory against its will. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 3000 };

static void must(int holds)
{
    if (!holds)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static long major_faults(void)
{
    struct rusage usage;
    must(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_majflt;
}

static void read_pages(const char *path)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *zeros = calloc(PAGES, page);
    int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    must(zeros && file >= 0 && write(file, zeros, PAGES * page) == (ssize_t)(PAGES * page));
    must(fsync(file) == 0);
    /* Where this is refused, the pages stay in memory, and the last number says so. */
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    volatile char *mapped = mmap(NULL, PAGES * page, PROT_READ, MAP_SHARED, file, 0);
    /* Nothing is read ahead. */
    must(mapped != MAP_FAILED && madvise((void *)mapped, PAGES * page, MADV_RANDOM) == 0);
    long before = major_faults();
    for (size_t at = 0; at < PAGES; at++)
        must(mapped[at * page] == 0);
    long faults = major_faults();
    long in_memory = PAGES - (faults - before);
    printf("%ld major faults, %ld pages in memory\n", faults, in_memory > 0 ? in_memory : 0);
    fflush(stdout);
    close(file);
    free(zeros);
}

int main(int argc, char **argv)
{
    long milliseconds = argc > 1 ? atol(argv[1]) : 1500;
    struct timespec length = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        if (argc > 2)
            read_pages(argv[2]);
        pid_t child = vfork();
        if (child == 0) {
            nanosleep(&length, NULL);
            _exit(0);
        }
        must(child > 0 && waitpid(child, NULL, 0) == child);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
