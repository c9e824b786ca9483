/* What reader and writer share: a file in memory, the checksum. */
#ifndef BYTES_H
#define BYTES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    const uint8_t *bytes;
    uint64_t size;
} File;

/* Whether `size` bytes stand at `at`. Both may come from the file, so nothing is added. */
static inline bool has_room(const File *file, uint64_t at, uint64_t size) {
    return at <= file->size && size <= file->size - at;
}

/* A place in the file, to be looked at as a record: these may stand anywhere. */
static inline const void *place(const File *file, uint64_t at) {
    return file->bytes + at;
}

bool is_zero(const void *bytes, uint64_t size);

/* CRC-32C, to be continued: begin with 0. Of "123456789" it is 0xE3069283. */
uint32_t crc32c(uint32_t crc, const uint8_t *bytes, uint64_t size);

#endif
