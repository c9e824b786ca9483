/* A program that drops privileges or resources after its first calls. Then the main thread, another
   thread and a child call functions. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static __attribute__((noinline)) int leaf(int n) { return n; }
static __attribute__((noinline)) void work(int n) { while (n--) leaf(n); }
static void *thread(void *none) {
    work(10);
    return none;
}

static void give_up(const char *what) {
    if (!strcmp(what, "umask")) umask(0777);
    if (!strcmp(what, "user") && (setgid(65534) || setuid(65534))) exit(9);
    if (!strcmp(what, "root") && (chroot("/proc/self/fdinfo") || chdir("/"))) exit(9);
    if (!strcmp(what, "numbers")) {
        // Four numbers are free: two for the recorder of the child, and two that the parent's
        // recorder may use at the time of the fork, which the child inherits.
        struct rlimit few = {7, 7};
        setrlimit(RLIMIT_NOFILE, &few);
    }
    if (!strcmp(what, "sizes")) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_FSIZE, &none);
    }
    if (!strcmp(what, "descriptors")) {
        for (int number = 3; number < 2000; number++) close(number);
    }
    if (!strcmp(what, "reused")) {
        for (int number = 900; number < 1024; number++) dup2(2, number);
    }
}

int main(int argc, char **argv) {
    if (argc < 2) return 8;
    work(10);
    give_up(argv[1]);
    work(100000);
    pthread_t other;
    if (pthread_create(&other, NULL, thread, NULL) != 0) return 9;
    pthread_join(other, NULL);
    pid_t child = fork();
    if (child == 0) {
        work(10);
        exit(0);
    }
    int status = 9;
    waitpid(child, &status, 0);
    // Let the drain see the child's state.
    usleep(50000);
    return WEXITSTATUS(status);
}
