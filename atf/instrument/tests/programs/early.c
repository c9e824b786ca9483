// A program that makes calls before the C library is initialized. It prints the number of later
// calls.
#include <stdio.h>

#define PLAIN __attribute__((no_instrument_function))

static unsigned long calls;

static __attribute__((noinline)) int add(int n) {
    calls++;
    return n + 1;
}

__attribute__((used)) static int (*resolve(void))(int) { return add(0) == 1 ? add : 0; }

// The loader calls the resolver while it relocates the program.
int resolved(int n) __attribute__((ifunc("resolve")));

static void early(void) { add(1); }

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = early;

PLAIN int main(void) {
    calls = 0;
    resolved(1);
    return printf("%lu\n", calls) < 0;
}
