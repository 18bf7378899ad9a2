/* forms: each counted function in each form that a recorder may treat differently: null requests, ignored statuses,
 * empty messages, messages to oneself and to nobody, polls that fail. For two ranks or more. */
#define _POSIX_C_SOURCE 200809L
#include "truth.h"
#include <time.h>

enum { FLAVOURS = 8, COMPLETIONS = 8, LONGEST = 5000 };

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, size, right, left;
static int sent[LONGEST], received[LONGEST];

static void send_in_flavour(int flavour, int count, int destination, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    switch (flavour) {
    case 0: T_Send(sent, count, MPI_INT, destination, flavour, world); break;
    case 1: T_Bsend(sent, count, MPI_INT, destination, flavour, world); break;
    case 2: T_Ssend(sent, count, MPI_INT, destination, flavour, world); break;
    case 3: T_Rsend(sent, count, MPI_INT, destination, flavour, world); break;
    case 4: T_Isend(sent, count, MPI_INT, destination, flavour, world, request); break;
    case 5: T_Ibsend(sent, count, MPI_INT, destination, flavour, world, request); break;
    case 6: T_Issend(sent, count, MPI_INT, destination, flavour, world, request); break;
    case 7: T_Irsend(sent, count, MPI_INT, destination, flavour, world, request); break;
    }
}

static void all_flavours(int destination, int source, int count)
{
    for (int flavour = 0; flavour < FLAVOURS; flavour++) {
        MPI_Request receive, send;
        MPI_Status status;
        int received_count;
        T_Irecv(received, count, MPI_INT, source, flavour, world, &receive);
        T_Barrier(world); /* a ready send is an error unless the receive is posted */
        send_in_flavour(flavour, count, destination, &send);
        T_Wait(&receive, &status);
        T_Wait(&send, MPI_STATUS_IGNORE); /* of the blocking flavours: a null request */
        MPI_Get_count(&status, MPI_INT, &received_count);
        /* The source is not checked for nobody: MPICH 4.0 gives rank 0 when an MPI_Irecv had no sender. */
        truth_require(source == MPI_PROC_NULL ? received_count == 0
                                              : received_count == count && status.MPI_SOURCE == source);
    }
}

/* Until all requests are null; null ones may be among them from the start. */
static void complete(int form, int count, MPI_Request *requests, int with_statuses)
{
    MPI_Status space[8], *one = with_statuses ? space : MPI_STATUS_IGNORE;
    MPI_Status *several = with_statuses ? space : MPI_STATUSES_IGNORE;
    int indices[8], index = 0, number = 0, flag = 0;
    switch (form) {
    case 0: for (; index < count; index++) T_Wait(&requests[index], one); break;
    case 1: T_Waitall(count, requests, several); break;
    case 2: while (index != MPI_UNDEFINED) T_Waitany(count, requests, &index, one); break;
    case 3: while (number != MPI_UNDEFINED) T_Waitsome(count, requests, &number, indices, several); break;
    case 4: for (; index < count; index += flag != 0) T_Test(&requests[index], &flag, one); break;
    case 5: while (!flag) T_Testall(count, requests, &flag, several); break;
    case 6: while (!flag || index != MPI_UNDEFINED) T_Testany(count, requests, &index, &flag, one); break;
    case 7: while (number != MPI_UNDEFINED) T_Testsome(count, requests, &number, indices, several); break;
    }
    for (int position = 0; position < count; position++)
        truth_require(requests[position] == MPI_REQUEST_NULL);
}

static void all_completions(void)
{
    for (int form = 0; form < 2 * COMPLETIONS; form++) {
        MPI_Request requests[6] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                                   MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        T_Irecv(received, 10, MPI_INT, left, 1, world, &requests[0]);
        T_Irecv(received + 10, 20, MPI_INT, left, 2, world, &requests[3]);
        T_Isend(sent, 10, MPI_INT, right, 1, world, &requests[2]);
        T_Isend(sent, 20, MPI_INT, right, 2, world, &requests[4]);
        complete(form % COMPLETIONS, 6, requests, form < COMPLETIONS);
        complete(form % COMPLETIONS, 6, requests, form < COMPLETIONS); /* all of them null */
        complete(form % COMPLETIONS, 0, NULL, form < COMPLETIONS);     /* none at all */
    }
}

/* Even ranks poll while their odd neighbours sleep: most of the polls find nothing. */
static void failing_polls(void)
{
    int partner = rank ^ 1;
    for (int form = 3; form < COMPLETIONS; form++) {
        T_Barrier(world);
        if (partner >= size)
            continue;
        if (rank % 2 == 1) {
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
            T_Send(sent, form, MPI_INT, partner, form, world);
        } else if (form == 3) {
            MPI_Status status;
            for (int flag = 0; !flag;)
                T_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, &status);
            T_Recv(received, form, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, world, MPI_STATUS_IGNORE);
        } else {
            MPI_Request request;
            T_Irecv(received, form, MPI_INT, partner, form, world, &request);
            complete(form, 1, &request, form % 2);
        }
    }
}

static void probes(void)
{
    MPI_Request request;
    MPI_Status status;
    int count, flag;
    T_Isend(sent, 30, MPI_INT, right, 1, world, &request);
    T_Probe(left, 1, world, MPI_STATUS_IGNORE);
    T_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    truth_require(status.MPI_SOURCE == left && status.MPI_TAG == 1 && count == 30);
    T_Iprobe(left, 1, world, &flag, MPI_STATUS_IGNORE);
    truth_require(flag);
    T_Recv(received, LONGEST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
    T_Wait(&request, MPI_STATUS_IGNORE);
    T_Probe(MPI_PROC_NULL, 1, world, &status);
    T_Iprobe(MPI_PROC_NULL, MPI_ANY_TAG, world, &flag, &status);
    truth_require(flag && status.MPI_SOURCE == MPI_PROC_NULL);
    T_Recv(received, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, world, &status);
}

static void sends_with_receives(void)
{
    const int nobody = MPI_PROC_NULL;
    MPI_Request request;
    MPI_Status status;
    T_Sendrecv(sent, 40, MPI_INT, right, 1, received, LONGEST, MPI_INT, left, 1, world, &status);
    truth_require(status.MPI_SOURCE == left);
    T_Sendrecv(sent, 3, MPI_INT, rank, 2, received, 3, MPI_INT, rank, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
    /* One way only, the other side with calls of another kind. */
    T_Irecv(received, 50, MPI_INT, left, 3, world, &request);
    T_Sendrecv(sent, 50, MPI_INT, right, 3, NULL, 0, MPI_INT, nobody, 3, world, &status);
    truth_require(status.MPI_SOURCE == nobody);
    T_Wait(&request, MPI_STATUS_IGNORE);
    T_Isend(sent, 60, MPI_INT, left, 4, world, &request);
    T_Sendrecv(NULL, 0, MPI_INT, nobody, 4, received, 60, MPI_INT, MPI_ANY_SOURCE, 4, world, MPI_STATUS_IGNORE);
    T_Wait(&request, &status);
    T_Sendrecv_replace(received, 70, MPI_INT, left, 5, right, 5, world, &status);
    truth_require(status.MPI_SOURCE == right);
    T_Sendrecv_replace(received, 0, MPI_INT, rank, 6, rank, 6, world, MPI_STATUS_IGNORE);
    T_Sendrecv_replace(received, 70, MPI_INT, nobody, 7, nobody, 7, world, MPI_STATUS_IGNORE);
}

static void collectives(MPI_Comm communicator)
{
    int members, own, sum;
    MPI_Comm_size(communicator, &members);
    MPI_Comm_rank(communicator, &own);
    for (int root = 0; root < members; root++) {
        T_Bcast(sent, root, MPI_INT, root, communicator); /* of no elements for root 0 */
        T_Reduce(&members, &sum, 1, MPI_INT, MPI_SUM, root, communicator);
        truth_require(own != root || sum == members * members);
        sum = 1;
        T_Reduce(own == root ? MPI_IN_PLACE : &sum, own == root ? &sum : NULL, 1, MPI_INT, MPI_SUM, root,
                 communicator);
        truth_require(own != root || sum == members);
    }
    T_Barrier(communicator);
    T_Allreduce(&members, &sum, 1, MPI_INT, MPI_SUM, communicator);
    T_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, communicator);
    truth_require(sum == members * members);
}

int main(int argc, char **argv)
{
    static char buffer[1 << 20];
    void *detached;
    int provided, buffer_size;
    T_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;

    MPI_Buffer_attach(buffer, sizeof buffer);
    const int counts[] = {0, 1, LONGEST};
    for (int choice = 0; choice < 3; choice++) {
        all_flavours(right, left, counts[choice]);
        all_flavours(rank, rank, counts[choice]);
        all_flavours(MPI_PROC_NULL, MPI_PROC_NULL, counts[choice]);
    }
    MPI_Buffer_detach(&detached, &buffer_size);
    all_completions();
    failing_polls();
    probes();
    sends_with_receives();

    MPI_Comm halves, copy, all;
    MPI_Group group;
    collectives(world);
    T_Comm_split(world, rank % 2, 0, &halves);
    T_Comm_dup(world, &copy);
    MPI_Comm_group(world, &group);
    T_Comm_create(world, group, &all);
    MPI_Group_free(&group);
    MPI_Comm *const others[] = {&halves, &copy, &all};
    for (int other = 0; other < 3; other++) {
        collectives(*others[other]);
        T_Comm_free(others[other]);
    }
    collectives(MPI_COMM_SELF);

    T_Finalize();
    return 0;
}
