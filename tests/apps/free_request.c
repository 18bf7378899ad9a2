/* free_request [rounds]: receives that are given up by MPI_Request_free while they are open. MPI lets them take their
 * message, but no call tells of it. The messages are all of different sizes: whoever gives the message of a freed
 * receive to a later one of the same channel is found out.
 *
 * The same on communicators that are made and given up in rarer ways. Rank 0 prints how many messages, and of how many
 * bytes, the freed receives took: "freed MESSAGES BYTES". */
#include "truth.h"

enum { RECEIVES = 6, LONGEST = 1024, TAG = 3 };

static int next_length = 1;
static long long freed_messages, freed_bytes;

/* They must be there until the end: when a freed receive writes, nothing tells. */
static int received[RECEIVES][LONGEST], nowhere[LONGEST];

/* Every third one, and in odd rounds the last one as well: nothing follows it on the channel in that round. */
static int is_freed(long round, int receive)
{
    return receive % 3 == 1 || (round % 2 == 1 && receive == RECEIVES - 1);
}

static void exchange(long round, MPI_Comm communicator)
{
    int rank, size, sent[LONGEST] = {0}, first = next_length;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request requests[RECEIVES];
    for (int receive = 0; receive < RECEIVES; receive++) {
        int freed = is_freed(round, receive);
        T_Irecv(freed ? nowhere : received[receive], LONGEST, MPI_INT, left, TAG, communicator, &requests[receive]);
        if (freed) {
            T_Request_free(&requests[receive]);
            truth_require(requests[receive] == MPI_REQUEST_NULL);
        }
    }
    for (int message = 0; message < RECEIVES; message++) {
        int length = first + message;
        truth_require(length <= LONGEST);
        sent[0] = length;
        T_Send(sent, length, MPI_INT, right, TAG, communicator);
        if (is_freed(round, message)) {
            freed_messages++;
            freed_bytes += length * (long long)sizeof(int);
        }
    }
    for (int receive = 0; receive < RECEIVES; receive++) {
        if (is_freed(round, receive))
            continue;
        int length;
        MPI_Status status;
        T_Wait(&requests[receive], &status);
        MPI_Get_count(&status, MPI_INT, &length);
        truth_require(length == first + receive && received[receive][0] == length);
    }
    next_length += RECEIVES;
}

int main(int argc, char **argv)
{
    int rank;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long rounds = truth_argument(argc, argv, 1, 20);

    MPI_Comm shared, copied;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &shared);
    MPI_Comm_dup_with_info(shared, MPI_INFO_NULL, &copied);
    for (long round = 0; round < rounds; round++) {
        exchange(round, MPI_COMM_WORLD);
        exchange(round, shared);
        exchange(round, copied);
        if (round % 4 == 3) {
            /* MPI_Comm_disconnect waits for what is open, and a handle may come again. */
            MPI_Comm_disconnect(&copied);
            truth_require(copied == MPI_COMM_NULL);
            MPI_Comm_dup_with_info(shared, MPI_INFO_NULL, &copied);
        }
    }
    MPI_Comm_disconnect(&copied);
    MPI_Comm_disconnect(&shared);

    long long own[2] = {freed_messages, freed_bytes}, all[2];
    PMPI_Reduce(own, all, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("freed %lld %lld\n", all[0], all[1]);
    T_Finalize();
    return 0;
}
