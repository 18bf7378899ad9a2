/* out_of_order [rounds]: receives complete in another order than they were posted, on equal and different tags and
 * with wildcards. A recorder that pairs messages by completion order gets them wrong; the sizes tell.
 *
 * Each rank receives from its left neighbour alone. Then which receive gets which message does not depend on time:
 * taken in posting order, each receive gets the earliest message that fits and is not taken yet. The program works
 * that out, checks it against what MPI did and exits with 1 if they differ. */
#include "truth.h"

enum { MESSAGES = 10, LONGEST = 4096, MODES = 7 };

static const int message_tag[MESSAGES] = {1, 1, 2, 3, 1, 2, 3, 1, 2, 1};
static const int receive_tag[MESSAGES] = {1, 1, 3, 2, MPI_ANY_TAG, 1, 1, MPI_ANY_TAG, 2, 3};
static const int receive_from_anyone[MESSAGES] = {0, 0, 0, 1, 0, 1, 0, 1, 0, 1};

/* All different. Every third one is too long to be sent eagerly, and arrives later than its successors. */
static int message_length(int message)
{
    return message % 3 == 2 ? LONGEST - message : message + 1;
}

static int expected_message(int receive)
{
    int taken[MESSAGES] = {0};
    for (int earlier = 0;; earlier++) {
        int message = 0;
        while (taken[message] ||
               (receive_tag[earlier] != MPI_ANY_TAG && receive_tag[earlier] != message_tag[message]))
            message++;
        taken[message] = 1;
        if (earlier == receive)
            return message;
    }
}

static void complete(int mode, MPI_Request requests[MESSAGES], MPI_Status statuses[MESSAGES])
{
    int completed = 0, count, flag = 0, indices[MESSAGES];
    MPI_Status some[MESSAGES];
    switch (mode) {
    case 0: /* the last one first */
        for (int receive = MESSAGES - 1; receive >= 0; receive--)
            T_Wait(&requests[receive], &statuses[receive]);
        return;
    case 1:
        for (int receive = MESSAGES - 1; receive >= 0; receive--)
            for (flag = 0; !flag;)
                T_Test(&requests[receive], &flag, &statuses[receive]);
        return;
    case 2:
        while (!flag)
            T_Testall(MESSAGES, requests, &flag, statuses);
        return;
    default: /* whatever is there */
        while (completed < MESSAGES) {
            count = 1;
            if (mode == 3)
                T_Waitany(MESSAGES, requests, indices, some);
            else if (mode == 4)
                T_Testany(MESSAGES, requests, indices, &count, some);
            else if (mode == 5)
                T_Waitsome(MESSAGES, requests, &count, indices, some);
            else
                T_Testsome(MESSAGES, requests, &count, indices, some);
            for (int position = 0; position < count; position++)
                statuses[indices[position]] = some[position];
            completed += count;
        }
    }
}

int main(int argc, char **argv)
{
    static int sent[MESSAGES][LONGEST], received[MESSAGES][LONGEST];
    int rank, size, violations = 0;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long rounds = truth_argument(argc, argv, 1, 3 * MODES);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (long round = 0; round < rounds; round++) {
        MPI_Request receives[MESSAGES], sends[MESSAGES];
        MPI_Status statuses[MESSAGES];
        for (int receive = 0; receive < MESSAGES; receive++)
            T_Irecv(received[receive], LONGEST, MPI_INT, receive_from_anyone[receive] ? MPI_ANY_SOURCE : left,
                    receive_tag[receive], MPI_COMM_WORLD, &receives[receive]);
        for (int message = 0; message < MESSAGES; message++) {
            for (int position = 0; position < message_length(message); position++)
                sent[message][position] = (int)round * MESSAGES + message;
            T_Isend(sent[message], message_length(message), MPI_INT, right, message_tag[message], MPI_COMM_WORLD,
                    &sends[message]);
        }
        complete((int)(round % MODES), receives, statuses);
        T_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE);

        for (int receive = 0; receive < MESSAGES; receive++) {
            int message = expected_message(receive), length;
            MPI_Get_count(&statuses[receive], MPI_INT, &length);
            int wrong = statuses[receive].MPI_SOURCE != left || statuses[receive].MPI_TAG != message_tag[message] ||
                        length != message_length(message);
            for (int position = 0; !wrong && position < length; position++)
                wrong = received[receive][position] != (int)round * MESSAGES + message;
            if (wrong)
                fprintf(stderr, "rank %d, round %ld: receive %d did not get message %d\n", rank, round, receive,
                        message);
            violations += wrong;
        }
    }

    T_Finalize();
    return violations == 0 ? 0 : 1;
}
