/* grid X Y Z [steps]: a Cartesian grid of X x Y x Z ranks whose order is not that of the world, over which all exchange with
 * their neighbours. Rank 0 prints where MPI_Cart_coords puts each rank of the world: "at RANK X Y Z". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIMENSIONS = 3, CELLS = 64 };

int main(int argc, char **argv)
{
    int rank, size, own, place[DIMENSIONS], extent[DIMENSIONS], periods[DIMENSIONS] = {1, 0, 0};
    double sent[CELLS] = {0}, received[CELLS];
    MPI_Comm turned, grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int axis = 0; axis < DIMENSIONS; axis++)
        extent[axis] = argc > 1 + axis ? (int)strtol(argv[1 + axis], NULL, 10) : 1;
    long steps = argc > 4 ? strtol(argv[4], NULL, 10) : 20;
    if (extent[0] * extent[1] * extent[2] != size) {
        fprintf(stderr, "grid: %d ranks do not fill the grid\n", size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &turned);
    MPI_Cart_create(turned, DIMENSIONS, extent, periods, 0, &grid);
    MPI_Comm_rank(grid, &own);
    MPI_Cart_coords(grid, own, DIMENSIONS, place);
    for (long step = 0; step < steps; step++)
        for (int axis = 0; axis < DIMENSIONS; axis++) {
            int below, above;
            MPI_Cart_shift(grid, axis, 1, &below, &above);
            MPI_Sendrecv(sent, CELLS, MPI_DOUBLE, above, 1, received, CELLS, MPI_DOUBLE, below, 1, grid, MPI_STATUS_IGNORE);
        }
    int *places = malloc((size_t)size * sizeof place);
    MPI_Gather(place, DIMENSIONS, MPI_INT, places, DIMENSIONS, MPI_INT, 0, MPI_COMM_WORLD);
    for (int each = 0; rank == 0 && places && each < size; each++)
        printf("at %d %d %d %d\n", each, places[DIMENSIONS * each], places[DIMENSIONS * each + 1], places[DIMENSIONS * each + 2]);
    free(places);
    MPI_Finalize();
    return 0;
}
