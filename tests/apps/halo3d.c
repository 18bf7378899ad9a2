/* halo3d [steps] [n] [milliseconds of compute per step]: exchanges the six faces of boxes in a three-dimensional
 * decomposition, and sums up a residual each ten steps. */
#define _POSIX_C_SOURCE 200809L
#include "truth.h"
#include <time.h>

enum { DIMENSIONS = 3, SIDES = 2, FACES = DIMENSIONS * SIDES };

/* The factors with the least surface; of equal ones the longest in x, the periodic direction. Own code, for
 * MPI_Dims_create may choose differently in each implementation, and the truth has to be the same everywhere. */
static void factorize(int size, int extent[DIMENSIONS])
{
    int best = 0;
    for (int x = size; x >= 1; x--)
        for (int y = size / x; size % x == 0 && y >= 1; y--) {
            if (size / x % y != 0)
                continue;
            int z = size / x / y, surface = x * y + y * z + z * x;
            if (best == 0 || surface < best) {
                best = surface;
                extent[0] = x;
                extent[1] = y;
                extent[2] = z;
            }
        }
}

/* The neighbour on a side (0: lower, 1: upper). Only x is periodic: y and z have an edge, with MPI_PROC_NULL. */
static int neighbour(int rank, const int extent[DIMENSIONS], int dimension, int side)
{
    int place[DIMENSIONS] = {rank / (extent[1] * extent[2]), rank / extent[2] % extent[1], rank % extent[2]};
    place[dimension] += side == 0 ? -1 : 1;
    if (dimension == 0)
        place[0] = (place[0] + extent[0]) % extent[0];
    else if (place[dimension] < 0 || place[dimension] >= extent[dimension])
        return MPI_PROC_NULL;
    return (place[0] * extent[1] + place[1]) * extent[2] + place[2];
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank, size, extent[DIMENSIONS] = {1, 1, 1};
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long steps = truth_argument(argc, argv, 1, 50);
    int n = (int)truth_argument(argc, argv, 2, 16);
    double compute_seconds = 1e-3 * (double)truth_argument(argc, argv, 3, 0);
    factorize(size, extent);

    /* Edges of different lengths: each direction has messages of its own size. */
    const int edge[DIMENSIONS] = {n, 2 * n, 3 * n};
    int partner[FACES], cells[FACES];
    double *sent[FACES], *received[FACES];
    for (int face = 0; face < FACES; face++) {
        int dimension = face / SIDES;
        partner[face] = neighbour(rank, extent, dimension, face % SIDES);
        cells[face] = edge[(dimension + 1) % DIMENSIONS] * edge[(dimension + 2) % DIMENSIONS];
        sent[face] = calloc((size_t)cells[face], sizeof **sent);
        received[face] = calloc((size_t)cells[face], sizeof **received);
        truth_require(sent[face] && received[face]);
    }

    for (long step = 0; step < steps; step++) {
        MPI_Request requests[2 * FACES];
        /* The tag says which way a message travels: what comes in at the lower side was sent upwards. With two
         * boxes in x both neighbours are the same rank, and only the tag tells them apart. */
        for (int face = 0; face < FACES; face++)
            T_Irecv(received[face], cells[face], MPI_DOUBLE, partner[face], face ^ 1, MPI_COMM_WORLD,
                    &requests[face]);
        for (int face = 0; face < FACES; face++) {
            sent[face][0] = (double)(step * size + rank);
            sent[face][cells[face] - 1] = face;
            T_Isend(sent[face], cells[face], MPI_DOUBLE, partner[face], face, MPI_COMM_WORLD,
                    &requests[FACES + face]);
        }
        for (double end = seconds_now() + compute_seconds; seconds_now() < end;)
            continue;
        T_Waitall(2 * FACES, requests, MPI_STATUSES_IGNORE);
        for (int face = 0; face < FACES; face++)
            if (partner[face] != MPI_PROC_NULL)
                truth_require(received[face][0] == (double)(step * size + partner[face]) &&
                              received[face][cells[face] - 1] == (face ^ 1));
        if (step % 10 == 9) {
            double residual = 1.0, total;
            T_Allreduce(&residual, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            truth_require(total == size);
        }
    }

    for (int face = 0; face < FACES; face++) {
        free(sent[face]);
        free(received[face]);
    }
    T_Finalize();
    return 0;
}
