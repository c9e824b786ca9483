// A library that is loaded and unloaded.
void plugin(void) {}
