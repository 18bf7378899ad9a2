/* cancel [rounds]: requests that are cancelled while they are open, and cancelled too late. Behind each there are
 * messages on the same channel, of other sizes, which must not be taken for what the cancelled request was for.
 *
 * What became of cancelled sends: see cancelled_send. For two ranks or more. */
#include "truth.h"

enum { SHORT = 64, LONG = 1 << 20, TAG = 3, SEND_TAG = 9, POLLS = 200 };

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, size, right, left;
static int sent[LONG], received[4][LONG];

static int was_cancelled(const MPI_Status *status)
{
    int flag;
    MPI_Test_cancelled(status, &flag);
    return flag;
}

static void require_message(const MPI_Status *status, int expected)
{
    int count;
    truth_require(!was_cancelled(status));
    MPI_Get_count(status, MPI_INT, &count);
    truth_require(count == expected && status->MPI_SOURCE == left);
}

/* Nothing was sent that these could take: they are cancelled for certain. */
static void without_message(int round)
{
    MPI_Request request;
    MPI_Status status;
    int from = round % 2 ? MPI_ANY_SOURCE : left, tag = round % 3 ? TAG : MPI_ANY_TAG, flag = 0;
    T_Irecv(received[0], LONG, MPI_INT, from, tag, world, &request);
    T_Cancel(&request);
    switch (round % 5) {
    case 0:
        T_Wait(&request, &status);
        truth_require(was_cancelled(&status));
        break;
    case 1:
        while (!flag)
            T_Test(&request, &flag, &status);
        truth_require(was_cancelled(&status));
        break;
    case 2: T_Wait(&request, MPI_STATUS_IGNORE); break;
    case 3: T_Waitall(1, &request, MPI_STATUSES_IGNORE); break;
    case 4: T_Request_free(&request); break;
    }
    truth_require(request == MPI_REQUEST_NULL);
    T_Barrier(world);
    /* The next message is the next receive's. */
    T_Irecv(received[1], LONG, MPI_INT, left, TAG, world, &request);
    T_Send(sent, 1 + round, MPI_INT, right, TAG, world);
    T_Wait(&request, &status);
    require_message(&status, 1 + round);
    T_Barrier(world);
}

/* The one in the middle of three on a channel; the others get the two messages. */
static void among_others(int round)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int indices[3], done = 0, count;
    for (int receive = 0; receive < 3; receive++)
        T_Irecv(received[receive], LONG, MPI_INT, left, TAG, world, &requests[receive]);
    T_Cancel(&requests[1]);
    T_Barrier(world); /* before anything is sent that it could take */
    T_Send(sent, 1000 + 2 * round, MPI_INT, right, TAG, world);
    T_Send(sent, 1001 + 2 * round, MPI_INT, right, TAG, world);
    if (round % 2) {
        T_Waitall(3, requests, statuses);
        truth_require(was_cancelled(&statuses[1]));
        require_message(&statuses[0], 1000 + 2 * round);
        require_message(&statuses[2], 1001 + 2 * round);
        return;
    }
    while (done < 3) {
        T_Waitsome(3, requests, &count, indices, statuses);
        for (int position = 0; position < count; position++)
            if (indices[position] == 1)
                truth_require(was_cancelled(&statuses[position]));
            else
                require_message(&statuses[position], 1000 + 2 * round + indices[position] / 2);
        done += count;
    }
}

/* The message was there before the receive was posted: it is received, whatever is cancelled. */
static void too_late(int round)
{
    MPI_Request request;
    MPI_Status status;
    T_Send(sent, SHORT + round, MPI_INT, right, TAG, world);
    T_Probe(left, TAG, world, MPI_STATUS_IGNORE);
    T_Irecv(received[0], LONG, MPI_INT, round % 2 ? MPI_ANY_SOURCE : left, TAG, world, &request);
    T_Cancel(&request);
    T_Wait(&request, &status);
    require_message(&status, SHORT + round);
    T_Barrier(world);
}

/* A persistent receive is as good as new after it was cancelled. */
static void persistent(int round)
{
    MPI_Request request;
    MPI_Status status;
    T_Recv_init(received[0], LONG, MPI_INT, left, TAG, world, &request);
    T_Start(&request);
    T_Cancel(&request);
    T_Wait(&request, &status);
    truth_require(was_cancelled(&status) && request != MPI_REQUEST_NULL);
    T_Barrier(world);
    T_Start(&request);
    T_Send(sent, 500 + round, MPI_INT, right, TAG, world);
    T_Wait(&request, &status);
    require_message(&status, 500 + round);
    T_Request_free(&request);
    T_Barrier(world);
}

/* A send that nobody receives yet. If it was cancelled there was no message, else the receiver gets a notice and takes it.
 * MPI leaves the outcome open. Open MPI 4.1.4 and MPICH 4.0.2, on one machine, never cancelled one: short or long,
 * standard or synchronous. The short standard one was complete, the others stayed open until they were received. */
static void cancelled_send(int count, int synchronous)
{
    MPI_Request request;
    MPI_Status status;
    int done = 0, gone, left_gone;
    T_Barrier(world);
    if (synchronous)
        T_Issend(sent, count, MPI_INT, right, SEND_TAG, world, &request);
    else
        T_Isend(sent, count, MPI_INT, right, SEND_TAG, world, &request);
    T_Cancel(&request);
    for (int poll = 0; !done && poll < POLLS; poll++)
        T_Test(&request, &done, &status);
    gone = done && was_cancelled(&status);
    PMPI_Sendrecv(&gone, 1, MPI_INT, right, SEND_TAG + 1, &left_gone, 1, MPI_INT, left, SEND_TAG + 1, world,
                  MPI_STATUS_IGNORE);
    if (gone)
        truth_messages_of(-1, count, MPI_INT, right, world);
    if (!left_gone) {
        MPI_Status taken;
        T_Recv(received[0], LONG, MPI_INT, left, SEND_TAG, world, &taken);
        require_message(&taken, count);
    }
    if (!done) {
        T_Wait(&request, &status);
        truth_require(!was_cancelled(&status));
    }
}

int main(int argc, char **argv)
{
    T_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    int rounds = (int)truth_argument(argc, argv, 1, 30);
    for (int round = 0; round < rounds; round++) {
        without_message(round);
        among_others(round);
        too_late(round);
        persistent(round);
    }
    for (int synchronous = 0; synchronous < 2; synchronous++) {
        cancelled_send(SHORT + synchronous, synchronous);
        cancelled_send(LONG - synchronous, synchronous);
    }
    T_Finalize();
    return 0;
}
