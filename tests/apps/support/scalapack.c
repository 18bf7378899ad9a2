/* scalapack N BLOCK ORDER OPERATION...: operations of ScaLAPACK on matrices of N by N in square blocks, on a grid of
 * processes as square as there can be, whose ranks run along rows (R) or down columns (C). The operations are inversion,
 * cholesky, eigenproblem and multiplication, the last of N by N / 10 with N / 10 by N.
 *
 * Every matrix is one whose result is known in a formula, and each rank compares its own part: an operation that is only
 * nearly right ends the job with status 1, and besides two sums of the errors nothing is sent but by the library. It is
 * linked to the ScaLAPACK of its family, so it stands apart from the programs that only need MPI. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
void Cblacs_gridexit(int context);
void Cblacs_exit(int mpi_goes_on);
int numroc_(const int *count, const int *block, const int *process, const int *first, const int *processes);
void descinit_(int *descriptor, const int *rows, const int *columns, const int *row_block, const int *column_block,
               const int *first_row, const int *first_column, const int *context, const int *leading, int *info);
void pdgetrf_(const int *rows, const int *columns, double *a, const int *ia, const int *ja, const int *descriptor,
              int *pivots, int *info);
void pdgetri_(const int *n, double *a, const int *ia, const int *ja, const int *descriptor, const int *pivots,
              double *work, const int *work_length, int *integers, const int *integers_length, int *info);
void pdpotrf_(const char *half, const int *n, double *a, const int *ia, const int *ja, const int *descriptor, int *info);
void pdsyevd_(const char *job, const char *half, const int *n, double *a, const int *ia, const int *ja,
              const int *descriptor, double *values, double *z, const int *iz, const int *jz, const int *z_descriptor,
              double *work, const int *work_length, int *integers, const int *integers_length, int *info);
void pdgemm_(const char *transposed_a, const char *transposed_b, const int *rows, const int *columns, const int *inner,
             const double *alpha, const double *a, const int *ia, const int *ja, const int *a_descriptor, const double *b,
             const int *ib, const int *jb, const int *b_descriptor, const double *beta, double *c, const int *ic,
             const int *jc, const int *c_descriptor);

static const int none = 0, first = 1;

/* The grid of processes, and where this one is. */
static int context, grid_rows, grid_columns, own_row, own_column, block;

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "scalapack: %s\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    require(memory != NULL, "no memory");
    return memory;
}

/* This rank's part of a matrix, column by column. */
struct matrix {
    int descriptor[9], rows, columns, leading;
    double *values;
};

static struct matrix matrix(int rows, int columns)
{
    struct matrix made;
    int info;
    made.rows = numroc_(&rows, &block, &own_row, &none, &grid_rows);
    made.columns = numroc_(&columns, &block, &own_column, &none, &grid_columns);
    made.leading = made.rows > 0 ? made.rows : 1;
    made.values = allocate((size_t)made.leading * (size_t)made.columns * sizeof(double));
    descinit_(made.descriptor, &rows, &columns, &block, &block, &none, &none, &context, &made.leading, &info);
    require(info == 0, "a matrix cannot be described");
    return made;
}

/* The place in the whole matrix, counted from 0, of a row or a column of a part. */
static int whole(int part, int process, int processes)
{
    return (part / block * processes + process) * block + part % block;
}

typedef double formula(int row, int column, int n);

static void fill(struct matrix *matrix, formula *value, int n)
{
    for (int column = 0; column < matrix->columns; column++)
        for (int row = 0; row < matrix->rows; row++)
            matrix->values[(size_t)column * (size_t)matrix->leading + (size_t)row] =
                value(whole(row, own_row, grid_rows), whole(column, own_column, grid_columns), n);
}

/* The sum of how far all elements, or those of the lower half, are from what they have to be. */
static double errors(const struct matrix *matrix, formula *value, int n, int only_lower)
{
    double error = 0;
    for (int column = 0; column < matrix->columns; column++)
        for (int row = 0; row < matrix->rows; row++) {
            int at_row = whole(row, own_row, grid_rows), at_column = whole(column, own_column, grid_columns);
            double found = matrix->values[(size_t)column * (size_t)matrix->leading + (size_t)row];
            if (!only_lower || at_row >= at_column)
                error += fabs(found - value(at_row, at_column, n));
        }
    return error;
}

/* Says whether an operation is right to N digits of what its elements are together. */
static void tell(const char *operation, int n, double error, double scale)
{
    int rank;
    double all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&error, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    require(all <= 1e-10 * scale, operation);
    if (rank == 0)
        printf("%s of %d x %d in blocks of %d on %d x %d: right\n", operation, n, n, block, grid_rows, grid_columns);
}

/* Its inverse is known, and its largest elements are where rows have to be exchanged. */
static double exchanged(int row, int column, int n)
{
    return (row + column == n - 1 ? n : 0) + 1;
}

static double exchanged_inverted(int row, int column, int n)
{
    return ((row + column == n - 1) - 1.0 / (2.0 * n)) / n;
}

static void inversion(int n)
{
    struct matrix a = matrix(n, n);
    int info, work_length = -1, integers_length = -1, integers_needed;
    int *pivots = allocate((size_t)(a.rows + block) * sizeof(int));
    double work_needed;
    fill(&a, exchanged, n);
    pdgetrf_(&n, &n, a.values, &first, &first, a.descriptor, pivots, &info);
    require(info == 0, "pdgetrf");
    pdgetri_(&n, a.values, &first, &first, a.descriptor, pivots, &work_needed, &work_length, &integers_needed,
             &integers_length, &info);
    work_length = (int)work_needed;
    integers_length = integers_needed;
    double *work = allocate((size_t)work_length * sizeof(double));
    int *integers = allocate((size_t)integers_length * sizeof(int));
    pdgetri_(&n, a.values, &first, &first, a.descriptor, pivots, work, &work_length, integers, &integers_length, &info);
    require(info == 0, "pdgetri");
    tell("inversion", n, errors(&a, exchanged_inverted, n, 0), n);
    free(integers);
    free(work);
    free(pivots);
    free(a.values);
}

/* Its factor has ones below the diagonal and on it, and its eigenvalues are known. */
static double lesser(int row, int column, int n)
{
    (void)n;
    return (row < column ? row : column) + 1;
}

static double one(int row, int column, int n)
{
    (void)row, (void)column, (void)n;
    return 1;
}

static void cholesky(int n)
{
    struct matrix a = matrix(n, n);
    int info;
    fill(&a, lesser, n);
    pdpotrf_("L", &n, a.values, &first, &first, a.descriptor, &info);
    require(info == 0, "pdpotrf");
    tell("cholesky", n, errors(&a, one, n, 1), n);
    free(a.values);
}

static void eigenproblem(int n)
{
    struct matrix a = matrix(n, n), z = matrix(n, n);
    int info, work_length = -1, integers_length = -1, integers_needed;
    double work_needed, error = 0, *found = allocate((size_t)n * sizeof(double));
    fill(&a, lesser, n);
    pdsyevd_("V", "L", &n, a.values, &first, &first, a.descriptor, found, z.values, &first, &first, z.descriptor,
             &work_needed, &work_length, &integers_needed, &integers_length, &info);
    /* It forgets some of what the last step needs where a rank has no more than a block. */
    work_length = (int)work_needed + block * (a.rows + a.columns + 4 * block);
    integers_length = integers_needed;
    double *work = allocate((size_t)work_length * sizeof(double));
    int *integers = allocate((size_t)integers_length * sizeof(int));
    pdsyevd_("V", "L", &n, a.values, &first, &first, a.descriptor, found, z.values, &first, &first, z.descriptor, work,
             &work_length, integers, &integers_length, &info);
    require(info == 0, "pdsyevd");
    /* In ascending order, and every rank has all of them. The largest is about n * n. */
    for (int which = 0; which < n; which++)
        error += fabs(found[which] - 1 / (2 + 2 * cos((2 * which + 2) * acos(-1.0) / (2 * n + 1))));
    tell("eigenproblem", n, error / (grid_rows * grid_columns), (double)n * n * n);
    free(integers);
    free(work);
    free(found);
    free(z.values);
    free(a.values);
}

static double left(int row, int column, int n)
{
    (void)n;
    return row % 5 + column % 3;
}

static double right(int row, int column, int n)
{
    (void)n;
    return row % 3 - column % 7;
}

static double product(int row, int column, int n)
{
    double sum = 0;
    for (int inner = 0; inner < n; inner++)
        sum += left(row, inner, n) * right(inner, column, n);
    return sum;
}

static void multiplication(int n)
{
    int inner = n / 10;
    double factor = 1, nothing = 0;
    struct matrix a = matrix(n, inner), b = matrix(inner, n), c = matrix(n, n);
    fill(&a, left, n);
    fill(&b, right, n);
    pdgemm_("N", "N", &n, &n, &inner, &factor, a.values, &first, &first, a.descriptor, b.values, &first, &first,
            b.descriptor, &nothing, c.values, &first, &first, c.descriptor);
    tell("multiplication", n, errors(&c, product, inner, 0), 0);
    free(c.values);
    free(b.values);
    free(a.values);
}

static const struct {
    const char *name;
    void (*run)(int);
} operations[] = {
    {"inversion", inversion},
    {"cholesky", cholesky},
    {"eigenproblem", eigenproblem},
    {"multiplication", multiplication},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    require(argc > 4, "N BLOCK ORDER OPERATION...");
    int size, grid[2] = {0, 0}, n = atoi(argv[1]);
    block = atoi(argv[2]);
    require(n > 9 && block > 0, "N or BLOCK is none");
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, grid);
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, argv[3], grid[0], grid[1]);
    Cblacs_gridinfo(context, &grid_rows, &grid_columns, &own_row, &own_column);
    for (int word = 4; word < argc; word++) {
        size_t at = 0, known = sizeof operations / sizeof *operations;
        while (at < known && strcmp(operations[at].name, argv[word]) != 0)
            at++;
        require(at < known, "no such operation");
        operations[at].run(n);
    }
    Cblacs_gridexit(context);
    Cblacs_exit(1);
    MPI_Finalize();
    return 0;
}
