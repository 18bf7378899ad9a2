/* tail CALLS BLOCK SPACING_NS: how long single calls take, of MPI_Send as the program calls it, and of a control that
 * reads the clock twice and makes the real call, and does nothing else. The two take turns, BLOCK calls each; a call
 * begins SPACING_NS after the one before. Prints a line for each of them,
 *
 *     NAME p50 NANOSECONDS p99 NANOSECONDS p99.9 NANOSECONDS p99.99 NANOSECONDS max NANOSECONDS
 */
#include "measure.h"
#include <mpi.h>
#include <string.h>
#include <x86intrin.h>

/* A call that took longer counts with the longest; how long that was is known. */
enum { LONGEST_TICKS = 1 << 20 };

struct times {
    const char *name;
    uint64_t longest_ticks;
    uint32_t calls[LONGEST_TICKS];
};

static uint64_t ball;
static volatile uint64_t start_ticks, end_ticks;

static int control(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    start_ticks = __rdtsc();
    int result = PMPI_Send(buffer, count, type, to, tag, comm);
    end_ticks = __rdtsc();
    return result;
}

static void block(struct times *times, int (*volatile send)(const void *, int, MPI_Datatype, int, int, MPI_Comm),
                  long calls, uint64_t spacing_ticks)
{
    for (long done = 0; done < calls; done++) {
        uint64_t begin = __rdtsc();
        send(&ball, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
        uint64_t ticks = __rdtsc() - begin;
        times->calls[ticks < LONGEST_TICKS ? ticks : LONGEST_TICKS - 1]++;
        if (ticks > times->longest_ticks)
            times->longest_ticks = ticks;
        while (__rdtsc() - begin < spacing_ticks)
            ;
    }
}

/* The ticks that a share of the calls do not exceed. */
static uint64_t quantile(const struct times *times, long calls, double share)
{
    long most = (long)((double)calls * share), seen = 0;
    for (uint64_t ticks = 0; ticks < LONGEST_TICKS - 1; ticks++) {
        seen += times->calls[ticks];
        if (seen > most)
            return ticks;
    }
    return times->longest_ticks;
}

static void print(const struct times *times, long calls, double ticks_per_ns)
{
    static const struct {
        const char *name;
        double share;
    } quantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}};
    printf("%s", times->name);
    for (size_t at = 0; at < sizeof quantiles / sizeof *quantiles; at++)
        printf(" %s %.1f", quantiles[at].name, (double)quantile(times, calls, quantiles[at].share) / ticks_per_ns);
    printf(" max %.1f\n", (double)times->longest_ticks / ticks_per_ns);
}

int main(int argc, char **argv)
{
    long calls = argument(argc, argv, 1), length = argument(argc, argv, 2), spacing_ns = argument(argc, argv, 3);
    struct times *wrapper = malloc(2 * sizeof *wrapper), *bare = wrapper + 1;
    if (!wrapper || length < 1 || calls < length) {
        fprintf(stderr, "usage: tail CALLS BLOCK SPACING_NS\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    double begin_ns = now_ns();
    uint64_t begin_ticks = __rdtsc();
    while (now_ns() - begin_ns < 1e7)
        ;
    double ticks_per_ns = (double)(__rdtsc() - begin_ticks) / (now_ns() - begin_ns);
    uint64_t spacing_ticks = (uint64_t)((double)spacing_ns * ticks_per_ns);
    /* Written to, to have their pages there. The first blocks are not counted. */
    for (int warm = 1; warm >= 0; warm--) {
        memset(wrapper, warm, 2 * sizeof *wrapper);
        memset(wrapper, 0, 2 * sizeof *wrapper);
        wrapper->name = "wrapper", bare->name = "control";
        for (long done = 0; done < (warm ? length : calls); done += length) {
            block(wrapper, MPI_Send, length, spacing_ticks);
            block(bare, control, length, spacing_ticks);
        }
    }
    calls = (calls + length - 1) / length * length;
    print(wrapper, calls, ticks_per_ns);
    print(bare, calls, ticks_per_ns);
    MPI_Finalize();
    free(wrapper);
    return 0;
}
