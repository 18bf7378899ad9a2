/* progress [rounds]: the main thread of each rank posts receives and sends, and a second thread completes the
 * receives, as in programs with a thread for progress. The main thread is some rounds ahead, so each receive completes
 * in another thread than the one that posted it, while that posts more.
 *
 * Of each round's receives one half is from the left neighbour, the other from anyone; by then a neighbour may be
 * ahead, and only the sum of these is known beforehand. */
#include "truth.h"
#include <pthread.h>

enum { NAMED = 4, WILD = 4, RECEIVES = NAMED + WILD, AHEAD = 4, LONGEST = 64, NAMED_TAG = 1, WILD_TAG = 2 };

struct round {
    MPI_Request requests[RECEIVES];
    int received[RECEIVES][LONGEST];
};

static struct round rounds[AHEAD];
static long posted, completed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long long wild_sum;

/* Always short enough to be sent eagerly: no send waits for its receive. */
static int length_of(long round, int message)
{
    return 1 + (int)((round * RECEIVES + message) % (LONGEST - 1));
}

static void *complete(void *argument)
{
    long count = *(const long *)argument;
    for (long number = 0; number < count; number++) {
        pthread_mutex_lock(&mutex);
        while (posted <= number)
            pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);

        struct round *round = &rounds[number % AHEAD];
        MPI_Status statuses[RECEIVES];
        if (number % 3 == 0) {
            T_Waitall(RECEIVES, round->requests, statuses);
        } else if (number % 3 == 1) {
            for (int left = RECEIVES; left > 0; left--) {
                int at;
                MPI_Status status;
                T_Waitany(RECEIVES, round->requests, &at, &status);
                truth_require(at >= 0 && at < RECEIVES);
                statuses[at] = status;
            }
        } else {
            /* Those posted last first. */
            T_Waitall(WILD, round->requests + NAMED, statuses + NAMED);
            T_Waitall(NAMED, round->requests, statuses);
        }
        for (int receive = 0; receive < RECEIVES; receive++) {
            int length;
            MPI_Get_count(&statuses[receive], MPI_INT, &length);
            truth_require(length >= 1 && round->received[receive][length - 1] == length);
            if (receive < NAMED)
                truth_require(length == length_of(number, receive));
            else
                wild_sum += length;
        }

        pthread_mutex_lock(&mutex);
        completed = number + 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, size;
    if (!truth_init_threads(&argc, &argv))
        return 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long count = truth_argument(argc, argv, 1, 200);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    pthread_t thread;
    truth_require(pthread_create(&thread, NULL, complete, &count) == 0);
    int sent[RECEIVES][LONGEST];
    long long expected_sum = 0;
    for (long number = 0; number < count; number++) {
        pthread_mutex_lock(&mutex);
        while (completed + AHEAD <= number)
            pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
        struct round *round = &rounds[number % AHEAD];
        for (int receive = 0; receive < RECEIVES; receive++)
            T_Irecv(round->received[receive], LONGEST, MPI_INT, receive < NAMED ? left : MPI_ANY_SOURCE,
                    receive < NAMED ? NAMED_TAG : WILD_TAG, MPI_COMM_WORLD, &round->requests[receive]);
        pthread_mutex_lock(&mutex);
        posted = number + 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);

        MPI_Request sends[RECEIVES];
        for (int message = 0; message < RECEIVES; message++) {
            int length = length_of(number, message);
            sent[message][length - 1] = length;
            /* What is for anyone goes to both neighbours in turn. */
            int destination = message >= NAMED && message % 2 ? left : right;
            T_Isend(sent[message], length, MPI_INT, destination, message < NAMED ? NAMED_TAG : WILD_TAG,
                    MPI_COMM_WORLD, &sends[message]);
            if (message >= NAMED)
                expected_sum += length;
        }
        T_Waitall(RECEIVES, sends, MPI_STATUSES_IGNORE);
    }
    pthread_join(thread, NULL);
    /* All ranks send the same, half of it to each side. */
    truth_require(wild_sum == expected_sum);

    T_Finalize();
    return 0;
}
