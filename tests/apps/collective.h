/* What the programs of collectives share: the communicators that they call on, and how a call is made in both ways. */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H

#include "truth.h"

/* For arguments that MPI does not look at, such as the counts beside MPI_IN_PLACE or a receive's at whoever is not the
 * root, to find out a recorder that does look. */
enum { NONSENSE = 77, TAG = 5, LEADERS_TAG = 6 };

/* Where the calls are made. The peers are those that a rank exchanges with: the other group's ranks, or its own. */
static MPI_Comm communicator;
static int own, members, peers, is_inter;
static int is_nonblocking;

/* The root of a rooted call as this rank has to name it, and whether this rank is one that the root deals with. */
static int root, is_root, is_served, is_last_root;

static inline void complete(MPI_Request *request)
{
    static int way;
    int flag = 0, given = 0, taken = 0, rank;
    MPI_Request three[3];
    switch (way++ % 4) {
    case 0: T_Wait(request, MPI_STATUS_IGNORE); break;
    case 1: while (!flag) T_Test(request, &flag, MPI_STATUS_IGNORE); break;
    case 2: T_Waitall(1, request, MPI_STATUSES_IGNORE); break;
    case 3: /* among messages, here from each rank to itself */
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        T_Irecv(&taken, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &three[0]);
        three[1] = *request;
        T_Isend(&given, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, &three[2]);
        T_Waitall(3, three, MPI_STATUSES_IGNORE);
        *request = three[1];
    }
    truth_require(*request == MPI_REQUEST_NULL);
}

/* A call in the form that is the turn of. */
#define CALL(Blocking, Nonblocking, ...)            \
    do {                                            \
        if (is_nonblocking) {                       \
            MPI_Request request;                    \
            T_##Nonblocking(__VA_ARGS__, &request); \
            complete(&request);                     \
        } else {                                    \
            T_##Blocking(__VA_ARGS__);              \
        }                                           \
    } while (0)

/* Chooses the first or the last rank as root, between two groups also the group that it is in. */
static inline void choose_root(int last, int of_second_group, int in_second_group)
{
    int in_root_s_group = !is_inter || of_second_group == in_second_group;
    is_last_root = last;
    root = last ? (in_root_s_group ? members : peers) - 1 : 0;
    is_root = in_root_s_group && own == root;
    is_served = !is_inter || !in_root_s_group;
    if (is_inter && in_root_s_group)
        root = is_root ? MPI_ROOT : MPI_PROC_NULL;
}

static inline void on(MPI_Comm chosen, void (*rooted)(void), void (*unrooted)(void), int in_second_group)
{
    communicator = chosen;
    MPI_Comm_rank(communicator, &own);
    MPI_Comm_size(communicator, &members);
    MPI_Comm_test_inter(communicator, &is_inter);
    peers = members;
    if (is_inter)
        MPI_Comm_remote_size(communicator, &peers);
    for (is_nonblocking = 0; is_nonblocking < 2; is_nonblocking++) {
        for (int choice = 0; choice < (is_inter ? 4 : 2); choice++) {
            choose_root(choice % 2, choice / 2, in_second_group);
            rooted();
        }
        unrooted();
    }
}

/* Calls both on the world, on a half of it with the ranks reversed, and between the halves. */
static inline void on_every_communicator(void (*rooted)(void), void (*unrooted)(void))
{
    MPI_Comm half, between;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    on(MPI_COMM_WORLD, rooted, unrooted, 0);
    T_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    on(half, rooted, unrooted, 0);
    /* Each half is led by its last rank, which is world rank 0 or 1. The leaders' messages are on the world, too, where
     * a receive from anybody of a half that is not so far yet must not take them. */
    int half_size;
    MPI_Comm_size(half, &half_size);
    MPI_Intercomm_create(half, half_size - 1, MPI_COMM_WORLD, 1 - rank % 2, LEADERS_TAG, &between);
    on(between, rooted, unrooted, rank % 2);
    T_Comm_free(&between);
    T_Comm_free(&half);
}

#endif
