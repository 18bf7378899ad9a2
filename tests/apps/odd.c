/* odd WORD [exchanges]: neighbours exchange messages, and each rank does what few programs do and all may:
 *     interrupted   a timer interrupts it all the time, whose handler calls nothing of MPI
 *     starting      between its calls it starts other programs, which have all that it has in the environment
 *     becoming      after MPI_Finalize it becomes another program
 *     leaving       after MPI_Finalize it ends at once, without anything that runs at an exit
 *     vanishing     it ends at once and MPI is not told
 *     twice         it initializes MPI a second time, which is an error
 * What runs before main and after it uses memory, threads and the dynamic linker, as libraries do that are not of MPI. */
#define _GNU_SOURCE
#include "truth.h"
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST = 64, TAG = 3, STARTED_STATUS = 3, VANISHED_STATUS = 7 };

static volatile sig_atomic_t interruptions;
static void *before_main;

static void *nothing(void *argument)
{
    return argument;
}

/* Also MPI may be asked before it is initialized whether it is. */
__attribute__((constructor)) static void before(void)
{
    pthread_t thread;
    int initialized = 1;
    before_main = malloc(100);
    if (pthread_create(&thread, NULL, nothing, NULL) == 0)
        pthread_join(thread, NULL);
    MPI_Initialized(&initialized);
    if (!before_main || !dlsym(RTLD_DEFAULT, "MPI_Send") || initialized)
        _exit(99);
}

__attribute__((destructor)) static void after(void)
{
    int finalized = 0;
    MPI_Finalized(&finalized);
    free(before_main);
    if (!finalized)
        _exit(98);
}

static void interrupted(int number)
{
    (void)number;
    interruptions++;
}

static void set_timer(int microseconds)
{
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = interrupted;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void start_others(void)
{
    int status = system("exit 3");
    truth_require(WIFEXITED(status) && WEXITSTATUS(status) == STARTED_STATUS);
    pid_t child = vfork();
    truth_require(child >= 0);
    if (child == 0) {
        execlp("true", "true", (char *)NULL);
        _exit(1);
    }
    truth_require(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void exchange(int rank, int size, long exchanges, int starts_others)
{
    int sent[LONGEST] = {0}, received[LONGEST];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (long number = 0; number < exchanges; number++) {
        int length = 1 + (int)(number % LONGEST), count;
        MPI_Status status;
        MPI_Request request;
        T_Irecv(received, LONGEST, MPI_INT, left, TAG, MPI_COMM_WORLD, &request);
        T_Send(sent, length, MPI_INT, right, TAG, MPI_COMM_WORLD);
        T_Wait(&request, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        truth_require(count == length);
        if (starts_others && number % 100 == 0)
            start_others();
    }
    T_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size;
    const char *word = argc > 1 ? argv[1] : "";
    T_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long exchanges = truth_argument(argc, argv, 2, 200);
    if (strcmp(word, "interrupted") == 0)
        set_timer(500);
    exchange(rank, size, exchanges, strcmp(word, "starting") == 0);
    if (strcmp(word, "interrupted") == 0) {
        set_timer(0);
        truth_require(interruptions > 0);
    }
    if (strcmp(word, "vanishing") == 0)
        _exit(VANISHED_STATUS);
    if (strcmp(word, "twice") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        fprintf(stderr, "the second time it is %s\n", T_Init(&argc, &argv) == MPI_SUCCESS ? "fine" : "an error");
    }
    T_Finalize();
    fflush(stdout);
    if (strcmp(word, "leaving") == 0)
        _exit(0);
    if (strcmp(word, "becoming") == 0)
        execlp("true", "true", (char *)NULL);
    return 0;
}
