#define _POSIX_C_SOURCE 200809L

#include "request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Decodes a JSON string in place, from the character after its quotation mark. The kit escapes
 * only control characters, quotation marks and backslashes. Returns the rest of the line, or NULL. */
static char *decode(char *from) {
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *to = from;
    for (; *from != '"'; from++) {
        if (*from == '\0') return NULL;
        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        from++;
        const char *name = *from != '\0' ? strchr(names, *from) : NULL;
        unsigned control;
        if (name != NULL) {
            *to++ = meant[name - names];
        } else if (sscanf(from, "u%4x", &control) == 1 && control < 0x80) {
            *to++ = (char)control;
            from += 4;
        } else {
            return NULL;
        }
    }
    *to = '\0';
    return from + 1;
}

bool next_request(char **strings, size_t count) {
    static char *line;
    static size_t room;
    if (getline(&line, &room, stdin) == -1) return false;
    char *rest = line;
    size_t found = 0;
    while ((rest = strchr(rest, '"')) != NULL) {
        char *string = rest + 1;
        rest = decode(string);
        if (rest == NULL || found == count) return false;
        strings[found++] = string;
    }
    return found == count;
}
