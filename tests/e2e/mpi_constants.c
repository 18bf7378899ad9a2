/* Prints the constants of this MPI and where things lie in its status, each as a name and a number. What the header
 * does not name is found out: the words of a status that change when MPI itself sets its count or its mark of
 * cancellation. */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = sizeof(MPI_Status) / 4 };

static void print(const char *name, long long value)
{
    printf("%s %lld\n", name, value);
}

static void words_of(const MPI_Status *status, uint32_t words[WORDS])
{
    memcpy(words, status, sizeof *status);
}

/* The words of a status of this size. */
static void with_count(MPI_Count bytes, uint32_t words[WORDS])
{
    MPI_Status status;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements_x(&status, MPI_BYTE, bytes);
    words_of(&status, words);
}

static void print_count(void)
{
    uint32_t none[WORDS], low[WORDS], high[WORDS];
    with_count(0, none);
    with_count(1, low);
    with_count((MPI_Count)1 << 32, high);
    for (int word = 0; word < WORDS; word++) {
        if (low[word] != none[word])
            print("count_low", 4 * word);
        if (high[word] != none[word]) {
            int shift = 0;
            while ((high[word] ^ none[word]) >> shift != 1)
                shift++;
            print("count_high", 4 * word);
            print("count_high_shift", shift);
        }
    }
}

static void print_cancelled(void)
{
    uint32_t before[WORDS], after[WORDS];
    MPI_Status status;
    memset(&status, 0, sizeof status);
    words_of(&status, before);
    MPI_Status_set_cancelled(&status, 1);
    words_of(&status, after);
    for (int word = 0; word < WORDS; word++)
        if (after[word] != before[word]) {
            print("cancelled", 4 * word);
            print("cancelled_mask", after[word] ^ before[word]);
            print("cancelled_inside_mask", (after[word] ^ before[word]) != 0);
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    print("handle_bytes", sizeof(MPI_Comm));
    print("request_bytes", sizeof(MPI_Request));
    print("any_source", MPI_ANY_SOURCE);
    print("proc_null", MPI_PROC_NULL);
    print("root", MPI_ROOT);
    print("any_tag", MPI_ANY_TAG);
    print("undefined", MPI_UNDEFINED);
    print("grid", MPI_CART);
    print("graph", MPI_GRAPH);
    print("distributed_graph", MPI_DIST_GRAPH);
    print("error_truncate", MPI_ERR_TRUNCATE);
    print("status_ignore", (intptr_t)MPI_STATUS_IGNORE);
    print("statuses_ignore", (intptr_t)MPI_STATUSES_IGNORE);
    print("in_place", (intptr_t)MPI_IN_PLACE);
    print("comm_world", (long long)(intptr_t)MPI_COMM_WORLD);
    print("comm_null", (long long)(intptr_t)MPI_COMM_NULL);
    print("byte", (long long)(intptr_t)MPI_BYTE);
    print("double", (long long)(intptr_t)MPI_DOUBLE);
    print("sum", (long long)(intptr_t)MPI_SUM);
    print("status_bytes", sizeof(MPI_Status));
    print("status_source", offsetof(MPI_Status, MPI_SOURCE));
    print("status_tag", offsetof(MPI_Status, MPI_TAG));
    print_count();
    print_cancelled();
    MPI_Finalize();
    return 0;
}
