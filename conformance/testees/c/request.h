/* Reads the requests to a persistent process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Reads the next line from standard input and stores its JSON strings, which stay valid until the
 * next call. Returns false at the end of input or if there are not exactly `count` strings. */
bool next_request(char **strings, size_t count);
