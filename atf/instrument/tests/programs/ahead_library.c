// The library of ahead.c.
void chosen(void) {}
void other(void) {}
