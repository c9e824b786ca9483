// Functions that end with an exception, and a thread-local variable with a destructor.
#include <cstdio>
#include <stdexcept>
#include <thread>

struct Last {
    ~Last() { std::puts("the thread's variable is gone"); }
};

static thread_local Last last;

__attribute__((noinline)) static int thrown(int depth) {
    if (depth == 0) throw std::runtime_error("expected");
    return thrown(depth - 1) + 1;
}

__attribute__((noinline)) static void caught() {
    try {
        thrown(3);
    } catch (const std::runtime_error &) {
    }
}

__attribute__((noinline)) static void in_thread() {
    (void)&last;
    caught();
}

int main() {
    std::thread(in_thread).join();
    caught();
}
