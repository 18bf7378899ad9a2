/* What fortran_truth.F90 calls: the counting and printing of truth.h. Of MPI it uses PMPI_ functions only. */
#include "../truth.h"
#include <string.h>

void truth_fortran_begin(void);
void truth_fortran_print(void);
void truth_fortran_call(const char *name, int calls, long long moved);
void truth_fortran_message(int destination, long long bytes);
void truth_fortran_violated(int line);

void truth_fortran_begin(void)
{
    truth_prepare();
}

void truth_fortran_print(void)
{
    truth_print();
}

/* The name is without MPI_, as in Fortran's call. */
void truth_fortran_call(const char *name, int calls, long long moved)
{
    for (int function = 0; function < TRUTH_FUNCTION_COUNT; function++)
        if (strcmp(truth_names[function] + strlen("MPI_"), name) == 0) {
            truth_calls[function] += calls;
            truth_moved_bytes[function] += moved;
            return;
        }
    fprintf(stderr, "nobody counts MPI_%s\n", name);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

void truth_fortran_message(int destination, long long bytes)
{
    truth_messages[destination] += 1;
    truth_bytes[destination] += bytes;
}

void truth_fortran_violated(int line)
{
    fprintf(stderr, "line %d: violated\n", line);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}
