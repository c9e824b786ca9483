/* Validates JSON against a schema. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Member Member;

/* The type of a value. */
typedef struct Type {
    enum { ANY, TEXT, ADDRESS, BOOLEAN, INTEGER, LIST, OBJECT } kind;
    int64_t least;              /* of INTEGER */
    uint64_t most;              /* of INTEGER */
    const struct Type *item;    /* of LIST */
    const Member *members;      /* of OBJECT, up to one without a key; other keys are allowed */
} Type;

struct Member {
    const char *key;
    Type type;
    bool is_required;
};

/* Returns whether these bytes are a single value of this type in strict JSON: UTF-8, no duplicate
 * keys, at most 128 nested values. */
bool json_fits(const uint8_t *bytes, size_t size, const Type *type);

#endif
