/* matched [rounds]: messages that are taken out of the queue by a probe and received later, in another order, by calls
 * that name neither source nor tag. Every message of a channel has a size of its own. For two ranks or more. */
#include "truth.h"

enum { LONGEST = 4096, TAG = 7, NO_SUCH_TAG = 99, MESSAGES = 6 };

static int sent[LONGEST], received[MESSAGES][LONGEST];

static void require(const MPI_Status *status, int source, int tag, int expected)
{
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    truth_require(status->MPI_SOURCE == source && status->MPI_TAG == tag && count == expected);
}

/* Six messages of one channel: taken by matched probes, by plain receives, and received out of order. */
static void out_of_order(MPI_Comm communicator, int first)
{
    int rank, size, flag = 0;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request sends[MESSAGES], receives[3];
    MPI_Message messages[MESSAGES];
    MPI_Status statuses[3], status;
    for (int message = 0; message < MESSAGES; message++)
        T_Isend(sent, first + message, MPI_INT, right, TAG, communicator, &sends[message]);

    T_Mprobe(left, TAG, communicator, &messages[0], &status);
    require(&status, left, TAG, first);
    T_Recv(received[1], LONGEST, MPI_INT, left, TAG, communicator, &status);
    require(&status, left, TAG, first + 1);
    T_Mprobe(MPI_ANY_SOURCE, TAG, communicator, &messages[2], MPI_STATUS_IGNORE);
    while (!flag)
        T_Improbe(left, MPI_ANY_TAG, communicator, &flag, &messages[3], &status);
    require(&status, left, TAG, first + 3);
    T_Irecv(received[4], LONGEST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, communicator, &receives[0]);
    T_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator, &messages[5], &status);
    require(&status, left, TAG, first + 5);

    T_Mrecv(received[3], LONGEST, MPI_INT, &messages[3], MPI_STATUS_IGNORE);
    truth_require(messages[3] == MPI_MESSAGE_NULL);
    T_Imrecv(received[5], LONGEST, MPI_INT, &messages[5], &receives[1]);
    T_Mrecv(received[0], LONGEST, MPI_INT, &messages[0], &status);
    require(&status, left, TAG, first);
    T_Imrecv(received[2], first + 2, MPI_INT, &messages[2], &receives[2]);
    truth_require(messages[2] == MPI_MESSAGE_NULL);
    if (first % 2) {
        T_Waitall(3, receives, statuses);
        require(&statuses[0], left, TAG, first + 4);
        require(&statuses[1], left, TAG, first + 5);
        require(&statuses[2], left, TAG, first + 2);
    } else {
        for (int receive = 2; receive >= 0; receive--)
            T_Wait(&receives[receive], MPI_STATUS_IGNORE);
    }
    T_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE);
}

/* A probe that finds nothing, and one for a message that nobody sends. */
static void nothing_there(MPI_Comm communicator)
{
    int flag = 1, count;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request;
    MPI_Status status;
    T_Improbe(MPI_ANY_SOURCE, NO_SUCH_TAG, communicator, &flag, &message, &status);
    truth_require(!flag);
    T_Improbe(0, NO_SUCH_TAG, communicator, &flag, &message, MPI_STATUS_IGNORE);
    truth_require(!flag);

    T_Mprobe(MPI_PROC_NULL, TAG, communicator, &message, &status);
    truth_require(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
    T_Mrecv(received[0], LONGEST, MPI_INT, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    truth_require(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL && count == 0);
    T_Improbe(MPI_PROC_NULL, MPI_ANY_TAG, communicator, &flag, &message, MPI_STATUS_IGNORE);
    truth_require(flag && message == MPI_MESSAGE_NO_PROC);
    T_Imrecv(received[0], LONGEST, MPI_INT, &message, &request);
    T_Wait(&request, MPI_STATUS_IGNORE);
}

/* Rank 0 takes everybody's messages before it receives any of them, the last one first. */
static void many_at_once(void)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    T_Barrier(MPI_COMM_WORLD);
    if (rank != 0) {
        for (int message = 0; message < 3; message++)
            T_Send(sent, 10 * rank + message, MPI_INT, 0, rank % 2 + message, MPI_COMM_WORLD);
        return;
    }
    int all = 3 * (size - 1), counts[all];
    MPI_Message messages[all];
    MPI_Status statuses[all], status;
    for (int message = 0; message < all; message++) {
        T_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &messages[message], &statuses[message]);
        MPI_Get_count(&statuses[message], MPI_INT, &counts[message]);
    }
    for (int message = all - 1; message >= 0; message--) {
        int source = statuses[message].MPI_SOURCE;
        if (message % 2) {
            MPI_Request request;
            T_Imrecv(received[0], LONGEST, MPI_INT, &messages[message], &request);
            T_Wait(&request, &status);
        } else {
            T_Mrecv(received[0], LONGEST, MPI_INT, &messages[message], &status);
        }
        require(&status, source, statuses[message].MPI_TAG, counts[message]);
        truth_require(counts[message] == 10 * source + status.MPI_TAG - source % 2);
    }
}

int main(int argc, char **argv)
{
    T_Init(&argc, &argv);
    int rank;
    MPI_Comm half;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long rounds = truth_argument(argc, argv, 1, 20);
    T_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    for (long round = 0; round < rounds; round++) {
        out_of_order(MPI_COMM_WORLD, 1 + (int)round * 13);
        out_of_order(half, 2 + (int)round * 13);
        nothing_there(round % 2 ? half : MPI_COMM_WORLD);
    }
    many_at_once();
    T_Comm_free(&half);
    T_Finalize();
    return 0;
}
