/* Never calls MPI and ends with a status of its own: preloading a recorder must change nothing about it. */
#include <stdio.h>

int main(void)
{
    printf("hello\n");
    return 5;
}
