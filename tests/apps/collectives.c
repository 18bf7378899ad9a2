/* collectives: every collective that moves blocks, blocking and nonblocking, on the world, on a part of it and between
 * two groups: with MPI_IN_PLACE wherever MPI allows it, with roots other than 0, without elements, with a type that
 * has holes. The reductions are in reductions.c. For two ranks or more. */
#include "collective.h"

enum { BLANK = -7 };

/* What an element is made of: one integer, or two integers with a hole behind each. */
struct element {
    MPI_Datatype type;
    int integers, extent;
};

static struct element elements[2] = {{MPI_INT, 1, 1}, {MPI_DATATYPE_NULL, 2, 4}};
static const struct element *element;

/* Blocks in a buffer, one for each peer. */
struct blocks {
    int *lengths, *places, all;
    long long bytes;
};

/* Of the same length each, or of several lengths, none among them, with a gap behind each. The lengths may differ by
 * direction: what a rank sends to a peer is not as long as what it receives from there. */
static int length_between(int count, int from, int to)
{
    return count >= 0 ? count : (from + 2 * to) % 3;
}

static struct blocks blocks_of(int count, int from_us)
{
    struct blocks blocks = {malloc((size_t)peers * sizeof(int)), malloc((size_t)peers * sizeof(int)), 0, 0};
    for (int peer = 0; peer < peers; peer++) {
        blocks.lengths[peer] = length_between(count, from_us ? own : peer, from_us ? peer : own);
        blocks.places[peer] = blocks.all;
        blocks.all += blocks.lengths[peer] + (count < 0);
        blocks.bytes += blocks.lengths[peer] * element->integers * (long long)sizeof(int);
    }
    return blocks;
}

static void drop(struct blocks blocks)
{
    free(blocks.lengths);
    free(blocks.places);
}

static long long bytes_of(int length)
{
    return length * element->integers * (long long)sizeof(int);
}

static int *blank(int count)
{
    int integers = 4 * (count + 1), *buffer = malloc((size_t)integers * sizeof *buffer);
    truth_require(buffer);
    for (int position = 0; position < integers; position++)
        buffer[position] = BLANK;
    return buffer;
}

/* What a rank has for another one. */
static int value(int from, int to, int position)
{
    return 10000 * (from + 1) + 100 * to + position;
}

static void put(int *buffer, int first, int length, int from, int to)
{
    for (int position = 0; position < length; position++)
        for (int part = 0; part < element->integers; part++)
            buffer[(first + position) * element->extent + 2 * part] = value(from, to, position) + part;
}

/* Whether a block is there, and its holes are untouched. */
static int holds(const int *buffer, int first, int length, int from, int to)
{
    for (int position = 0; position < length; position++)
        for (int at = 0; at < element->extent; at++) {
            int found = buffer[(first + position) * element->extent + at];
            if (found != (at % 2 ? BLANK : value(from, to, position) + at / 2))
                return 0;
        }
    return 1;
}

static int ends(const int *buffer, int count)
{
    return buffer[count * element->extent] == BLANK;
}

static void broadcast(int count)
{
    /* Between groups MPICH's nonblocking one takes its root's rank for one of the receiving group. */
    if (is_inter && is_nonblocking && is_last_root)
        return;
    int *buffer = blank(count);
    if (is_root)
        put(buffer, 0, count, 8, 0);
    CALL(Bcast, Ibcast, buffer, count, element->type, root, communicator);
    truth_require(holds(buffer, 0, is_root || is_served ? count : 0, 8, 0));
    truth_require(ends(buffer, is_root || is_served ? count : 0));
    free(buffer);
}

/* A negative count means blocks of several lengths, here as below. */
static void gather(int count, int in_place)
{
    /* As if each were sent to rank 1, whichever the root is. */
    int length = length_between(count, own, 1), own_rank = own, keeps = in_place && is_root && !is_inter;
    own = 1;
    struct blocks blocks = blocks_of(count, 0);
    own = own_rank;
    int *sent = blank(length), *received = blank(blocks.all);
    put(keeps ? received + blocks.places[own] * element->extent : sent, 0, length, own, 0);
    long long moved = is_served ? bytes_of(length) : is_root ? blocks.bytes : 0;
    int sends = is_served && !keeps, send_count = sends ? length : NONSENSE;
    MPI_Datatype send_type = sends ? element->type : MPI_DOUBLE;
    MPI_Datatype type = is_root ? element->type : MPI_DOUBLE;
    const void *from = keeps ? MPI_IN_PLACE : sent;
    if (count < 0)
        CALL(Gatherv, Igatherv, moved, from, send_count, send_type, received, blocks.lengths, blocks.places, type,
             root, communicator);
    else
        CALL(Gather, Igather, moved, from, send_count, send_type, received, is_root ? count : NONSENSE, type, root,
             communicator);
    for (int peer = 0; is_root && peer < peers; peer++)
        truth_require(holds(received, blocks.places[peer], blocks.lengths[peer], peer, 0));
    truth_require(ends(received, is_root ? blocks.all : 0));
    free(sent);
    free(received);
    drop(blocks);
}

static void scatter(int count, int in_place)
{
    int length = length_between(count, 1, own), own_rank = own, keeps = in_place && is_root && !is_inter;
    own = 1;
    struct blocks blocks = blocks_of(count, 1);
    own = own_rank;
    int *sent = blank(blocks.all), *received = blank(length);
    for (int peer = 0; is_root && peer < peers; peer++)
        put(sent, blocks.places[peer], blocks.lengths[peer], 8, peer);
    long long moved = is_root ? blocks.bytes : is_served ? bytes_of(length) : 0;
    int receives = is_served && !keeps, receive_count = receives ? length : NONSENSE;
    MPI_Datatype receive_type = receives ? element->type : MPI_DOUBLE;
    MPI_Datatype type = is_root ? element->type : MPI_DOUBLE;
    void *into = keeps ? MPI_IN_PLACE : received;
    if (count < 0)
        CALL(Scatterv, Iscatterv, moved, sent, blocks.lengths, blocks.places, type, into, receive_count, receive_type,
             root, communicator);
    else
        CALL(Scatter, Iscatter, moved, sent, is_root ? count : NONSENSE, type, into, receive_count, receive_type,
             root, communicator);
    truth_require(holds(received, 0, receives ? length : 0, 8, own) && ends(received, receives ? length : 0));
    free(sent);
    free(received);
    drop(blocks);
}

static void allgather(int count, int in_place)
{
    int length = length_between(count, own, 1), own_rank = own;
    own = 1;
    struct blocks blocks = blocks_of(count, 0);
    own = own_rank;
    int *sent = blank(length), *received = blank(blocks.all);
    put(in_place ? received + blocks.places[own] * element->extent : sent, 0, length, own, 0);
    const void *from = in_place ? MPI_IN_PLACE : sent;
    int send_count = in_place ? NONSENSE : length;
    MPI_Datatype send_type = in_place ? MPI_DOUBLE : element->type;
    if (count < 0)
        CALL(Allgatherv, Iallgatherv, bytes_of(length), from, send_count, send_type, received, blocks.lengths,
             blocks.places, element->type, communicator);
    else
        CALL(Allgather, Iallgather, bytes_of(length), from, send_count, send_type, received, count, element->type,
             communicator);
    for (int peer = 0; peer < peers; peer++)
        truth_require(holds(received, blocks.places[peer], blocks.lengths[peer], peer, 0));
    truth_require(ends(received, blocks.all));
    free(sent);
    free(received);
    drop(blocks);
}

static void alltoall(int count)
{
    struct blocks given = blocks_of(count, 1), taken = blocks_of(count, 0);
    int *sent = blank(given.all), *received = blank(taken.all);
    for (int peer = 0; peer < peers; peer++)
        put(sent, given.places[peer], given.lengths[peer], own, peer);
    if (count < 0)
        CALL(Alltoallv, Ialltoallv, given.bytes, sent, given.lengths, given.places, element->type, received,
             taken.lengths, taken.places, element->type, communicator);
    else
        CALL(Alltoall, Ialltoall, given.bytes, sent, count, element->type, received, count, element->type,
             communicator);
    for (int peer = 0; peer < peers; peer++)
        truth_require(holds(received, taken.places[peer], taken.lengths[peer], peer, own));
    truth_require(ends(received, taken.all));
    free(sent);
    free(received);
    drop(given);
    drop(taken);
}

/* In place both directions are of the same length. */
static void alltoall_in_place(int with_lengths)
{
    int lengths[peers], places[peers], all = 0;
    for (int peer = 0; peer < peers; peer++) {
        lengths[peer] = with_lengths ? (own + peer) % 3 : 2;
        places[peer] = all;
        all += lengths[peer];
    }
    int *buffer = blank(all);
    for (int peer = 0; peer < peers; peer++)
        put(buffer, places[peer], lengths[peer], own, peer);
    if (with_lengths)
        CALL(Alltoallv, Ialltoallv, bytes_of(all), MPI_IN_PLACE, NULL, NULL, MPI_DOUBLE, buffer, lengths, places,
             element->type, communicator);
    else
        CALL(Alltoall, Ialltoall, bytes_of(all), MPI_IN_PLACE, NONSENSE, MPI_DOUBLE, buffer, 2, element->type,
             communicator);
    for (int peer = 0; peer < peers; peer++)
        truth_require(holds(buffer, places[peer], lengths[peer], peer, own));
    truth_require(ends(buffer, all));
    free(buffer);
}

/* A type for each peer: the pairs of ranks whose sum is odd exchange elements with holes. Places are in bytes. */
static void alltoall_of_types(int in_place)
{
    int lengths[2][peers], places[peers], integers = 0;
    MPI_Datatype types[peers];
    long long moved = 0;
    for (int peer = 0; peer < peers; peer++) {
        element = &elements[(own + peer) % 2];
        lengths[0][peer] = in_place ? (own + peer) % 3 : length_between(-1, own, peer);
        lengths[1][peer] = in_place ? (own + peer) % 3 : length_between(-1, peer, own);
        types[peer] = element->type;
        places[peer] = integers * (int)sizeof(int);
        integers += 12;
        moved += bytes_of(lengths[0][peer]);
    }
    int *sent = blank(integers), *received = blank(integers);
    for (int peer = 0; peer < peers; peer++) {
        element = &elements[(own + peer) % 2];
        put((in_place ? received : sent) + places[peer] / (int)sizeof(int), 0, lengths[0][peer], own, peer);
    }
    if (in_place)
        CALL(Alltoallw, Ialltoallw, moved, MPI_IN_PLACE, NULL, NULL, NULL, received, lengths[1], places, types,
             communicator);
    else
        CALL(Alltoallw, Ialltoallw, moved, sent, lengths[0], places, types, received, lengths[1], places, types,
             communicator);
    for (int peer = 0; peer < peers; peer++) {
        element = &elements[(own + peer) % 2];
        const int *block = received + places[peer] / (int)sizeof(int);
        truth_require(holds(block, 0, lengths[1][peer], peer, own) && ends(block, lengths[1][peer]));
    }
    free(sent);
    free(received);
}

static const int counts[] = {0, 2, -1};

static void rooted(void)
{
    for (int kind = 0; kind < 2; kind++) {
        element = &elements[kind];
        broadcast(0);
        broadcast(3);
        for (int choice = 0; choice < 3; choice++)
            for (int in_place = 0; in_place < (is_inter ? 1 : 2); in_place++) {
                gather(counts[choice], in_place);
                scatter(counts[choice], in_place);
            }
    }
}

static void unrooted(void)
{
    for (int kind = 0; kind < 2; kind++) {
        for (int choice = 0; choice < 3; choice++) {
            element = &elements[kind];
            allgather(counts[choice], 0);
            alltoall(counts[choice]);
            if (!is_inter)
                allgather(counts[choice], 1);
        }
        if (!is_inter) {
            alltoall_in_place(0);
            alltoall_in_place(1);
        }
    }
    alltoall_of_types(0);
    /* Not the nonblocking one in place: MPICH 4.0 reads memory there that it has already freed. */
    if (!is_inter && !is_nonblocking)
        alltoall_of_types(1);
}

int main(int argc, char **argv)
{
    T_Init(&argc, &argv);
    MPI_Datatype parts;
    MPI_Type_vector(2, 1, 2, MPI_INT, &parts);
    MPI_Type_create_resized(parts, 0, 4 * sizeof(int), &elements[1].type);
    MPI_Type_commit(&elements[1].type);
    MPI_Type_free(&parts);
    on_every_communicator(rooted, unrooted);
    MPI_Type_free(&elements[1].type);
    T_Finalize();
    return 0;
}
