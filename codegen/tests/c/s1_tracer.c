/*
 * A complete tracer that uses only the generated header, with the names of S1. It writes a thread
 * with details and the manifest to an existing session folder:
 *     cc -I atf/include s1_tracer.c && ./a.out FOLDER && atf-conformance check --deny should FOLDER
 *
 * Thread 5 calls A and returns, then calls B and returns; the returns have details.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkdir */
#endif
#include "atf_v1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MODULE ((uint64_t)1 << 32)
#define THREAD 5

/* A file, and the data about its events that the footer needs. */
typedef struct Section {
    FILE *file;
    uint64_t bytes;
    uint32_t checksum;
} Section;

static FILE *create(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

static void put(FILE *file, const void *record, size_t size) {
    if (fwrite(record, 1, size, file) != size) {
        perror("fwrite");
        exit(1);
    }
}

/* The checksum covers the events, but not the header or the footer. */
static void put_event(Section *section, const void *part, size_t size) {
    put(section->file, part, size);
    section->bytes += size;
    section->checksum = atf_crc32c(section->checksum, part, size);
}

/* The footer follows the events. The header, a placeholder until now, is written last. */
static void finalize(Section *section, const void *footer, const void *header, size_t size) {
    put(section->file, footer, size);
    if (fflush(section->file) != 0 || fseek(section->file, 0, SEEK_SET) != 0) {
        perror("fseek");
        exit(1);
    }
    put(section->file, header, size);
    if (fclose(section->file) != 0) {
        perror("fclose");
        exit(1);
    }
}

static void put_index_event(Section *section, uint64_t timestamp_ns, uint32_t symbol,
                            uint32_t event_kind, uint32_t detail_seq) {
    IndexEvent event;
    event.timestamp_ns = timestamp_ns;
    event.function_id = MODULE | symbol;
    event.thread_id = THREAD;
    event.event_kind = event_kind;
    event.call_depth = 1;
    event.detail_seq = detail_seq;
    put_event(section, &event, sizeof(event));
}

static void put_detail_event(Section *section, uint64_t timestamp, uint32_t symbol,
                             uint32_t index_seq, const uint8_t *stack, uint16_t stack_size) {
    DetailEventHeader header;
    DetailFunctionPayload payload;
    header.total_length = (uint32_t)(sizeof(header) + sizeof(payload) + stack_size);
    header.event_type = ATF_DETAIL_EVENT_FUNCTION_RETURN;
    header.flags = 0;
    header.index_seq = index_seq;
    header.thread_id = THREAD;
    header.timestamp = timestamp;

    payload.function_id = MODULE | symbol;
    for (unsigned i = 0; i < 8; i++) {
        payload.x_regs[i] = 0x1100u + i;
    }
    payload.lr = 0x2201;
    payload.fp = 0x2202;
    payload.sp = 0x2203;
    payload.stack_size = stack_size;
    payload._reserved = 0;

    put_event(section, &header, sizeof(header));
    put_event(section, &payload, sizeof(payload));
    put_event(section, stack, stack_size);
}

static void write_index(const char *folder) {
    Section section = {create(folder, "index.atf"), 0, 0};

    AtfIndexHeader header;
    memset(&header, 0, sizeof(header));
    memcpy(header.magic, "ATI2", 4);
    header.endian = 0x01;
    header.version = 1;
    header.arch = ATF_ARCH_ARM64;
    header.os = ATF_OS_MACOS;
    header.thread_id = THREAD;
    header.clock_type = ATF_CLOCK_MACH_CONTINUOUS;
    header.event_size = sizeof(IndexEvent);
    header.events_offset = sizeof(header);
    put(section.file, &header, sizeof(header));

    put_index_event(&section, 1000, 7, ATF_EVENT_KIND_CALL, ATF_NO_DETAIL_SEQ);
    put_index_event(&section, 2000, 7, ATF_EVENT_KIND_RETURN, 0);
    put_index_event(&section, 3000, 9, ATF_EVENT_KIND_CALL, UINT32_MAX);
    put_index_event(&section, 4000, 9, ATF_EVENT_KIND_RETURN, 1);

    AtfIndexFooter footer;
    memset(&footer, 0, sizeof(footer));
    memcpy(footer.magic, "2ITA", 4);
    footer.checksum = section.checksum;
    footer.event_count = section.bytes / sizeof(IndexEvent);
    footer.time_start_ns = 1000;
    footer.time_end_ns = 4000;
    footer.bytes_written = section.bytes;

    header.flags |= ATF_INDEX_FLAG_HAS_DETAIL_FILE;
    header.event_count = (uint32_t)(section.bytes / sizeof(IndexEvent));
    header.footer_offset = sizeof(header) + section.bytes;
    header.time_start_ns = 1000;
    header.time_end_ns = 4000;
    finalize(&section, &footer, &header, sizeof(header));
}

static void write_detail(const char *folder) {
    static const uint8_t stack[] = {0xDE, 0xAD, 0xBE, 0xEF};
    Section section = {create(folder, "detail.atf"), 0, 0};

    AtfDetailHeader header;
    memset(&header, 0, sizeof(header));
    memcpy(header.magic, "ATD2", 4);
    header.endian = 0x01;
    header.version = 1;
    header.arch = ATF_ARCH_ARM64;
    header.os = ATF_OS_MACOS;
    header.thread_id = THREAD;
    header.events_offset = sizeof(header);
    put(section.file, &header, sizeof(header));

    put_detail_event(&section, 2000, 7, 1, stack, sizeof(stack));
    put_detail_event(&section, 4000, 9, 3, stack, 0);

    AtfDetailFooter footer;
    memset(&footer, 0, sizeof(footer));
    memcpy(footer.magic, "2DTA", 4);
    footer.checksum = section.checksum;
    footer.event_count = 2;
    footer.bytes_length = section.bytes;
    footer.time_start_ns = 2000;
    footer.time_end_ns = 4000;

    header.event_count = 2;
    header.bytes_length = section.bytes;
    header.index_seq_start = 1;
    header.index_seq_end = 3;
    finalize(&section, &footer, &header, sizeof(header));
}

static void write_manifest(const char *session) {
    static const char manifest[] =
        "{ \"format_version\": \"2.0\", \"threads\": [{ \"id\": 5, \"has_detail\": true }],\n"
        "  \"time_start_ns\": 1000, \"time_end_ns\": 4000, \"clock_type\": 1 }\n";
    FILE *file = create(session, "manifest.json");
    put(file, manifest, strlen(manifest));
    fclose(file);
}

int main(int argc, char **argv) {
    char thread[2048];
    if (argc != 2) {
        fprintf(stderr, "usage: s1_tracer FOLDER\n");
        return 2;
    }
    write_manifest(argv[1]);
    snprintf(thread, sizeof(thread), "%s/thread_%d", argv[1], THREAD);
    if (mkdir(thread, 0777) != 0) {
        perror(thread);
        return 1;
    }
    write_index(thread);
    write_detail(thread);
    return 0;
}
