/* Code that reader and writer share: a file in memory, the checksum. */
#ifndef BYTES_H
#define BYTES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    const uint8_t *bytes;
    uint64_t size;
} File;

/* Returns whether there are `size` bytes at `at`. Both may come from the file, so it never adds them. */
static inline bool has_room(const File *file, uint64_t at, uint64_t size) {
    return at <= file->size && size <= file->size - at;
}

/* Returns a record in the file; records need no alignment. */
static inline const void *place(const File *file, uint64_t at) {
    return file->bytes + at;
}

bool is_zero(const void *bytes, uint64_t size);

/* Continues a CRC-32C; start with 0. For "123456789" it is 0xE3069283. */
uint32_t crc32c(uint32_t crc, const uint8_t *bytes, uint64_t size);

#endif
