// A program that makes the instrumented calls selected by argv[1] and prints their number.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
// Keeps calls from being inlined or replaced by jumps.
#define FUNCTION __attribute__((noinline))

static _Atomic unsigned long calls;

static FUNCTION long leaf(long n) {
    calls++;
    return n;
}

static FUNCTION long tree(int depth) {
    calls++;
    return depth == 0 ? leaf(1) : tree(depth - 1) + tree(depth - 1);
}

static FUNCTION void *work(void *name) {
    calls++;
    pthread_setname_np(pthread_self(), name);
    tree(8);
    return 0;
}

static PLAIN void run_with(pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    pthread_t thread;
    pthread_create(&thread, attributes, function, argument);
    pthread_join(thread, 0);
}

static PLAIN void run(void *(*function)(void *)) { run_with(0, function, 0); }

static PLAIN void threads(void) {
    pthread_t all[3];
    char *names[] = {"first", "second", "third"};
    for (int n = 0; n < 3; n++) pthread_create(&all[n], 0, work, names[n]);
    for (int n = 0; n < 3; n++) pthread_join(all[n], 0);
}

// Runs threads one after another.
static PLAIN void short_threads(int count) {
    for (int n = 0; n < count; n++) run_with(0, work, "short");
}

static _Atomic int is_in_forever;

static FUNCTION void *forever(void *unused) {
    calls++;
    leaf(1);
    is_in_forever = 1;
    for (;;) pause();
    return unused;
}

static PLAIN void leave_a_thread(void) {
    pthread_t thread;
    pthread_create(&thread, 0, forever, 0);
    while (!is_in_forever) usleep(100);
}

// Waits until the manifest contains the calling thread's name.
static PLAIN void wait_for_name(const char *name) {
    char pattern[4096], text[4096];
    alarm(60); // Fails instead of waiting forever.
    snprintf(pattern, sizeof pattern, "%s/*/*/manifest.json", getenv("ATF_OUT"));
    for (int is_there = 0; !is_there; usleep(1000)) {
        glob_t found;
        int file = glob(pattern, 0, 0, &found) ? -1 : open(found.gl_pathv[0], O_RDONLY);
        ssize_t size = read(file, text, sizeof text - 1);
        text[size > 0 ? size : 0] = 0;
        is_there = strstr(text, name) != 0;
        close(file);
    }
}

static FUNCTION void *renamed(void *unused) {
    calls++;
    pthread_setname_np(pthread_self(), "renamed");
    leaf(1);
    // With a flight recorder, the crash is a trigger, and the name is read before it fires.
    if (!getenv("ATF_FLIGHT")) wait_for_name("renamed");
    abort();
    return unused;
}

static FUNCTION void key_ended(void *unused) {
    calls++;
    (void)unused;
}

static FUNCTION void *with_a_key(void *key) {
    calls++;
    pthread_setspecific(*(pthread_key_t *)key, key);
    return 0;
}

static PLAIN void keys(void) {
    pthread_key_t key;
    pthread_key_create(&key, key_ended);
    run_with(0, with_a_key, &key);
}

static jmp_buf place;

static FUNCTION void jump(int depth) {
    calls++;
    if (depth == 0) longjmp(place, 1);
    jump(depth - 1);
}

static FUNCTION void guarded(void) {
    calls++;
    if (setjmp(place) == 0) jump(5);
    leaf(1);
}

static PLAIN void jumps(void) {
    for (int n = 0; n < 3; n++) guarded();
    leaf(1);
}

static ucontext_t thread_context, fiber_context;

static FUNCTION void inner(void) {
    calls++;
    swapcontext(&fiber_context, &thread_context);
}

static PLAIN void in_fiber(void) { inner(); }

static FUNCTION void outer(void) {
    calls++;
    swapcontext(&thread_context, &fiber_context);
}

// The fiber's call begins within a call of the thread and returns after it.
static PLAIN void fibers(void) {
    static char stack[1 << 18];
    getcontext(&fiber_context);
    fiber_context.uc_stack.ss_sp = stack;
    fiber_context.uc_stack.ss_size = sizeof stack;
    fiber_context.uc_link = &thread_context;
    makecontext(&fiber_context, in_fiber, 0);
    outer();
    swapcontext(&thread_context, &fiber_context);
}

static FUNCTION void handler(int number) {
    calls++;
    (void)number;
}

static PLAIN void signals(void) {
    signal(SIGALRM, handler);
    struct itimerval timer = {{0, 50}, {0, 50}};
    setitimer(ITIMER_REAL, &timer, 0);
    for (int n = 0; n < 200; n++) tree(8);
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, 0);
}

static PLAIN void end_in_a_handler(int number) {
    (void)number;
    exit(0);
}

static PLAIN void exit_by_signal(void) {
    signal(SIGALRM, end_in_a_handler);
    ualarm(20000, 0);
    for (;;) tree(8);
}

static PLAIN void plugins(const char *first, const char *second, int rounds) {
    for (int round = 0; round < rounds; round++) {
        const char *paths[] = {first, second};
        for (int n = 0; n < 2; n++) {
            void *plugin = dlopen(paths[n], RTLD_NOW);
            if (!plugin) {
                fprintf(stderr, "%s\n", dlerror());
                exit(9);
            }
            ((void (*)(void))dlsym(plugin, "plugin"))();
            calls++;
            dlclose(plugin);
        }
    }
}

// Returns the size of this process's own memory in KiB.
static PLAIN long memory(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %*d %*d %*d %*d %ld", &pages) != 1) exit(9);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) >> 10);
}

// Loads and unloads two libraries many times. Nothing may accumulate.
static PLAIN void reload(const char *first, const char *second) {
    plugins(first, second, 100);
    long before = memory();
    plugins(first, second, 4000);
    long more = memory() - before;
    if (more > 256) {
        fprintf(stderr, "%ld KiB more\n", more);
        exit(9);
    }
}

static _Atomic int has_lock;

static PLAIN int keep_lock(struct dl_phdr_info *info, size_t size, void *data) {
    (void)info, (void)size, (void)data;
    has_lock = 1;
    for (;;) pause();
    return 0;
}

static PLAIN void *with_loaders_lock(void *unused) {
    dl_iterate_phdr(keep_lock, 0);
    return unused;
}

// Like a daemon, closes all descriptors and opens new files that reuse their numbers.
static PLAIN void close_all(const char *path) {
    leaf(1);
    for (int number = 3; number < 1024; number++) close(number);
    int own = open(path, O_CREAT | O_WRONLY, 0644);
    if (write(own, "first\n", 6) != 6) exit(9);
    for (int n = 0; n < 20000; n++) leaf(1);
    if (write(own, "last\n", 5) != 5) exit(9);
}

static PLAIN void small_stack(void) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
    run_with(&small, work, "small");
}

static PLAIN void *on_a_signal_stack(void *unused) {
    static char memory[8192];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    sigaltstack(&stack, 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, 0);
    pthread_kill(pthread_self(), SIGUSR1);
    return unused;
}

// The process's first call, which starts the recording, must not change errno.
static PLAIN __attribute__((constructor(101))) void first(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "errno")) return;
    errno = 77;
    leaf(1);
    if (errno != 77) _exit(9);
}

// A thread with a pending cancellation, which must take effect only at the thread's own
// cancellation point.
static PLAIN void *cancelled(void *unused) {
    pthread_cancel(pthread_self());
    for (int n = 0; n < 20000; n++) leaf(1);
    pthread_testcancel();
    exit(9);
    return unused;
}

// A child that shares its parent's memory makes a call that its parent's thread has not made.
static PLAIN void *call_in_a_child(void *unused) {
    pid_t child = vfork();
    if (child == 0) {
        leaf(1);
        _exit(0);
    }
    waitpid(child, 0, 0);
    leaf(1);
    return unused;
}

// A child that shares its parent's memory makes more calls than its parent's buffer holds.
static PLAIN void many_calls_in_a_child(void) {
    leaf(1);
    pid_t child = vfork();
    if (child == 0) {
        for (int n = 0; n < 20000; n++) leaf(1);
        _exit(0);
    }
    waitpid(child, 0, 0);
    for (int n = 0; n < 20000; n++) leaf(1);
}

static sigjmp_buf out;

static PLAIN void jump_out(int signal) {
    (void)signal;
    siglongjmp(out, 1);
}

static FUNCTION long overflow(long n) {
    calls++;
    return overflow(n + 1) + n;
}

// Leaves a hook that has no room left on its stack.
static PLAIN void jump_out_of_a_hook(void) {
    static char stack[1 << 16];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&own, 0);
    struct sigaction action = {.sa_handler = jump_out, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, 0);
    if (!sigsetjmp(out, 1)) overflow(0);
    for (int n = 0; n < 100; n++) leaf(1);
}

// Stores the number of finished calls in a file that outlives this process.
static PLAIN void until_killed(const char *path) {
    FILE *file = fopen(path, "w+");
    if (!file || ftruncate(fileno(file), 4096) != 0) exit(9);
    _Atomic unsigned long *finished = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    for (;;) {
        leaf(1);
        atomic_store(finished, calls);
    }
}

static FUNCTION __attribute__((constructor)) void early(void) { calls++; }

static PLAIN int count(void) { return printf("%lu\n", (unsigned long)calls); }

static FUNCTION __attribute__((destructor)) void late(void) {
    calls++;
    count();
}

static PLAIN void count_and_exit(int status) {
    count();
    fflush(stdout);
    _exit(status);
}

// Makes calls in a forked child, and then in its parent.
static PLAIN void in_both(pid_t child) {
    if (child == 0) {
        calls = 0;
        tree(3);
        exit(0);
    }
    wait(0);
    leaf(1);
}

PLAIN int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "threads")) threads();
    if (!strcmp(mode, "short")) short_threads(40);
    if (!strcmp(mode, "live")) leave_a_thread();
    if (!strcmp(mode, "keys")) keys();
    if (!strcmp(mode, "jumps")) jumps();
    if (!strcmp(mode, "fibers")) fibers();
    if (!strcmp(mode, "signals")) signals();
    if (!strcmp(mode, "exit-by-signal")) exit_by_signal();
    if (!strcmp(mode, "plugins")) plugins(argv[2], argv[3], 2);
    if (!strcmp(mode, "reload")) reload(argv[2], argv[3]);
    if (!strcmp(mode, "forever")) until_killed(argv[2]);
    if (!strcmp(mode, "close")) close_all(argv[2]);
    if (!strcmp(mode, "small")) small_stack();
    if (!strcmp(mode, "cancel")) run(cancelled);
    if (!strcmp(mode, "jump-out")) jump_out_of_a_hook();
    if (!strcmp(mode, "vfork")) run(call_in_a_child);
    if (!strcmp(mode, "vfork-many")) many_calls_in_a_child();
    if (!strcmp(mode, "renamed")) run(renamed);
    if (!strcmp(mode, "moved")) {
        leaf(1);
        if (rename(getenv("ATF_OUT"), argv[2]) != 0) return 9;
        short_threads(1);
    }
    if (!strcmp(mode, "sigaltstack")) run(on_a_signal_stack);
    if (!strcmp(mode, "fork")) {
        leaf(1);
        in_both(fork());
    }
    // A thread of a forked child ends before it calls anything.
    if (!strcmp(mode, "fork-locked")) {
        leaf(1);
        pthread_t thread;
        pthread_create(&thread, 0, with_loaders_lock, 0);
        while (!has_lock) usleep(1000);
        if (fork() == 0) {
            alarm(60);
            calls = 0;
            tree(3);
            count_and_exit(0);
        }
        wait(0);
        count_and_exit(0);
    }
    if (!strcmp(mode, "fork-end")) {
        leaf(1);
        if (fork() == 0) pthread_exit(0);
        wait(0);
        _exit(0);
    }
#ifdef SYS_fork
    // A fork that bypasses the library's fork handlers.
    if (!strcmp(mode, "raw-fork")) {
        leaf(1);
        in_both((pid_t)syscall(SYS_fork));
    }
#endif
    if (!strcmp(mode, "exec")) {
        leaf(1);
        count();
        fflush(stdout);
        execl(argv[0], argv[0], "again", (char *)0);
    }
    if (!strcmp(mode, "_exit")) {
        leaf(1);
        count_and_exit(3);
    }
    if (!strcmp(mode, "abort")) {
        leaf(1);
        count();
        fflush(stdout);
        abort();
    }
    return 0;
}
