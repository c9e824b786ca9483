/* Code shared by the reader and the writer: files in memory, and the checksum. */
#ifndef BYTES_H
#define BYTES_H

#include <stdbool.h>
#include <stdint.h>

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

bool is_zero(const void *bytes, uint64_t size);

/* Continues a CRC-32C, which starts with 0. For "123456789", the result is 0xE3069283. */
uint32_t crc32c(uint32_t crc, const uint8_t *bytes, uint64_t size);

#endif
