/* How the programs of this folder measure: a warm-up, then batches that are timed each. Rank 0 prints one line,
 *
 *     mean NANOSECONDS median NANOSECONDS
 *
 * of one step: the mean is over everything and so has in it whoever took the processor meanwhile, the median is that
 * of the batches and leaves such moments out. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static int compare_times(const void *left, const void *right)
{
    double first = *(const double *)left, second = *(const double *)right;
    return (first > second) - (first < second);
}

/* Runs `batches` batches of `steps` steps after a warm-up of a tenth as many. */
static inline void measure(void (*step)(int rank), int rank, long batches, long steps)
{
    double *batch_ns = malloc((size_t)batches * sizeof *batch_ns);
    if (!batch_ns || batches < 1 || steps < 1) {
        fprintf(stderr, "at least one batch of one step\n");
        exit(2);
    }
    for (long done = 0; done < batches * steps / 10; done++)
        step(rank);
    double first_ns = now_ns(), begin_ns = first_ns;
    for (long batch = 0; batch < batches; batch++) {
        for (long done = 0; done < steps; done++)
            step(rank);
        double end_ns = now_ns();
        batch_ns[batch] = end_ns - begin_ns;
        begin_ns = end_ns;
    }
    double mean_ns = (begin_ns - first_ns) / (double)batches / (double)steps;
    qsort(batch_ns, (size_t)batches, sizeof *batch_ns, compare_times);
    if (rank == 0)
        printf("mean %.3f median %.3f\n", mean_ns, batch_ns[batches / 2] / (double)steps);
    free(batch_ns);
}

/* The whole number at a position of the command line. */
static inline long argument(int argument_count, char **arguments, int position)
{
    return position < argument_count ? strtol(arguments[position], NULL, 10) : 0;
}

#endif
