/* Reads index.atf or detail.atf files or sessions, and prints their documents for the conformance kit.
 *
 *     reader PATH...
 *     reader --serve       answers one request per line: a path as a JSON string
 *
 * Exit status: 0 if all paths were read, 1 if at least one was rejected. */
#define _POSIX_C_SOURCE 200809L

#include "reader.h"
#include "request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void *need(void *memory) {
    if (memory == NULL) {
        perror("reader");
        exit(3);
    }
    return memory;
}

const char *verdict_name(Verdict verdict) {
    static const char *const names[] = {"accept", "recover", "reject"};
    return names[verdict];
}

void print_rejected(const char *kind) {
    printf("{\"kind\": \"%s\", \"verdict\": \"reject\"}", kind);
}

void print_end(uint64_t count, const char *source, const uint32_t *checksum, uint64_t trailing) {
    const char *state = checksum == NULL ? "not_checked" : *checksum == 0 ? "absent" : "good";
    printf("\"derived\": {\"event_count\": \"%" PRIu64 "\", \"count_source\": \"%s\", "
           "\"checksum\": \"%s\", \"trailing_bytes\": \"%" PRIu64 "\"}}",
           count, source, state, trailing);
}

/* Reads the whole file. The buffer grows with the bytes read, whatever the headers state. */
static bool load_stream(FILE *stream, File *file) {
    uint8_t *bytes = NULL;
    size_t size = 0, room = 0;
    for (;;) {
        if (size == room) {
            room = room ? room * 2 : 1 << 16;
            bytes = need(realloc(bytes, room));
        }
        size_t got = fread(bytes + size, 1, room - size, stream);
        if (got == 0) break;
        size += got;
    }
    *file = (File){bytes, size};
    return !ferror(stream);
}

bool is_symlink(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

bool load(const char *path, File *file) {
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) return false;
    bool is_read = load_stream(stream, file);
    fclose(stream);
    if (!is_read) free((void *)file->bytes);
    return is_read;
}

static bool ends_with(const char *text, const char *end) {
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static Verdict read_file(const char *path, File file) {
    /* A file is identified by its magic, regardless of its name. */
    bool is_detail = file.size >= 4 && memcmp(file.bytes, ATF_V1_DETAIL_HEADER_MAGIC, 4) == 0;
    if (is_detail || ends_with(path, "detail.atf")) {
        Detail detail = open_detail(file);
        print_detail(&detail);
        close_detail(&detail);
        return detail.verdict;
    }
    Index index = open_index(file);
    print_index(&index);
    return index.verdict;
}

static Verdict read_path(const char *path) {
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        Verdict verdict = read_session(path);
        printf("\n");
        return verdict;
    }
    FILE *stream = fopen(path, "rb");
    File file;
    if (stream == NULL || !load_stream(stream, &file)) {
        perror(path);
        exit(3);
    }
    fclose(stream);
    Verdict verdict = read_file(path, file);
    printf("\n");
    free((void *)file.bytes);
    return verdict;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: reader PATH... | --serve\n");
        return 2;
    }
    if (strcmp(argv[1], "--serve") == 0) {
        char *path;
        while (next_request(&path, 1)) {
            read_path(path);
            fflush(stdout);
        }
        return 0;
    }
    bool is_any_rejected = false;
    for (int k = 1; k < argc; k++) {
        is_any_rejected |= read_path(argv[k]) == REJECT;
    }
    return is_any_rejected;
}
