// Defines its own clock, sleep and process id functions, like a simulator. Prints how often they were called.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define FUNCTION __attribute__((noinline))

static _Atomic unsigned long own_calls;

FUNCTION int clock_gettime(clockid_t clock, struct timespec *time) {
    (void)clock;
    own_calls++;
    time->tv_sec = 42;
    time->tv_nsec = 0;
    return 0;
}

FUNCTION int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *rest) {
    (void)clock, (void)flags, (void)request, (void)rest;
    own_calls++;
    return 0;
}

FUNCTION pid_t getpid(void) {
    own_calls++;
    return 42;
}

FUNCTION pid_t gettid(void) {
    own_calls++;
    return 42;
}

static FUNCTION void leaf(void) { usleep(1); }

static FUNCTION void *work(void *unused) {
    for (int n = 0; n < 500; n++) leaf();
    return unused;
}

PLAIN int main(void) {
    alarm(60); // Fails instead of waiting forever.
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    printf("%lu\n", (unsigned long)own_calls);
    return 0;
}
