// A library that makes its first call while the loader holds its lock.
static __attribute__((noinline)) int hidden(void) { return 1; }
static __attribute__((constructor)) void loaded(void) { hidden(); }
void plugin(void) {}
