/* Reads index.atf or detail.atf and prints the document of the conformance kit.
 *
 *     reader PATH
 *
 * Exit status 0: read; 1: rejected; 77: a session, which this program does not read. */
#include "bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "atf_wire.h"

int reject(const char *kind) {
    printf("{\"kind\": \"%s\", \"verdict\": \"reject\"}\n", kind);
    return 1;
}

void print_derived(uint64_t count, const char *source, const char *checksum, uint64_t trailing) {
    printf("\"derived\": {\"event_count\": \"%" PRIu64 "\", \"count_source\": \"%s\", "
           "\"checksum\": \"%s\", \"trailing_bytes\": \"%" PRIu64 "\"}}\n",
           count, source, checksum, trailing);
}

void print_hex(const uint8_t *bytes, uint64_t size) {
    putchar('"');
    for (uint64_t at = 0; at < size; at++) {
        printf("%02x", bytes[at]);
    }
    putchar('"');
}

/* The whole file; it grows by what was read, never by what a header says. */
static File load(FILE *stream) {
    uint8_t *bytes = NULL;
    size_t size = 0, room = 0;
    for (;;) {
        if (size == room) {
            room = room ? room * 2 : 1 << 16;
            bytes = realloc(bytes, room);
            if (bytes == NULL) {
                perror("reader");
                exit(3);
            }
        }
        size_t got = fread(bytes + size, 1, room - size, stream);
        if (got == 0) break;
        size += got;
    }
    return (File){bytes, size};
}

static bool ends_with(const char *text, const char *end) {
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: reader PATH\n");
        return 2;
    }
    struct stat info;
    if (stat(argv[1], &info) == 0 && S_ISDIR(info.st_mode)) return 77;
    FILE *stream = fopen(argv[1], "rb");
    if (stream == NULL) {
        perror(argv[1]);
        return 3;
    }
    File file = load(stream);
    if (ferror(stream)) {
        perror(argv[1]);
        return 3;
    }
    fclose(stream);
    /* A file of any name is known by its magic. */
    bool is_detail = file.size >= 4 && memcmp(file.bytes, ATF_V1_DETAIL_HEADER_MAGIC, 4) == 0;
    bool is_named_detail = ends_with(argv[1], "detail.atf");
    int status = is_detail || is_named_detail ? read_detail(&file) : read_index(&file);
    free((void *)file.bytes);
    return status;
}
