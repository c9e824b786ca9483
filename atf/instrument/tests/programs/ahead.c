// A program that deletes its library, argv[1], before it calls a function in it.
#include <stdio.h>

void chosen(void);
void other(void);

int main(int argc, char **argv) {
    if (argc < 2 || remove(argv[1])) return 1;
    chosen();
    other();
}
