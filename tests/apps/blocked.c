/* blocked [seconds]: a rank that waits in MPI_Recv for so long, which may have a fraction: rank 0 sends to rank 1 only
 * then. All others wait for both in a barrier. */
#define _POSIX_C_SOURCE 200809L
#include "pace.h"
#include "truth.h"

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.3;

    int sent = 42, received = 0;
    if (rank == 0 && size > 1) {
        sleep_until(now_ns() + (long long)(seconds * 1e9));
        T_Send(&sent, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        T_Recv(&received, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_require(received == sent);
    }
    T_Barrier(MPI_COMM_WORLD);

    T_Finalize();
    return 0;
}
