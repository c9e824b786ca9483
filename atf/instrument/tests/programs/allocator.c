// A program with an allocator of its own, whose functions have hooks, also while it holds its lock.
// Prints a number of calls. The C library makes more of them.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define FUNCTION __attribute__((noinline))
#define DEPTH 3000

static _Alignas(4096) char memory[16 << 20];
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static PLAIN void *part(size_t align, size_t size) {
    if (align < 16) align = 16;
    size_t start = (used + 16 + align - 1) / align * align;
    if (start + size > sizeof memory) return 0;
    used = start + size;
    memcpy(memory + start - sizeof size, &size, sizeof size);
    return memory + start;
}

static FUNCTION void *locked(size_t size) { return part(16, size); }

PLAIN void *aligned_alloc(size_t align, size_t size) {
    pthread_mutex_lock(&lock);
    void *block = part(align, size);
    pthread_mutex_unlock(&lock);
    return block;
}

FUNCTION void *malloc(size_t size) {
    pthread_mutex_lock(&lock);
    void *block = locked(size);
    pthread_mutex_unlock(&lock);
    return block;
}

PLAIN void free(void *block) { (void)block; }

// Memory is never reused, so it contains zeros.
PLAIN void *calloc(size_t count, size_t size) { return aligned_alloc(16, count * size); }

PLAIN void *realloc(void *block, size_t size) {
    size_t before = 0;
    if (block) memcpy(&before, (char *)block - sizeof before, sizeof before);
    void *moved = aligned_alloc(16, size);
    return moved && before ? memcpy(moved, block, before < size ? before : size) : moved;
}

PLAIN int posix_memalign(void **block, size_t align, size_t size) {
    *block = aligned_alloc(align, size);
    return 0;
}

static FUNCTION int deep(int depth) {
    char *volatile block = malloc(3);
    *block = 1;
    return depth == 0 ? 0 : deep(depth - 1) + *block;
}

PLAIN int main(void) {
    alarm(60); // Ends the program if it waits forever.
    deep(DEPTH);
    return printf("%d\n", 3 * (DEPTH + 1)) < 0;
}
