// A program whose main thread calls pthread_exit. Prints the number of its instrumented calls.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define FUNCTION __attribute__((noinline))

static _Atomic unsigned long calls;
static pthread_t main_thread;

static FUNCTION void leaf(void) { calls++; }

static FUNCTION void *work(void *joins_main) {
    calls++;
    if (joins_main) pthread_join(main_thread, 0);
    usleep(100000);
    leaf();
    return 0;
}

static FUNCTION __attribute__((destructor)) void late(void) {
    calls++;
    printf("%lu\n", (unsigned long)calls);
}

PLAIN int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    alarm(60); // Fails instead of waiting forever.
    main_thread = pthread_self();
    // Not UTF-8: the kernel may cut a name within a character.
    if (!strcmp(mode, "odd_name")) prctl(PR_SET_NAME, "odd) \xd0");
    if (strcmp(mode, "late")) leaf();
    if (!strcmp(mode, "thread") || !strcmp(mode, "join")) {
        pthread_t thread;
        pthread_create(&thread, 0, work, !strcmp(mode, "join") ? &main_thread : 0);
    }
    pthread_exit(0);
}
