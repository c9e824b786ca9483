// Prints `OFFSET NAME` for C++ functions of a program that is not position-independent.
#include <cstdio>
#include <elf.h>

namespace shape {
template <typename T> __attribute__((noinline)) T area(T a, T b) { return a * b; }
struct Box {
    __attribute__((noinline)) int size(int x) const { return x; }
};
static __attribute__((noinline)) int lost(const Box &box) { return box.size(1); }
} // namespace shape

extern "C" char __executable_start;

int main() {
    auto print = [](const char *name, auto function) {
        std::printf("%lx %s\n", (unsigned long)((char *)function - &__executable_start), name);
    };
    print("int shape::area<int>(int, int)", (void *)(int (*)(int, int))shape::area<int>);
    print("shape::lost(shape::Box const&)", (void *)shape::lost);
    print("main", (void *)main);
}
