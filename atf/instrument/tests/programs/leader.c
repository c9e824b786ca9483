// A program whose main thread, or whose child's only thread, ends as argv[1] selects. Prints the number of its
// instrumented calls, or the status of its child.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define FUNCTION __attribute__((noinline))

static _Atomic unsigned long calls;

static FUNCTION void leaf(void) { calls++; }

static PLAIN void count(void) {
    printf("%lu\n", (unsigned long)calls);
    fflush(stdout);
}

// Keeps running after the end of the main thread.
static FUNCTION void *work(void *way) {
    calls++;
    usleep(100000);
    leaf();
    count();
    // Ends without returning from this function.
    if (way) syscall(SYS_exit, 0);
    return 0;
}

static PLAIN void start_work(void *way) {
    pthread_t thread;
    pthread_create(&thread, 0, work, way);
}

static FUNCTION int child(void *unused) {
    (void)unused;
    alarm(20);
    calls++;
    return 7;
}

// The C library ends such a child with a system call.
static PLAIN void clone_a_child(void) {
    static _Alignas(16) char stack[1 << 18];
    int status = 0;
    leaf();
    pid_t process = clone(child, stack + sizeof stack, SIGCHLD, 0);
    waitpid(process, &status, 0);
    printf("%d\n", status);
}

// From now on, the kernel kills this thread (with SECCOMP_FILTER_FLAG_TSYNC, any thread) if it calls
// getppid or opens, writes or resizes a file.
static PLAIN void filter(unsigned flags) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ftruncate, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

PLAIN int main(int argc, char **argv) {
    char *mode = argc > 1 ? argv[1] : "";
    alarm(20); // Fails instead of waiting forever.
    if (!strcmp(mode, "clone")) {
        clone_a_child();
        return 0;
    }
    leaf();
    if (strstr(mode, "thread")) start_work(strstr(mode, "raw") ? mode : 0);
    else count();
    if (strstr(mode, "closed")) for (int number = 3; number < 1024; number++) close(number);
    if (strstr(mode, "chroot") && chroot(argv[2])) _exit(77);
    if (strstr(mode, "exit")) syscall(SYS_exit, 3);
    if (strstr(mode, "die")) {
        filter(0);
        syscall(SYS_getppid);
    }
    if (strstr(mode, "sandbox")) {
        filter(strstr(mode, "all") ? SECCOMP_FILTER_FLAG_TSYNC : 0);
        for (int n = 0; n < 100; n++) leaf();
        return 5;
    }
    pthread_exit(0);
}
