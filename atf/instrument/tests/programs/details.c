// A program that tests details, triggers and crashes. argv[1] selects the test.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
// Keeps calls from being inlined or replaced by jumps.
#define FUNCTION __attribute__((noinline))

__attribute__((weak)) void atf_instrument_trigger(void);

static PLAIN unsigned long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (unsigned long long)time.tv_sec * 1000000000 + (unsigned long long)time.tv_nsec;
}

static volatile long sink;

FUNCTION void leaf(void) { sink++; }

FUNCTION long six(long a, long b, long c, long d, long e, long f) {
    char marker[16] = "STACK OF SIX...";
    __asm__ volatile("" : : "r"(marker) : "memory"); // Keeps the whole array.
    leaf();
    sink += marker[3];
    return a + b + c + d + e + f;
}

FUNCTION void rare(void) { leaf(); }

FUNCTION void down(int depth) {
    if (depth > 1) down(depth - 1);
    sink++;
}

static PLAIN void busy(unsigned long long nanoseconds) {
    for (unsigned long long end = now() + nanoseconds; now() < end;) {
        leaf();
        for (unsigned long long next = now() + 10000; now() < next;) {}
    }
}

// Prints the time before and after the trigger.
static PLAIN void *trigger(void *how) {
    unsigned long long before = now();
    if (strcmp(how, "call") == 0 && atf_instrument_trigger) atf_instrument_trigger();
    if (strcmp(how, "signal") == 0) raise(SIGUSR2);
    if (strcmp(how, "function") == 0) rare();
    printf("%llu\n%llu\n", before, now());
    return 0;
}

static PLAIN void *busy_thread(void *unused) {
    busy(400000000);
    return unused;
}

static PLAIN void around(char *how) {
    pthread_t thread;
    pthread_create(&thread, 0, busy_thread, 0);
    busy(200000000);
    trigger(how);
    busy(200000000);
    pthread_join(thread, 0);
}

FUNCTION void overflow(long n) {
    volatile char room[1000];
    room[0] = (char)n;
    overflow(n + room[0]);
    sink++;
}

static PLAIN void own_handler(int number) {
    (void)number;
    _exit(77);
}

// `__builtin_trap` is a breakpoint on arm64.
static PLAIN void illegal_instruction(void) {
#ifdef __aarch64__
    __asm__ volatile("udf #0");
#else
    __builtin_trap();
#endif
}

static PLAIN void crash(const char *how) {
    for (int n = 0; n < 1000; n++) leaf();
    rare();
    if (strcmp(how, "abrt") == 0) abort();
    if (strcmp(how, "ill") == 0) illegal_instruction();
    if (strcmp(how, "sent") == 0) kill(getpid(), SIGBUS);
    if (strcmp(how, "stack") == 0) overflow(1);
    *(volatile int *)(sink < 0 ? &sink : 0) = 1;
}

PLAIN int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "six") == 0) sink += six(1, 2, 3, 4, 5, 6);
    if (strcmp(mode, "down") == 0) down(10);
    if (strcmp(mode, "around") == 0) around(argv[2]);
    if (strcmp(mode, "handler") == 0) {
        signal(SIGUSR2, own_handler);
        leaf();
        raise(SIGUSR2);
    }
    if (strcmp(mode, "crash") == 0) crash(argv[2]);
    if (strcmp(mode, "fork") == 0) {
        leaf();
        if (fork() == 0) crash("segv");
        wait(0);
    }
    return 0;
}
