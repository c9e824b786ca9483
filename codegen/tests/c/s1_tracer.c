/*
 * A tracer as an author of S1's day would write it: structs filled member by member and written
 * as they stand, names as S1 spells them. It takes the folder to write into.
 *
 * Thread 5 calls A and returns, calls B and returns; detail is recorded for the returns.
 */
#include "atf_v1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE ((uint64_t)1 << 32)
#define THREAD 5

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

static void put_index_event(FILE *file, uint64_t timestamp_ns, uint32_t symbol,
                            uint32_t event_kind, uint32_t detail_seq) {
    IndexEvent event;
    event.timestamp_ns = timestamp_ns;
    event.function_id = MODULE | symbol;
    event.thread_id = THREAD;
    event.event_kind = event_kind;
    event.call_depth = 1;
    event.detail_seq = detail_seq;
    put(file, &event, sizeof(event));
}

static void put_detail_event(FILE *file, uint64_t timestamp, uint32_t symbol, uint32_t index_seq,
                             const uint8_t *stack, uint16_t stack_size) {
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

    put(file, &header, sizeof(header));
    put(file, &payload, sizeof(payload));
    put(file, stack, stack_size);
}

static void write_index(const char *folder) {
    FILE *file = create(folder, "index.atf");

    AtfIndexHeader header;
    memset(&header, 0, sizeof(header));
    memcpy(header.magic, "ATI2", 4);
    header.endian = 0x01;
    header.version = 1;
    header.arch = ATF_ARCH_ARM64;
    header.os = ATF_OS_MACOS;
    header.flags |= ATF_INDEX_FLAG_HAS_DETAIL_FILE;
    header.thread_id = THREAD;
    header.clock_type = ATF_CLOCK_MACH_CONTINUOUS;
    header.event_size = sizeof(IndexEvent);
    header.event_count = 4;
    header.events_offset = sizeof(header);
    header.footer_offset = sizeof(header) + 4 * sizeof(IndexEvent);
    header.time_start_ns = 1000;
    header.time_end_ns = 4000;
    put(file, &header, sizeof(header));

    put_index_event(file, 1000, 7, ATF_EVENT_KIND_CALL, ATF_NO_DETAIL_SEQ);
    put_index_event(file, 2000, 7, ATF_EVENT_KIND_RETURN, 0);
    put_index_event(file, 3000, 9, ATF_EVENT_KIND_CALL, UINT32_MAX);
    put_index_event(file, 4000, 9, ATF_EVENT_KIND_RETURN, 1);

    AtfIndexFooter footer;
    memset(&footer, 0, sizeof(footer));
    memcpy(footer.magic, "2ITA", 4);
    footer.checksum = 0; /* unchecked */
    footer.event_count = 4;
    footer.time_start_ns = 1000;
    footer.time_end_ns = 4000;
    footer.bytes_written = 4 * sizeof(IndexEvent);
    put(file, &footer, sizeof(footer));
    fclose(file);
}

static void write_detail(const char *folder) {
    static const uint8_t stack[] = {0xDE, 0xAD, 0xBE, 0xEF};
    const uint64_t bytes_length =
        2 * (sizeof(DetailEventHeader) + sizeof(DetailFunctionPayload)) + sizeof(stack);
    FILE *file = create(folder, "detail.atf");

    AtfDetailHeader header;
    memset(&header, 0, sizeof(header));
    memcpy(header.magic, "ATD2", 4);
    header.endian = 0x01;
    header.version = 1;
    header.arch = ATF_ARCH_ARM64;
    header.os = ATF_OS_MACOS;
    header.thread_id = THREAD;
    header.events_offset = sizeof(header);
    header.event_count = 2;
    header.bytes_length = bytes_length;
    header.index_seq_start = 1;
    header.index_seq_end = 3;
    put(file, &header, sizeof(header));

    put_detail_event(file, 2000, 7, 1, stack, sizeof(stack));
    put_detail_event(file, 4000, 9, 3, stack, 0);

    AtfDetailFooter footer;
    memset(&footer, 0, sizeof(footer));
    memcpy(footer.magic, "2DTA", 4);
    footer.checksum = 0; /* unchecked */
    footer.event_count = 2;
    footer.bytes_length = bytes_length;
    footer.time_start_ns = 2000;
    footer.time_end_ns = 4000;
    put(file, &footer, sizeof(footer));
    fclose(file);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: s1_tracer FOLDER\n");
        return 2;
    }
    write_index(argv[1]);
    write_detail(argv[1]);
    return 0;
}
