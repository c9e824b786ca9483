/* A JSON text held against a schema. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Member Member;

/* What a value may be. */
typedef struct Type {
    enum { ANY, TEXT, ADDRESS, BOOLEAN, UNSIGNED, LIST, OBJECT } kind;
    uint64_t most;              /* of UNSIGNED */
    const struct Type *item;    /* of LIST */
    const Member *members;      /* of OBJECT, up to one without a key; others may be there */
} Type;

struct Member {
    const char *key;
    Type type;
    bool is_required;
};

/* Whether these bytes are one value of that type: JSON to the letter, in UTF-8, no key twice in
 * an object, at most 128 values inside one another. */
bool json_fits(const uint8_t *bytes, size_t size, const Type *type);

#endif
