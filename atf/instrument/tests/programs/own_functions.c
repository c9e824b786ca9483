// A program that itself defines C library functions, with hooks. Prints the number of its own calls.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define FUNCTION __attribute__((noinline))

// Calls the C library's function.
#define FORWARDED(type, name, parameters, arguments)                                   \
    FUNCTION type name parameters {                                                    \
        static type (*_Atomic next) parameters;                                        \
        if (!next) next = (type (*) parameters)dlsym(RTLD_NEXT, #name);                \
        return next arguments;                                                         \
    }

FORWARDED(int *, __errno_location, (void), ())
FORWARDED(int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value))
FORWARDED(int, pthread_key_create, (pthread_key_t *key, void (*end)(void *)), (key, end))
FORWARDED(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old))
FORWARDED(int, pthread_setcancelstate, (int state, int *old), (state, old))
FORWARDED(int, sigaction, (int number, const struct sigaction *action, struct sigaction *old), (number, action, old))

FUNCTION ssize_t write(int file, const void *bytes, size_t size) { return syscall(SYS_write, file, bytes, size); }

FUNCTION void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    volatile char *target = to;
    for (size_t n = 0; n < size; n++) target[n] = ((const char *)from)[n];
    return to;
}

FUNCTION void *memset(void *to, int byte, size_t size) {
    volatile char *target = to;
    for (size_t n = 0; n < size; n++) target[n] = (char)byte;
    return to;
}

FUNCTION size_t strlen(const char *text) {
    const volatile char *end = text;
    while (*end) end++;
    return (size_t)(end - text);
}

// An allocator that never frees. Its blocks begin after their size.
static FUNCTION void *block(size_t align, size_t size) {
    static _Alignas(4096) char memory[256 << 20];
    static _Atomic size_t used;
    size_t start = atomic_fetch_add(&used, size + 2 * align) + align;
    start = (start + align - 1) / align * align;
    if (start + size > sizeof memory) return 0;
    ((size_t *)(memory + start))[-1] = size;
    return memory + start;
}

FUNCTION void *malloc(size_t size) { return block(16, size); }

FUNCTION void free(void *pointer) { (void)pointer; }

FUNCTION void *calloc(size_t count, size_t size) { return block(16, count * size); }

FUNCTION void *realloc(void *old, size_t size) {
    size_t before = old ? ((size_t *)old)[-1] : 0;
    void *new = block(16, size);
    return new && old ? memcpy(new, old, before < size ? before : size) : new;
}

FUNCTION int posix_memalign(void **pointer, size_t align, size_t size) {
    *pointer = block(align, size);
    return *pointer ? 0 : ENOMEM;
}

static _Atomic unsigned long calls;

static FUNCTION void leaf(void) { calls++; }

static FUNCTION void *work(void *unused) {
    calls++;
    for (int n = 0; n < 20000; n++) leaf();
    return unused;
}

PLAIN int main(void) {
    alarm(60); // Fails instead of waiting forever.
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    printf("%lu\n", (unsigned long)calls);
    return 0;
}
