// A program with signal handlers. argv[1] selects the test.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))

static volatile long sink;

__attribute__((noinline)) void leaf(void) { sink++; }

static sigjmp_buf back;
static volatile int jumps;

static PLAIN void jumping_handler(int number) {
    (void)number;
    if (++jumps == 3) _exit(77);
    siglongjmp(back, 1);
}

// Crashes three times, each time after 1000 calls. The handler returns to the program twice.
static PLAIN void crash_again(const char *last) {
    signal(SIGSEGV, jumping_handler);
    sigsetjmp(back, 1);
    for (int n = 0; n < 1000; n++) leaf();
    if (jumps == 2 && strcmp(last, "abrt") == 0) abort();
    *(volatile int *)(sink < 0 ? &sink : 0) = 1;
}

static PLAIN void nothing(int number) { (void)number; }

static int told[2];

static PLAIN void telling_handler(int number) {
    (void)number;
    if (write(told[1], "h", 1) != 1) _exit(1);
}

// Waits until the process itself is waiting.
static PLAIN void wait_for_sleep(pid_t process) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    for (char state = 0; state != 'S'; usleep(1000)) {
        int file = open(path, O_RDONLY);
        ssize_t size = read(file, text, sizeof text - 1);
        text[size > 0 ? size : 0] = 0;
        // The state follows the program's name, which is in parentheses.
        const char *end = strrchr(text, ')');
        state = end ? end[2] : 0;
        close(file);
    }
}

// Exits with 77 if a handler without SA_RESTART interrupts a read and a handler with SA_RESTART
// does not.
static PLAIN void interrupted(int flags) {
    struct sigaction action = {.sa_handler = telling_handler, .sa_flags = flags};
    sigaction(SIGUSR2, &action, 0);
    leaf();
    int ends[2];
    if (pipe(ends) != 0 || pipe(told) != 0) _exit(1);
    pid_t parent = getpid();
    char byte;
    if (fork() == 0) {
        alarm(300); // As in `main`, which sets the parent's.
        // Once the parent has written to `told`, it only waits for `ends`.
        if (read(told[0], &byte, 1) != 1) _exit(1);
        wait_for_sleep(parent);
        kill(parent, SIGUSR2);
        if (read(told[0], &byte, 1) != 1) _exit(1);
        _exit(write(ends[1], "x", 1) != 1);
    }
    if (write(told[1], "r", 1) != 1) _exit(1);
    ssize_t count = read(ends[0], &byte, 1);
    int is_interrupted = count < 0 && errno == EINTR;
    wait(0);
    _exit(is_interrupted == !(flags & SA_RESTART) ? 77 : 1);
}

static char *stack_of_main;
static volatile int handled;

static PLAIN void measuring_handler(int number) {
    (void)number;
    char here;
    long distance = stack_of_main - &here;
    handled += distance > 0 && distance < 1 << 20 ? 1 : 100;
}

// Checks that the handler runs only once and on the thread's stack, as the program requested.
static PLAIN void once(int number) {
    char here;
    stack_of_main = &here;
    struct sigaction action = {.sa_handler = measuring_handler, .sa_flags = (int)SA_RESETHAND};
    sigaction(number, &action, 0);
    leaf();
    raise(number);
    if (handled != 1) _exit(1);
    raise(number);
    _exit(handled == 1 ? 77 : 2);
}

// Checks that the memory below the handlers' stack is inaccessible.
static PLAIN void guard(void) {
    leaf();
    stack_t stack;
    int ends[2];
    if (sigaltstack(0, &stack) != 0 || pipe(ends) != 0) _exit(1);
    char *below = (char *)stack.ss_sp - 4096;
    if (write(ends[1], below, 1) >= 0) _exit(2);
    int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    // A system without MAP_FIXED_NOREPLACE maps another page if this one is in use.
    _exit(mmap(below, 4096, PROT_NONE, kind, -1, 0) == below ? 3 : 77);
}

// Makes 1000 calls, and is then ended by a signal. If `number` is 0, a terminal ends a child with
// SIGINT.
static PLAIN void end_by(int number) {
    // Shells start background jobs with some signals ignored.
    signal(number == 0 ? SIGINT : number, SIG_DFL);
    int ready[2], terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0 || pipe(ready) != 0) _exit(1);
    char byte = 3; // Ctrl-C.
    pid_t child = number == 0 ? fork() : 0;
    if (child == 0) {
        // The first terminal that a new session opens becomes its controlling terminal.
        if (number == 0 && (setsid() < 0 || open(ptsname(terminal), O_RDWR) < 0)) _exit(2);
        for (int n = 0; n < 1000; n++) leaf();
        if (write(ready[1], &byte, 1) != 1) _exit(3);
        if (number != 0) kill(getpid(), number);
        for (;;) pause();
    }
    int status;
    if (read(ready[0], &byte, 1) != 1 || write(terminal, &byte, 1) != 1) _exit(4);
    waitpid(child, &status, 0);
    _exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT ? 77 : 5);
}

// Checks that the program's own handlers stay in place.
static PLAIN void untouched(int number) {
    signal(number, SIG_IGN);
    signal(SIGTERM, nothing);
    leaf();
    struct sigaction ignored, handled;
    if (sigaction(number, 0, &ignored) != 0 || sigaction(SIGTERM, 0, &handled) != 0) _exit(1);
    _exit(ignored.sa_handler == SIG_IGN && handled.sa_handler == nothing ? 77 : 2);
}

static PLAIN __attribute__((noinline)) void fill_stack(void) {
    volatile char bytes[1 << 14];
    for (unsigned n = 0; n < sizeof bytes; n++) bytes[n] = 1;
}

// Sets its own handler temporarily, and sends itself the signal while that handler is set and
// afterwards.
static PLAIN void in_between(int number) {
    signal(number, SIG_DFL); // As in `end_by`.
    leaf();
    void (*before)(int) = signal(number, nothing);
    raise(number);
    signal(number, before);
    fill_stack();
    raise(number);
    _exit(1);
}

// Checks that the signal ends a child that shares the program's memory.
static PLAIN void in_a_child(int number) {
    for (int n = 0; n < 1000; n++) leaf();
    pid_t child = vfork();
    if (child == 0) {
        kill(getpid(), number);
        _exit(1);
    }
    int status;
    waitpid(child, &status, 0);
    _exit(WIFSIGNALED(status) && WTERMSIG(status) == number ? 77 : 2);
}

static PLAIN void counting_handler(int number) {
    (void)number;
    handled++;
}

// Checks that the handler runs once in the child, which the next signal ends, and once in the
// parent.
static PLAIN void once_in_a_child(int number) {
    struct sigaction action = {.sa_handler = counting_handler, .sa_flags = (int)SA_RESETHAND};
    sigaction(number, &action, 0);
    leaf();
    pid_t child = vfork();
    if (child == 0) {
        kill(getpid(), number);
        kill(getpid(), number);
        _exit(1);
    }
    int status;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || handled != 1) _exit(2);
    raise(number);
    _exit(handled == 2 ? 77 : 3);
}

PLAIN int main(int argc, char **argv) {
    const char *mode = argc > 2 ? argv[1] : "";
    alarm(300); // Fails instead of waiting forever.
    if (strcmp(mode, "crash again") == 0) crash_again(argv[2]);
    if (strcmp(mode, "interrupted") == 0) interrupted(atoi(argv[2]) ? SA_RESTART : 0);
    if (strcmp(mode, "once") == 0) once(atoi(argv[2]));
    if (strcmp(mode, "guard") == 0) guard();
    if (strcmp(mode, "end by") == 0) end_by(atoi(argv[2]));
    if (strcmp(mode, "in between") == 0) in_between(atoi(argv[2]));
    if (strcmp(mode, "in a child") == 0) in_a_child(atoi(argv[2]));
    if (strcmp(mode, "once in a child") == 0) once_in_a_child(atoi(argv[2]));
    if (strcmp(mode, "untouched") == 0) untouched(atoi(argv[2]));
    return 0;
}
