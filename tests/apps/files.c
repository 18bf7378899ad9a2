/* files: a file opened by all and one by each, written and read in every form, more asked for than there is, with a view
 * that has holes. For one rank or more. */
#include "truth.h"
#include <unistd.h>

enum { BLOCK = 50 };

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, size;
static int given[BLOCK], taken[2 * BLOCK];

static long long bytes_of(int count)
{
    return count * (long long)sizeof(int);
}

static MPI_Offset place(int block)
{
    return ((MPI_Offset)block * size + rank) * BLOCK * (MPI_Offset)sizeof(int);
}

static void complete(MPI_Request *request)
{
    T_Wait(request, MPI_STATUS_IGNORE);
}

static void write_in_all_forms(MPI_File file)
{
    MPI_Request request;
    MPI_Status status;
    T(File_write_at, bytes_of(BLOCK), file, place(0), given, BLOCK, MPI_INT, &status);
    T(File_write_at_all, bytes_of(40), file, place(1), given, 40, MPI_INT, MPI_STATUS_IGNORE);
    T(File_iwrite_at, bytes_of(41), file, place(2), given, 41, MPI_INT, &request);
    complete(&request);
    T(File_iwrite_at_all, bytes_of(42), file, place(3), given, 42, MPI_INT, &request);
    complete(&request);
    T(File_write_at_all_begin, bytes_of(43), file, place(4), given, 43, MPI_INT);
    T(File_write_at_all_end, 0, file, given, &status);
    T(File_seek, 0, file, place(5), MPI_SEEK_SET);
    T(File_write, bytes_of(4), file, given, 4, MPI_INT, &status);
    T(File_write_all, bytes_of(5), file, given, 5, MPI_INT, MPI_STATUS_IGNORE);
    T(File_iwrite, bytes_of(6), file, given, 6, MPI_INT, &request);
    complete(&request);
    T(File_iwrite_all, bytes_of(7), file, given, 7, MPI_INT, &request);
    complete(&request);
    T(File_write_all_begin, bytes_of(8), file, given, 8, MPI_INT);
    T(File_write_all_end, 0, file, given, MPI_STATUS_IGNORE);
    T(File_sync, 0, file);
}

static void read_in_all_forms(MPI_File file)
{
    MPI_Request request;
    MPI_Status status;
    T(File_read_at, bytes_of(BLOCK), file, place(0), taken, BLOCK, MPI_INT, &status);
    T(File_read_at_all, bytes_of(40), file, place(1), taken, 40, MPI_INT, MPI_STATUS_IGNORE);
    T(File_iread_at, bytes_of(41), file, place(2), taken, 41, MPI_INT, &request);
    complete(&request);
    T(File_iread_at_all, bytes_of(42), file, place(3), taken, 42, MPI_INT, &request);
    complete(&request);
    T(File_read_at_all_begin, 0, file, place(4), taken, 43, MPI_INT);
    T(File_read_at_all_end, bytes_of(43), file, taken, MPI_STATUS_IGNORE);
    T(File_seek, 0, file, place(5), MPI_SEEK_SET);
    T(File_read, bytes_of(4), file, taken, 4, MPI_INT, &status);
    T(File_read_all, bytes_of(5), file, taken, 5, MPI_INT, &status);
    T(File_iread, bytes_of(6), file, taken, 6, MPI_INT, &request);
    complete(&request);
    T(File_iread_all, bytes_of(7), file, taken, 7, MPI_INT, &request);
    complete(&request);
    T(File_read_all_begin, 0, file, taken, 8, MPI_INT);
    T(File_read_all_end, bytes_of(8), file, taken, &status);
}

static void with_one_pointer_for_all(MPI_File file)
{
    MPI_Offset at;
    MPI_Request request;
    T(File_seek_shared, 0, file, 0, MPI_SEEK_SET);
    T(File_write_shared, bytes_of(3), file, given, 3, MPI_INT, MPI_STATUS_IGNORE);
    T_Barrier(world);
    T(File_write_ordered, bytes_of(2), file, given, 2, MPI_INT, MPI_STATUS_IGNORE);
    T(File_write_ordered_begin, bytes_of(1), file, given, 1, MPI_INT);
    T(File_write_ordered_end, 0, file, given, MPI_STATUS_IGNORE);
    T(File_iwrite_shared, bytes_of(4), file, given, 4, MPI_INT, &request);
    complete(&request);
    T_Barrier(world);
    T(File_get_position_shared, 0, file, &at);
    truth_require(at == bytes_of(10) * size);
    T_Barrier(world);
    T(File_seek_shared, 0, file, 0, MPI_SEEK_SET);
    T(File_read_shared, bytes_of(3), file, taken, 3, MPI_INT, MPI_STATUS_IGNORE);
    T_Barrier(world);
    T(File_read_ordered, bytes_of(2), file, taken, 2, MPI_INT, MPI_STATUS_IGNORE);
    T(File_read_ordered_begin, 0, file, taken, 1, MPI_INT);
    T(File_read_ordered_end, bytes_of(1), file, taken, MPI_STATUS_IGNORE);
    T(File_iread_shared, bytes_of(4), file, taken, 4, MPI_INT, &request);
    complete(&request);
}

/* Of its own, with every second integer in view; a read finds no more than there is. */
static void alone(void)
{
    MPI_File file;
    MPI_Datatype every_second;
    MPI_Offset length;
    MPI_Status status;
    char name[64];
    int count;
    snprintf(name, sizeof name, "of-rank-%d", rank);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_second);
    MPI_Type_commit(&every_second);
    T(File_open, 0, MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    T(File_set_view, 0, file, 0, MPI_INT, every_second, "native", MPI_INFO_NULL);
    T(File_write_at, bytes_of(20), file, 0, given, 20, MPI_INT, MPI_STATUS_IGNORE);
    T(File_set_view, 0, file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    T(File_get_size, 0, file, &length);
    truth_require(length == bytes_of(39));
    T(File_read_at, bytes_of(39), file, 0, taken, 2 * BLOCK, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    truth_require(count == 39);
    T(File_set_size, 0, file, 0);
    T(File_preallocate, 0, file, 8);
    T(File_set_atomicity, 0, file, 0);
    T(File_set_info, 0, file, MPI_INFO_NULL);
    T(File_close, 0, &file);
    T(File_delete, 0, name, MPI_INFO_NULL);
    MPI_Type_free(&every_second);
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Comm backward;
    T_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    T_Comm_split(world, 0, -rank, &backward);
    T(File_open, 0, backward, "shared.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    write_in_all_forms(file);
    T_Barrier(world);
    read_in_all_forms(file);
    T_Barrier(world);
    with_one_pointer_for_all(file);
    T(File_close, 0, &file);
    T_Comm_free(&backward);
    alone();
    T_Barrier(world);
    if (rank == 0)
        T(File_delete, 0, "shared.dat", MPI_INFO_NULL);
    T_Finalize();
    return 0;
}
