// A program without hooks that loads the plugin argv[1]. SIGALRM ends it if it deadlocks.
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((no_instrument_function)) int main(int argc, char **argv) {
    alarm(60);
    if (argc > 1 && dlopen(argv[1], RTLD_NOW)) return 0;
    fprintf(stderr, "%s\n", dlerror());
    return 1;
}
