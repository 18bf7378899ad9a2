/* persistent [rounds]: requests that are made once and started again and again. On each channel there are plain
 * messages of other sizes between the persistent ones, which reveal a message that goes to the wrong receive. For
 * two ranks or more. */
#include "truth.h"

enum { SENDS = 6, LONGEST = 4096, MIXED_TAG = 40, FREED_TAG = 50, WILD_TAG = 60 };

struct sending {
    MPI_Request request;
    int count, destination;
};

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, size, right, left;
static int sent[SENDS + 1][LONGEST], received[SENDS + 1][LONGEST];

static void started(const struct sending *sending)
{
    truth_message(sending->count, MPI_INT, sending->destination, world);
}

static void start(struct sending *sending)
{
    started(sending);
    T_Start(&sending->request);
}

static void require_count(const MPI_Status *status, int expected)
{
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    truth_require(count == expected);
}

/* Of each kind of send, one to nobody and one to the rank itself. */
static void make_sends(struct sending *sendings)
{
    for (int position = 0; position < SENDS; position++) {
        struct sending *sending = &sendings[position];
        MPI_Request *request = &sending->request;
        int count = sending->count = 10 + position, *buffer = sent[position];
        int to = sending->destination = position == 4 ? MPI_PROC_NULL : position == 5 ? rank : right;
        switch (position) {
        case 1: T_Bsend_init(buffer, count, MPI_INT, to, position, world, request); break;
        case 2: T_Ssend_init(buffer, count, MPI_INT, to, position, world, request); break;
        case 3: T_Rsend_init(buffer, count, MPI_INT, to, position, world, request); break;
        default: T_Send_init(buffer, count, MPI_INT, to, position, world, request); break;
        }
    }
}

static void make_receives(MPI_Request *requests)
{
    for (int position = 0; position < SENDS; position++) {
        int from = position == 4 ? MPI_PROC_NULL : position == 5 ? rank : left;
        T_Recv_init(received[position], LONGEST, MPI_INT, from, position, world, &requests[position]);
    }
}

/* The sends stay what they are: a round is all of them and the receives, completed in one of several ways. */
static void complete(int way, int count, MPI_Request *requests)
{
    MPI_Status statuses[2 * SENDS];
    int indices[2 * SENDS], number = 0, index = 0, flag = 0;
    switch (way) {
    case 0: T_Waitall(count, requests, statuses); break;
    case 1: T_Waitall(count, requests, MPI_STATUSES_IGNORE); break;
    case 2: while (index != MPI_UNDEFINED) T_Waitany(count, requests, &index, &statuses[0]); break;
    case 3: while (number != MPI_UNDEFINED) T_Waitsome(count, requests, &number, indices, statuses); break;
    case 4: while (!flag) T_Testall(count, requests, &flag, statuses); break;
    case 5: while (!flag || index != MPI_UNDEFINED) T_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE); break;
    case 6: while (number != MPI_UNDEFINED) T_Testsome(count, requests, &number, indices, statuses); break;
    case 7: for (; index < count; index += flag != 0) T_Test(&requests[index], &flag, MPI_STATUS_IGNORE); break;
    case 8: for (; index < count; index++) T_Wait(&requests[index], &statuses[0]); break;
    }
    for (int position = 0; position < count; position++)
        truth_require(requests[position] != MPI_REQUEST_NULL);
}

static void all_kinds(long rounds)
{
    static char buffer[1 << 20];
    void *detached;
    int buffer_size;
    struct sending sendings[SENDS];
    MPI_Request requests[2 * SENDS];
    MPI_Buffer_attach(buffer, sizeof buffer);
    make_receives(requests);
    make_sends(sendings);
    for (int position = 0; position < SENDS; position++)
        requests[SENDS + position] = sendings[position].request;
    for (long round = 0; round < rounds; round++) {
        for (int position = 0; position < SENDS; position++)
            for (int at = 0; at < sendings[position].count; at++)
                sent[position][at] = (int)round * 100 + position;
        T_Startall(SENDS, requests);
        T_Barrier(world); /* a ready send is an error unless the receive is started */
        if (round % 2 == 0) {
            for (int position = 0; position < SENDS; position++)
                start(&sendings[position]);
        } else {
            for (int position = 0; position < SENDS; position++)
                started(&sendings[position]);
            T_Startall(SENDS, requests + SENDS);
        }
        complete((int)(round % 9), 2 * SENDS, requests);
        complete((int)(round % 9), 2 * SENDS, requests); /* all of them inactive */
        for (int position = 0; position < SENDS; position++)
            truth_require(position == 4 || received[position][sendings[position].count - 1] == round * 100 + position);
    }
    for (int position = 0; position < 2 * SENDS; position++) {
        T_Request_free(&requests[position]);
        truth_require(requests[position] == MPI_REQUEST_NULL);
    }
    T_Startall(0, requests);
    MPI_Buffer_detach(&detached, &buffer_size);
}

/* One start of a receive and a send at once, with plain messages before and behind on the same channel. */
static void mixed_with_others(long rounds)
{
    MPI_Request both[2], plain[2];
    MPI_Status status;
    struct sending sending = {.count = 1000, .destination = right};
    T_Recv_init(received[1], LONGEST, MPI_INT, left, MIXED_TAG, world, &both[0]);
    T_Send_init(sent[0], 1000, MPI_INT, right, MIXED_TAG, world, &both[1]);
    for (long round = 0; round < rounds; round++) {
        int before = 1 + 2 * (int)round, behind = before + 1;
        T_Irecv(received[0], LONGEST, MPI_INT, left, MIXED_TAG, world, &plain[0]);
        T_Send(sent[0], before, MPI_INT, right, MIXED_TAG, world);
        started(&sending);
        T_Startall(2, both);
        T_Irecv(received[2], LONGEST, MPI_INT, left, MIXED_TAG, world, &plain[1]);
        T_Send(sent[0], behind, MPI_INT, right, MIXED_TAG, world);
        T_Wait(&plain[1], &status);
        require_count(&status, behind);
        T_Wait(&both[0], &status);
        require_count(&status, 1000);
        T_Wait(&plain[0], &status);
        require_count(&status, before);
        T_Wait(&both[1], MPI_STATUS_IGNORE);
    }
    /* Waiting for what was not started is over at once. */
    T_Wait(&both[0], &status);
    require_count(&status, 0);
    truth_require(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    T_Wait(&both[1], MPI_STATUS_IGNORE);
    truth_require(both[0] != MPI_REQUEST_NULL && both[1] != MPI_REQUEST_NULL);
    T_Request_free(&both[0]);
    T_Request_free(&both[1]);
}

/* From whoever it is, one receive is started for as many messages as come. */
static void from_anybody(void)
{
    MPI_Request request;
    MPI_Status status;
    T_Barrier(world);
    if (rank != 0) {
        T_Send(sent[0], 100 + rank, MPI_INT, 0, WILD_TAG + rank % 3, world);
        return;
    }
    T_Recv_init(received[0], LONGEST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request);
    for (int message = 1, flag; message < size; message++) {
        T_Start(&request);
        if (message % 2)
            T_Wait(&request, &status);
        else
            do T_Test(&request, &flag, &status); while (!flag);
        require_count(&status, 100 + status.MPI_SOURCE);
        truth_require(status.MPI_TAG == WILD_TAG + status.MPI_SOURCE % 3);
    }
    T_Request_free(&request);
}

/* A started send may be given up: its message arrives, and so does that of the next one. */
static void freed_while_active(void)
{
    struct sending sendings[2] = {{.count = LONGEST, .destination = right}, {.count = 7, .destination = right}};
    MPI_Request receives[2];
    MPI_Status status;
    for (int position = 0; position < 2; position++)
        T_Send_init(sent[position], sendings[position].count, MPI_INT, right, FREED_TAG, world,
                    &sendings[position].request);
    for (int position = 0; position < 2; position++)
        T_Irecv(received[position], LONGEST, MPI_INT, left, FREED_TAG, world, &receives[position]);
    start(&sendings[0]);
    T_Request_free(&sendings[0].request);
    truth_require(sendings[0].request == MPI_REQUEST_NULL);
    start(&sendings[1]);
    for (int position = 0; position < 2; position++) {
        T_Wait(&receives[position], &status);
        require_count(&status, sendings[position].count);
    }
    T_Wait(&sendings[1].request, MPI_STATUS_IGNORE);
    T_Request_free(&sendings[1].request);
    T_Barrier(world); /* the freed send's message has arrived everywhere: its buffer is free */
}

int main(int argc, char **argv)
{
    T_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    long rounds = truth_argument(argc, argv, 1, 18);
    all_kinds(rounds);
    mixed_with_others(rounds);
    from_anybody();
    T_Barrier(world); /* what follows is not for the receive from anybody */
    freed_while_active();
    T_Finalize();
    return 0;
}
