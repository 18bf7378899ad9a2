/* rows [iterations]: the exchanges of a conjugate-gradient solver on a grid of ranks whose rows are long: sums along each
 * row with partners at half the distance each time, four times, then one exchange with whoever has the transposed part.
 * Ranks beyond the greatest power of two take no part. */
#include "truth.h"

enum { CELLS = 64, SUMS = 4 };

static void exchange(const double *sent, int partner, int tag)
{
    double received[CELLS];
    MPI_Request request;
    MPI_Status status;
    T_Irecv(received, CELLS, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, &request);
    T_Send(sent, CELLS, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD);
    T_Wait(&request, &status);
    truth_require(status.MPI_SOURCE == partner && received[0] == partner);
}

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long iterations = truth_argument(argc, argv, 1, 50);

    int rows = 1, columns = 1;
    while (2 * rows * columns <= size)
        *(columns > rows ? &rows : &columns) *= 2;
    int transposed = rank % rows * rows + rank / rows;
    if (columns > rows)
        transposed = 2 * (rank / 2 % rows * rows + rank / 2 / rows) + rank % 2;

    double cells[CELLS] = {rank};
    for (long iteration = 0; iteration < iterations && rank < rows * columns; iteration++) {
        for (int sum = 0; sum < SUMS; sum++)
            for (int distance = columns / 2; distance >= 1; distance /= 2)
                exchange(cells, rank ^ distance, sum);
        if (transposed != rank)
            exchange(cells, transposed, SUMS);
    }

    T_Finalize();
    return 0;
}
