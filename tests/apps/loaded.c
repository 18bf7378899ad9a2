/* loaded: prints which files rank 0 has loaded when all is over but MPI_Finalize: "loaded PATH". */
#include "truth.h"
#include <string.h>

int main(int argc, char **argv)
{
    int rank, sum = 0;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    T_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        FILE *maps = fopen("/proc/self/maps", "r");
        char line[4096];
        truth_require(maps);
        while (fgets(line, sizeof line, maps)) {
            char *path = strchr(line, '/');
            if (path)
                printf("loaded %s", path);
        }
        fclose(maps);
    }
    T_Finalize();
    return 0;
}
