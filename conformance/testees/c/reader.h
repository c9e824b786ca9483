/* The interfaces between the parts of the reader. */
#ifndef READER_H
#define READER_H

#include <stdbool.h>
#include <stdint.h>

#include "atf_wire.h"

typedef struct {
    const uint8_t *bytes;
    uint64_t size;
} File;

/* Returns whether `size` bytes exist at `at`. Does not add the two: the sum may overflow. */
static inline bool has_room(const File *file, uint64_t at, uint64_t size) {
    return at <= file->size && size <= file->size - at;
}

/* Returns a record in the file. Records need no alignment. */
static inline const void *place(const File *file, uint64_t at) {
    return file->bytes + at;
}

static inline bool is_zero(const void *bytes, uint64_t size) {
    const uint8_t *byte = bytes;
    for (uint64_t at = 0; at < size; at++) {
        if (byte[at] != 0) return false;
    }
    return true;
}

/* The verdicts, from best to worst. */
typedef enum { ACCEPT, RECOVER, REJECT } Verdict;

/* index.atf. A rejected file has no events. */
typedef struct {
    File file;
    Verdict verdict;
    int wire;
    uint64_t start, count;
    /* The offset after the footer or, without a footer, after the last event. */
    uint64_t end;
    const AtfV1IndexFooter *footer;
} Index;

Index open_index(File file);
void print_index(const Index *index);

uint64_t index_time(const Index *index, uint64_t seq);
/* Returns whether an event is a hole: zeros that no checksum covers. */
bool index_is_hole(const Index *index, uint64_t seq);
/* Returns whether an event has a detail event, and sets the detail event's position. */
bool index_link(const Index *index, uint64_t seq, uint64_t *to);

/* detail.atf. A rejected file has no events. */
typedef struct {
    File file;
    Verdict verdict;
    int wire;
    uint64_t count;
    /* The offset of each event. */
    uint64_t *places;
    uint64_t end;
    const AtfV1DetailFooter *footer;
} Detail;

Detail open_detail(File file);
void print_detail(const Detail *detail);
void close_detail(Detail *detail);

/* Returns the position of a detail event's index event. */
uint64_t detail_link(const Detail *detail, uint64_t seq);

/* Prints the document of a session's folder. */
Verdict read_session(const char *folder);

/* Returns "used", "absent" or "ignored". */
const char *manifest_state(const char *path);

/* json.c validates JSON against a schema. */
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

/* Reads a file. Returns false if the file is missing or a symlink. */
bool load(const char *path, File *file);
bool is_symlink(const char *path);

/* Allocates memory, or exits. */
void *need(void *memory);

const char *verdict_name(Verdict verdict);
void print_rejected(const char *kind);
void print_end(uint64_t count, const char *source, const uint32_t *checksum, uint64_t trailing);

#endif
