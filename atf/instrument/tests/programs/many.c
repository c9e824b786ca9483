/* Runs many threads. Only `leaf` has hooks, so each call produces two events. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BARE __attribute__((no_instrument_function))

static pthread_barrier_t start;
static long calls;

static __attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }

static BARE void *busy(void *unused) {
    pthread_barrier_wait(&start);
    for (long n = 0; n < calls; n++) leaf();
    return unused;
}

static BARE void *brief(void *unused) {
    leaf();
    return unused;
}

/* Runs threads at once, and prints the largest amount of resident memory in KiB. */
static BARE void at_once(int count) {
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (int n = 0; n < count; n++)
        if (pthread_create(&threads[n], NULL, busy, NULL) != 0) exit(1);
    for (int n = 0; n < count; n++) pthread_join(threads[n], NULL);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%ld\n", used.ru_maxrss);
}

/* Runs threads one after the other and returns how many bytes are allocated at the end. */
static BARE size_t one_by_one(int count) {
    for (int n = 0; n < count; n++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, brief, NULL) != 0) exit(1);
        pthread_join(thread, NULL);
    }
    /* A flight recorder keeps the threads' events for a second. */
    usleep(1500000);
    return mallinfo2().uordblks;
}

BARE int main(int argc, char **argv) {
    if (argc != 4) return 2;
    const int count = atoi(argv[2]);
    calls = atol(argv[3]);
    if (strcmp(argv[1], "busy") == 0) {
        at_once(count);
    } else {
        /* Threads may allocate memory that later ones reuse, and more of it on a busy machine. A
           leak would grow with each round. */
        size_t before = 0;
        size_t after = one_by_one(count);
        for (int round = 0; round < 5 && after > before + 10 * (size_t)count; round++) {
            before = after;
            after = one_by_one(count);
            /* On a busy machine, the library frees the last threads' memory later. */
            for (int n = 0; n < 50 && after > before + 10 * (size_t)count; n++) {
                usleep(100000);
                after = mallinfo2().uordblks;
            }
        }
        printf("%zu\n", after > before ? (after - before) / (size_t)count : 0);
    }
    return 0;
}
