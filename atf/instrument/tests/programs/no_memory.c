// A program that continues after using up its memory. Prints the number of its instrumented calls.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define PLAIN __attribute__((no_instrument_function))
#define FUNCTION __attribute__((noinline))
#define THREADS 20
#define STACK (256 << 10)

static _Atomic unsigned long calls;
static char stacks[THREADS][STACK] __attribute__((aligned(4096)));

static FUNCTION void leaf(void) { calls++; }

static FUNCTION int deep(int depth) {
    calls++;
    return depth == 0 ? 0 : deep(depth - 1) + 1;
}

// Touches the stack, so that the system allocates its memory.
static PLAIN void grow_stack(void) {
    volatile char bytes[4 << 20];
    for (size_t n = 0; n < sizeof bytes; n += 4096) bytes[n] = 0;
}

static FUNCTION void *work(void *unused) {
    calls++;
    for (int n = 0; n < 1000; n++) leaf();
    return unused;
}

// Runs threads whose stacks need no new memory.
static PLAIN void threads(void) {
    pthread_t all[THREADS];
    int count = 0;
    // The system may have no memory for a thread's own data.
    for (int n = 0; n < THREADS; n++) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, stacks[n], STACK);
        if (pthread_create(&all[count], &attributes, work, 0) == 0) count++;
    }
    for (int n = 0; n < count; n++) pthread_join(all[n], 0);
}

PLAIN int main(void) {
    grow_stack();
    leaf();
    printf("begins\n"); // Allocates the buffer.
    struct rlimit limit = {96 << 20, 96 << 20};
    setrlimit(RLIMIT_AS, &limit);
    void *blocks = 0, *spare = malloc(100 << 10);
    for (size_t size = 1 << 20; size >= 64;) {
        void **block = malloc(size);
        if (!block) {
            size /= 2;
            continue;
        }
        *block = blocks;
        blocks = block;
    }
    deep(20000);
    free(spare);
    threads();
    while (blocks) {
        void *next = *(void **)blocks;
        free(blocks);
        blocks = next;
    }
    for (int n = 0; n < 1000; n++) leaf();
    printf("%lu\n", (unsigned long)calls);
    return 0;
}
