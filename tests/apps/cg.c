/* cg [iterations]: the traffic of a conjugate-gradient solver: a row is summed up by exchanges with partners at
 * half the distance each time, then two scalar products are reduced. */
#include "truth.h"
#include <string.h>

enum { ROW = 4096 };

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long iterations = truth_argument(argc, argv, 1, 50);
    static double row[ROW], received[ROW];

    /* Partners are found by flipping one bit of the rank, which stays in range only below a power of two; the other
     * ranks take part in the reductions alone. */
    int exchanging = 1;
    while (2 * exchanging <= size)
        exchanging *= 2;

    for (long iteration = 0; iteration < iterations; iteration++) {
        memset(row, 0, sizeof row);
        row[0] = rank;
        int length = ROW;
        for (int distance = exchanging / 2; rank < exchanging && distance >= 1; distance /= 2) {
            MPI_Request request;
            MPI_Status status;
            int count;
            T_Irecv(received, length, MPI_DOUBLE, rank ^ distance, distance, MPI_COMM_WORLD, &request);
            T_Send(row, length, MPI_DOUBLE, rank ^ distance, distance, MPI_COMM_WORLD);
            T_Wait(&request, &status);
            MPI_Get_count(&status, MPI_DOUBLE, &count);
            truth_require(status.MPI_SOURCE == (rank ^ distance) && count == length);
            for (int column = 0; column < length; column++)
                row[column] += received[column];
            length = length > 1 ? length / 2 : 1;
        }
        truth_require(rank >= exchanging || row[0] == exchanging * (exchanging - 1) / 2);

        double product = 1.0, residual = rank, sum;
        T_Allreduce(&product, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        truth_require(sum == size);
        T_Allreduce(&residual, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        truth_require(sum == size * (size - 1) / 2);
    }

    T_Finalize();
    return 0;
}
