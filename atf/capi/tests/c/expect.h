/* Checks that print the line of each failure and count the failures. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>

static _Atomic int wrong = 0;

#define SAYS(expected, call)                                                                     \
    do {                                                                                         \
        int found = (int)(call);                                                                 \
        if (found != (int)(expected)) {                                                          \
            fprintf(stderr, "line %d: %s, not %s: %s\n", __LINE__, atf_status_name(found),       \
                    atf_status_name((int)(expected)), atf_last_error_message());                 \
            wrong++;                                                                             \
        }                                                                                        \
    } while (0)

#define TRUE(condition)                                                                          \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                              \
            wrong++;                                                                             \
        }                                                                                        \
    } while (0)

#endif
