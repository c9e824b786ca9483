// A library whose first call is made while the loader's lock is held.
int hidden(void) __asm__("_Z6hiddenv");
__attribute__((noinline, visibility("hidden"))) int hidden(void) { return 1; }
static __attribute__((constructor)) void loaded(void) { hidden(); }
void plugin(void) {}
