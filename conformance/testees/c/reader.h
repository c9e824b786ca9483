/* What the parts of the reader know of one another. */
#ifndef READER_H
#define READER_H

#include "atf_wire.h"
#include "bytes.h"

/* From good to bad. */
typedef enum { ACCEPT, RECOVER, REJECT } Verdict;

/* index.atf. One that is rejected has no events. */
typedef struct {
    File file;
    Verdict verdict;
    int wire;
    uint64_t start, count;
    /* Behind the last event, or behind the footer. */
    uint64_t end;
    const AtfV1IndexFooter *footer;
} Index;

Index open_index(File file);
void print_index(const Index *index);

uint64_t index_time(const Index *index, uint64_t seq);
/* Whether an event is a block that never reached the disk: zeros that no checksum covers. */
bool index_is_hole(const Index *index, uint64_t seq);
/* Whether an event has a detail event, and which. */
bool index_link(const Index *index, uint64_t seq, uint64_t *to);

/* detail.atf. One that is rejected has no events. */
typedef struct {
    File file;
    Verdict verdict;
    int wire;
    uint64_t count;
    /* Where each event begins. */
    uint64_t *places;
    uint64_t end;
    const AtfV1DetailFooter *footer;
} Detail;

Detail open_detail(File file);
void print_detail(const Detail *detail);
void close_detail(Detail *detail);

/* The index event that a detail event belongs to. */
uint64_t detail_link(const Detail *detail, uint64_t seq);

/* Prints the document of a session's folder. */
Verdict read_session(const char *folder);

/* "used", "absent" or "ignored". */
const char *manifest_state(const char *path);

/* Whether a file stands there and no symbolic link, and if so, its bytes. */
bool load(const char *path, File *file);
bool is_symlink(const char *path);

/* Memory, or the end of the program. */
void *need(void *memory);

const char *verdict_name(Verdict verdict);
void print_rejected(const char *kind);
void print_end(uint64_t count, const char *source, const uint32_t *checksum, uint64_t trailing);

#endif
