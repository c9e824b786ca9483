/*
 * Reads bytes member by member, writes each member to an empty record, and compares the
 * two. Both are at odd addresses. No byte is 0, so a forgotten member leaves a 0 in the result.
 *
 * Before including this header, a program defines FUNCTION(record, verb, field) as the name of an
 * accessor.
 */
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(const char *what, uint64_t found, uint64_t expected) {
    if (found != expected) {
        printf("%s: found 0x%llx, expected 0x%llx\n", what, (unsigned long long)found,
               (unsigned long long)expected);
        failures += 1;
    }
}

static void expect_bytes(const char *what, const void *found, const void *expected, size_t size) {
    const uint8_t *f = (const uint8_t *)found, *e = (const uint8_t *)expected;
    for (size_t i = 0; i < size; i += 1) {
        if (f[i] != e[i]) {
            printf("%s: byte %zu is 0x%02x, expected 0x%02x\n", what, i, f[i], e[i]);
            failures += 1;
        }
    }
}

/* Use after `static const uint8_t bytes[] = ...`. */
#define BEGIN(type)                                                                             \
    static uint64_t memory[2][1 + (1 + sizeof(type)) / 8];                                      \
    type *in = (type *)((uint8_t *)memory[0] + 1);                                              \
    type *out = (type *)((uint8_t *)memory[1] + 1);                                             \
    expect("sizeof(" #type ")", sizeof(type), sizeof bytes);                                    \
    memcpy(in, bytes, sizeof(type))

/* A member without a byte order: one byte or an array of bytes. */
#define BYTES(field, size)                                                                      \
    expect("sizeof " #field, sizeof in->field, size);                                           \
    memcpy((void *)&out->field, (const void *)&in->field, size)

#define FIELD(record, field, expected)                                                          \
    expect(#record "." #field, FUNCTION(record, get, field)(in), expected);                     \
    FUNCTION(record, set, field)(out, expected)

#define ELEMENT(record, field, i, expected)                                                     \
    expect(#record "." #field "[" #i "]", FUNCTION(record, get, field)(in, i), expected);       \
    FUNCTION(record, set, field)(out, i, expected)

#define END(record) expect_bytes(#record ", written", out, bytes, sizeof bytes)
