// A program with a damaged C++ name, which takes hours to demangle.
#define TWICE(text) text text
void slow(void) __asm__("_Z1fDv" TWICE(TWICE(TWICE("nwnwnwnwnw"))));
void slow(void) {}

int main(void) { slow(); }
