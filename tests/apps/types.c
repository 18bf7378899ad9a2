/* types: messages of derived types, whose size is neither their extent nor a count of bytes. */
#include "truth.h"
#include <stddef.h>

enum { LARGE = 3000000 };

struct padded {
    char letter;
    double value;
    short number;
};

static int left, right;

/* Sends to the right and receives from the left, and checks that MPI saw the number of bytes expected. */
static void exchange(const void *sent, int sent_count, MPI_Datatype sent_type, void *received, int received_count,
                     MPI_Datatype received_type, int bytes)
{
    MPI_Request request;
    MPI_Status status;
    int count;
    T_Irecv(received, received_count, received_type, left, 0, MPI_COMM_WORLD, &request);
    T_Send(sent, sent_count, sent_type, right, 0, MPI_COMM_WORLD);
    T_Wait(&request, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    truth_require(count == bytes);
}

/* Makes the type ready, exchanges it and gives it back. */
static void exchange_and_free(MPI_Datatype type, int count, const void *sent, void *received, int bytes)
{
    MPI_Type_commit(&type);
    exchange(sent, count, type, received, count, type, bytes);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    static double sent[400], received[400];
    static char many_sent[LARGE], many_received[LARGE];
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    for (int position = 0; position < 400; position++)
        sent[position] = position;

    MPI_Datatype type;
    MPI_Type_contiguous(7, MPI_DOUBLE, &type);
    exchange_and_free(type, 3, sent, received, 3 * 7 * 8);

    /* Gaps are not sent: ten blocks of two, four apart; the other side may take them as twenty in a row. */
    MPI_Datatype with_gaps;
    MPI_Type_vector(10, 2, 4, MPI_DOUBLE, &with_gaps);
    MPI_Type_commit(&with_gaps);
    exchange(sent, 1, with_gaps, received, 20, MPI_DOUBLE, 20 * 8);
    truth_require(received[2] == 4 && received[19] == 37);

    /* A structure's padding is not sent either. */
    static const struct padded records[5] = {{'a', 1.5, 2}, {'b', 2.5, 3}};
    struct padded copies[5] = {{0, 0, 0}};
    const int lengths[3] = {1, 1, 1};
    const MPI_Aint places[3] = {offsetof(struct padded, letter), offsetof(struct padded, value),
                                offsetof(struct padded, number)};
    const MPI_Datatype members[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    MPI_Datatype bare, structure;
    MPI_Type_create_struct(3, lengths, places, members, &bare);
    MPI_Type_create_resized(bare, 0, sizeof(struct padded), &structure);
    MPI_Type_commit(&structure);
    exchange(records, 5, structure, copies, 5, structure, 5 * (1 + 8 + 2));
    truth_require(copies[1].letter == 'b' && copies[1].value == 2.5 && copies[1].number == 3);

    /* A column of a matrix: resized: the next one starts in the next element. */
    MPI_Datatype column;
    MPI_Type_vector(20, 1, 20, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, sizeof(double), &type);
    MPI_Type_free(&column);
    exchange_and_free(type, 4, sent, received, 4 * 20 * 8);
    truth_require(received[381] == 381);

    MPI_Type_indexed(3, (const int[]){1, 0, 5}, (const int[]){9, 4, 20}, MPI_DOUBLE, &type);
    exchange_and_free(type, 2, sent, received, 2 * 6 * 8);

    /* Nested: two vectors with gaps, and a structure apart from them that is not resized. */
    MPI_Type_create_hvector(2, 1, 100 * sizeof(double), with_gaps, &type);
    exchange_and_free(type, 1, sent, received, 2 * 20 * 8);
    MPI_Type_contiguous(2, structure, &type);
    exchange_and_free(type, 2, records, copies, 4 * (1 + 8 + 2));
    MPI_Type_free(&with_gaps);
    MPI_Type_free(&bare);
    MPI_Type_free(&structure);

    /* Three elements that have no bytes are still a message. */
    MPI_Type_contiguous(0, MPI_INT, &type);
    exchange_and_free(type, 3, sent, received, 0);

    /* Each type may get the handle of the one before, with another size: sizes must not be kept by handle. */
    for (int length = 1; length <= 20; length++) {
        MPI_Type_contiguous(length, MPI_INT, &type);
        exchange_and_free(type, 2, sent, received, 2 * length * 4);
    }

    /* A type may be freed while a message of it is under way, and the handle given to another one. */
    MPI_Request requests[2];
    MPI_Datatype other;
    MPI_Type_contiguous(11, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    T_Irecv(received, 1, type, left, 0, MPI_COMM_WORLD, &requests[0]);
    T_Isend(sent, 1, type, right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&type);
    MPI_Type_contiguous(13, MPI_INT, &other);
    T_Waitall(2, requests, MPI_STATUSES_IGNORE);
    exchange_and_free(other, 1, sent, received, 13 * 4);

    exchange(many_sent, LARGE, MPI_CHAR, many_received, LARGE, MPI_CHAR, LARGE);

    T_Finalize();
    return 0;
}
