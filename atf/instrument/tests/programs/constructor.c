// A library that makes its first call while the loader holds its lock.
int hidden(void) __asm__("_Z6hiddenv");
__attribute__((noinline, visibility("hidden"))) int hidden(void) { return 1; }
static __attribute__((constructor)) void loaded(void) { hidden(); }
void plugin(void) {}
