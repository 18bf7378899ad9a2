/* flows: collectives of known sizes on the world, a few times over, with roots other than 0: what goes from whom to
 * whom follows from the arguments alone. Rank r brings r + 1 integers where sizes may differ. For two ranks or more. */
#include "truth.h"
#include <stdlib.h>

enum { TIMES = 3, COUNT = 6 };

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int one = (int)sizeof(int), bcast_root = 1 % size, reduce_root = 2 % size, gather_root = 3 % size;
    int *given = calloc((size_t)(size * size * COUNT), sizeof(int));
    int *taken = calloc((size_t)(size * size * COUNT), sizeof(int));
    int *counts = malloc((size_t)size * sizeof(int)), *places = malloc((size_t)size * sizeof(int));
    truth_require(given && taken && counts && places);
    int all = 0;
    for (int of = 0; of < size; of++) {
        counts[of] = of + 1;
        places[of] = all;
        all += counts[of];
    }

    for (int time = 0; time < TIMES; time++) {
        T_Bcast(given, COUNT, MPI_INT, bcast_root, MPI_COMM_WORLD);
        T_Reduce(given, taken, COUNT, MPI_INT, MPI_SUM, reduce_root, MPI_COMM_WORLD);
        T_Allreduce(given, taken, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        T_Alltoall(size * COUNT * one, given, COUNT, MPI_INT, taken, COUNT, MPI_INT, MPI_COMM_WORLD);
        T_Barrier(MPI_COMM_WORLD);
        T_Scatter((rank == gather_root ? size : 1) * COUNT * one, given, COUNT, MPI_INT, taken, COUNT, MPI_INT,
                  gather_root, MPI_COMM_WORLD);
        T_Scatterv((rank == gather_root ? all : counts[rank]) * one, given, counts, places, MPI_INT, taken,
                   counts[rank], MPI_INT, gather_root, MPI_COMM_WORLD);
        T_Gather(COUNT * one, given, COUNT, MPI_INT, taken, COUNT, MPI_INT, gather_root, MPI_COMM_WORLD);
        T_Gatherv(counts[rank] * one, given, counts[rank], MPI_INT, taken, counts, places, MPI_INT, gather_root,
                  MPI_COMM_WORLD);
        T_Scan(given, taken, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }

    free(given);
    free(taken);
    free(counts);
    free(places);
    T_Finalize();
    return 0;
}
