/* million [messages]: that many messages of 8 bytes in all, between ranks 0 and 1, 2 and 3, ...: half of them by
 * Isend, Irecv and Waitall, half by blocking calls. A last rank without a partner has nothing to do. */
#include "truth.h"
#include <stdint.h>

enum { WINDOW = 64 };

/* Both directions at once: each side posts a window of receives and of sends. */
static void exchange_windows(int partner, long sends, long receives)
{
    uint64_t sent[WINDOW], received[WINDOW];
    MPI_Request requests[2 * WINDOW];
    for (long first = 0; first < sends || first < receives; first += WINDOW) {
        int count = 0;
        for (long number = first; number < first + WINDOW && number < receives; number++)
            T_Irecv(&received[number - first], 1, MPI_UINT64_T, partner, 0, MPI_COMM_WORLD, &requests[count++]);
        for (long number = first; number < first + WINDOW && number < sends; number++) {
            sent[number - first] = (uint64_t)number;
            T_Isend(&sent[number - first], 1, MPI_UINT64_T, partner, 0, MPI_COMM_WORLD, &requests[count]);
            count++;
        }
        T_Waitall(count, requests, MPI_STATUSES_IGNORE);
        for (long number = first; number < first + WINDOW && number < receives; number++)
            truth_require(received[number - first] == (uint64_t)number);
    }
}

static void send_window(int partner, long first, long end)
{
    for (long number = first; number < first + WINDOW && number < end; number++) {
        uint64_t sent = (uint64_t)number;
        T_Send(&sent, 1, MPI_UINT64_T, partner, 1, MPI_COMM_WORLD);
    }
}

static void receive_window(int partner, long first, long end)
{
    for (long number = first; number < first + WINDOW && number < end; number++) {
        uint64_t received;
        T_Recv(&received, 1, MPI_UINT64_T, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_require(received == (uint64_t)number);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long messages = truth_argument(argc, argv, 1, 1000000);
    int partner = rank ^ 1, pair = rank / 2, pairs = size / 2;

    if (partner < size) {
        /* The first pairs take the remainder, and the even ranks the odd message: the total is exact. */
        long share = messages / pairs + (pair < messages % pairs);
        long windowed = share / 2, blocking = share - windowed;
        int even = rank % 2 == 0;
        long mine = (windowed + even) / 2;
        exchange_windows(partner, mine, windowed - mine);

        /* By turns, a window each way: a sender cannot run far ahead of its receiver. */
        mine = (blocking + even) / 2;
        long theirs = blocking - mine;
        for (long first = 0; first < mine || first < theirs; first += WINDOW) {
            if (even)
                send_window(partner, first, mine);
            receive_window(partner, first, theirs);
            if (!even)
                send_window(partner, first, mine);
        }
    }

    T_Finalize();
    return 0;
}
