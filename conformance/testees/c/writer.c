/* Executes a script of the conformance kit, line by line, and creates one folder per thread.
 *
 *     writer SCRIPT OUT
 *     writer --serve       answers one request per line: the two paths as a JSON array
 */
#define _POSIX_C_SOURCE 200809L

#include "request.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atf_wire.h"

enum { HEADER = 64, PATH_SIZE = 4096, UNSUPPORTED = 77 };

/* One of a thread's two files: a header, events and a footer. */
typedef struct {
    FILE *stream;
    uint32_t checksum;
    uint64_t count, bytes, time_start, time_end;
} Section;

typedef struct Thread {
    uint32_t id;
    unsigned wire, clock, arch, os;
    char folder[PATH_SIZE];
    Section index, detail;
    uint64_t index_seq_start, index_seq_end;
    bool is_done;
    struct Thread *next;
} Thread;

static void die(const char *what) {
    fprintf(stderr, "writer: %s: %s\n", what, strerror(errno));
    exit(3);
}

static void put(Section *section, const void *bytes, size_t size) {
    if (fwrite(bytes, 1, size, section->stream) != size) die("write");
}

static void open_file(Section *section, const Thread *thread, const char *name) {
    char path[PATH_SIZE + 16];
    snprintf(path, sizeof path, "%s/%s", thread->folder, name);
    section->stream = fopen(path, "wb");
    if (section->stream == NULL) die(path);
}

/* Writes event bytes and updates the checksum. */
static void add(Section *section, const void *event, size_t size) {
    put(section, event, size);
    section->checksum = atf_crc32c(section->checksum, event, size);
    section->bytes += size;
}

static void count(Section *section, uint64_t time) {
    if (section->count == 0) section->time_start = time;
    section->time_end = time;
    section->count++;
}

/* ---- Headers: placeholders at first; finalizing rewrites them last ---- */

static void put_index_header(Thread *thread, bool is_final) {
    const Section *section = &thread->index;
    union {
        AtfV1IndexHeader v1;
        AtfV2IndexHeader v2;
    } header = {.v1 = {.magic = ATF_V1_INDEX_HEADER_MAGIC_INIT,
                       .endian = ATF_V1_INDEX_HEADER_ENDIAN,
                       .version = (uint8_t)thread->wire,
                       .arch = (uint8_t)thread->arch,
                       .os = (uint8_t)thread->os,
                       .clock_type = (uint8_t)thread->clock}};
    bool has_detail = is_final && thread->detail.stream != NULL;
    atf_v1_index_header_set_flags(&header.v1, has_detail ? ATF_INDEX_FLAG_HAS_DETAIL_FILE : 0);
    atf_v1_index_header_set_thread_id(&header.v1, thread->id);
    atf_v1_index_header_set_events_offset(&header.v1, HEADER);
    atf_v1_index_header_set_footer_offset(&header.v1, HEADER + (is_final ? section->bytes : 0));
    atf_v1_index_header_set_time_start_ns(&header.v1, is_final ? section->time_start : 0);
    atf_v1_index_header_set_time_end_ns(&header.v1, is_final ? section->time_end : 0);
    uint64_t events = is_final ? section->count : 0;
    if (thread->wire == 1) {
        atf_v1_index_header_set_event_size(&header.v1, ATF_V1_INDEX_HEADER_EVENT_SIZE);
        atf_v1_index_header_set_event_count(&header.v1, (uint32_t)events);
    } else {
        atf_v2_index_header_set_event_size(&header.v2, ATF_V2_INDEX_HEADER_EVENT_SIZE);
        atf_v2_index_header_set_event_count(&header.v2, events);
    }
    put(&thread->index, &header, sizeof header);
}

static void put_detail_header(Thread *thread, bool is_final) {
    const Section *section = &thread->detail;
    AtfV1DetailHeader header = {.magic = ATF_V1_DETAIL_HEADER_MAGIC_INIT,
                                .endian = ATF_V1_DETAIL_HEADER_ENDIAN,
                                .version = (uint8_t)thread->wire,
                                .arch = (uint8_t)thread->arch,
                                .os = (uint8_t)thread->os};
    atf_v1_detail_header_set_thread_id(&header, thread->id);
    atf_v1_detail_header_set_events_offset(&header, HEADER);
    if (is_final) {
        atf_v1_detail_header_set_event_count(&header, section->count);
        atf_v1_detail_header_set_bytes_length(&header, section->bytes);
        atf_v1_detail_header_set_index_seq_start(&header, thread->index_seq_start);
        atf_v1_detail_header_set_index_seq_end(&header, thread->index_seq_end);
    }
    put(&thread->detail, &header, sizeof header);
}

/* ---- Footers: their fields have different orders ---- */

static void put_index_footer(Section *section) {
    AtfV1IndexFooter footer = {.magic = ATF_V1_INDEX_FOOTER_MAGIC_INIT};
    atf_v1_index_footer_set_checksum(&footer, section->checksum);
    atf_v1_index_footer_set_event_count(&footer, section->count);
    atf_v1_index_footer_set_time_start_ns(&footer, section->time_start);
    atf_v1_index_footer_set_time_end_ns(&footer, section->time_end);
    atf_v1_index_footer_set_bytes_written(&footer, section->bytes);
    put(section, &footer, sizeof footer);
}

static void put_detail_footer(Section *section) {
    AtfV1DetailFooter footer = {.magic = ATF_V1_DETAIL_FOOTER_MAGIC_INIT};
    atf_v1_detail_footer_set_checksum(&footer, section->checksum);
    atf_v1_detail_footer_set_event_count(&footer, section->count);
    atf_v1_detail_footer_set_bytes_length(&footer, section->bytes);
    atf_v1_detail_footer_set_time_start_ns(&footer, section->time_start);
    atf_v1_detail_footer_set_time_end_ns(&footer, section->time_end);
    put(section, &footer, sizeof footer);
}

/* ---- Operations ---- */

static void open_thread(Thread *thread, const char *out) {
    snprintf(thread->folder, sizeof thread->folder, "%s/thread_%" PRIu32, out, thread->id);
    if (mkdir(thread->folder, 0777) != 0) die(thread->folder);
    open_file(&thread->index, thread, "index.atf");
    put_index_header(thread, false);
}

static void index_event(Thread *thread, uint64_t time, uint64_t function, uint32_t kind,
                        uint32_t depth, const char *link) {
    if (thread->is_done) return;
    bool is_linked = strcmp(link, "-") != 0;
    uint64_t seq = is_linked ? strtoull(link, NULL, 10) : 0;
    union {
        AtfV1IndexEvent v1;
        AtfV2IndexEvent v2;
    } event;
    memset(&event, 0, sizeof event);
    atf_v1_index_event_set_timestamp_ns(&event.v1, time);
    atf_v1_index_event_set_function_id(&event.v1, function);
    if (thread->wire == 1) {
        atf_v1_index_event_set_thread_id(&event.v1, thread->id);
        atf_v1_index_event_set_event_kind(&event.v1, kind);
        atf_v1_index_event_set_call_depth(&event.v1, depth);
        atf_v1_index_event_set_detail_seq(&event.v1,
                                          is_linked ? (uint32_t)seq : ATF_V1_NO_DETAIL_SEQ);
    } else {
        atf_v2_index_event_set_detail_seq(&event.v2, is_linked ? seq : ATF_V2_NO_DETAIL_SEQ);
        event.v2.event_kind = (uint8_t)kind;
    }
    add(&thread->index, &event, sizeof event);
    count(&thread->index, time);
}

static int hex(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return -1;
}

/* Decodes hexadecimal digits in place and returns the number of bytes. */
static size_t unhex(char *text) {
    size_t size = 0;
    for (; hex(text[2 * size]) >= 0 && hex(text[2 * size + 1]) >= 0; size++) {
        text[size] = (char)(hex(text[2 * size]) << 4 | hex(text[2 * size + 1]));
    }
    return size;
}

static void detail_event(Thread *thread, uint64_t index, uint64_t time, unsigned type,
                         unsigned flags, char *payload) {
    Section *section = &thread->detail;
    if (section->stream == NULL) {
        open_file(section, thread, "detail.atf");
        put_detail_header(thread, false);
    }
    size_t size = unhex(payload);
    union {
        AtfV1DetailEventHeader v1;
        AtfV2DetailEventHeader v2;
    } event;
    memset(&event, 0, sizeof event);
    atf_v1_detail_event_header_set_total_length(&event.v1, (uint32_t)(sizeof event + size));
    atf_v1_detail_event_header_set_event_type(&event.v1, (uint16_t)type);
    atf_v1_detail_event_header_set_flags(&event.v1, (uint16_t)flags);
    atf_v1_detail_event_header_set_timestamp(&event.v1, time);
    if (thread->wire == 1) {
        atf_v1_detail_event_header_set_index_seq(&event.v1, (uint32_t)index);
        atf_v1_detail_event_header_set_thread_id(&event.v1, thread->id);
    } else {
        atf_v2_detail_event_header_set_index_seq(&event.v2, index);
    }
    add(section, &event, sizeof event);
    add(section, payload, size);
    if (section->count == 0 || index < thread->index_seq_start) thread->index_seq_start = index;
    if (section->count == 0 || index > thread->index_seq_end) thread->index_seq_end = index;
    count(section, time);
}

/* Flushes the events before writing the header that counts them: rewind would hide a full disk. */
static void to_start(Section *section) {
    if (fflush(section->stream) != 0) die("write");
    rewind(section->stream);
}

/* Writes the events, the footer and then the header, so that readers find the events even after a
 * crash. The details come first because the index has a flag for them. */
static void finalize(Thread *thread) {
    if (thread->is_done) return;
    if (thread->detail.stream != NULL) {
        put_detail_footer(&thread->detail);
        to_start(&thread->detail);
        put_detail_header(thread, true);
        if (fclose(thread->detail.stream) != 0) die("detail.atf");
    }
    put_index_footer(&thread->index);
    to_start(&thread->index);
    put_index_header(thread, true);
    if (fclose(thread->index.stream) != 0) die("index.atf");
    thread->is_done = true;
}

/* Writes the buffers to the files, so that events survive the end of the process. */
static void flush(const Thread *thread) {
    if (thread->is_done) return;
    if (fflush(thread->index.stream) != 0) die("index.atf");
    if (thread->detail.stream != NULL && fflush(thread->detail.stream) != 0) die("detail.atf");
}

static void close_thread(Thread *thread) {
    if (thread->detail.stream != NULL && fclose(thread->detail.stream) != 0) die("detail.atf");
    if (fclose(thread->index.stream) != 0) die("index.atf");
    thread->is_done = true;
}

/* Frees space on the simulated full disk by raising the file size limit. */
static void make_room(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0) die("space");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) die("space");
}

static Thread *find(Thread *threads, uint32_t id) {
    for (Thread *thread = threads; thread != NULL; thread = thread->next) {
        if (thread->id == id) return thread;
    }
    fprintf(stderr, "writer: thread %" PRIu32 " is not open\n", id);
    exit(3);
}

/* Executes a line. Returns false if it is the last line. */
static bool operation(char *line, Thread **threads, const char *out) {
    uint32_t id, kind, depth;
    uint64_t time, function, index;
    unsigned type, flags;
    char link[24];
    int payload = 0;
    Thread new = {0};
    if (line[0] == '#' || strspn(line, " \t\r\n") == strlen(line)) return true;
    if (strncmp(line, "abort", 5) == 0) return false;
    if (sscanf(line, "open thread=%" SCNu32 " wire=%u clock=%u arch=%u os=%u", &new.id, &new.wire,
               &new.clock, &new.arch, &new.os) == 5) {
        Thread *thread = malloc(sizeof new);
        if (thread == NULL) die("open");
        if (new.wire != 1 && new.wire != 2) exit(UNSUPPORTED);
        new.next = *threads;
        *thread = new;
        *threads = thread;
        open_thread(thread, out);
    } else if (sscanf(line,
                      "index thread=%" SCNu32 " ts=%" SCNu64 " fn=%" SCNu64 " kind=%" SCNu32
                      " depth=%" SCNu32 " detail=%23s",
                      &id, &time, &function, &kind, &depth, link) == 6) {
        index_event(find(*threads, id), time, function, kind, depth, link);
    } else if (sscanf(line,
                      "detail thread=%" SCNu32 " index=%" SCNu64 " ts=%" SCNu64
                      " type=%u flags=%u payload=%n",
                      &id, &index, &time, &type, &flags, &payload) == 5 &&
               payload > 0) {
        detail_event(find(*threads, id), index, time, type, flags, line + payload);
    } else if (sscanf(line, "finalize thread=%" SCNu32, &id) == 1) {
        finalize(find(*threads, id));
    } else if (sscanf(line, "flush thread=%" SCNu32, &id) == 1) {
        flush(find(*threads, id));
    } else if (sscanf(line, "close thread=%" SCNu32, &id) == 1) {
        close_thread(find(*threads, id));
    } else if (strncmp(line, "space", 5) == 0) {
        make_room();
    } else if (strncmp(line, "kill", 4) == 0) {
        kill(getpid(), SIGKILL);
    } else {
        fprintf(stderr, "writer: no such operation: %s", line);
        exit(UNSUPPORTED);
    }
    return true;
}

static void put_manifest(const Thread *threads, const char *out) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/manifest.json", out);
    FILE *stream = fopen(path, "w");
    if (stream == NULL) die(path);
    fprintf(stream, "{\"threads\": [");
    for (const Thread *thread = threads; thread != NULL; thread = thread->next) {
        fprintf(stream, "{\"id\": %" PRIu32 ", \"has_detail\": %s}%s", thread->id,
                thread->detail.stream != NULL ? "true" : "false", thread->next != NULL ? ", " : "");
    }
    fprintf(stream, "]}\n");
    if (fclose(stream) != 0) die(path);
}

static void execute(const char *path, const char *out) {
    FILE *script = fopen(path, "r");
    if (script == NULL) die(path);
    Thread *threads = NULL;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, script) != -1 && operation(line, &threads, out)) {
    }
    if (ferror(script)) die(path);
    fclose(script);
    free(line);
    put_manifest(threads, out);
    while (threads != NULL) {
        Thread *thread = threads;
        if (!thread->is_done) close_thread(thread);
        threads = thread->next;
        free(thread);
    }
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--serve") == 0) {
        char *paths[2];
        while (next_request(paths, 2)) {
            execute(paths[0], paths[1]);
            printf("0\n");
            fflush(stdout);
        }
        return 0;
    }
    if (argc != 3) {
        fprintf(stderr, "usage: writer SCRIPT OUT | --serve\n");
        return 2;
    }
    execute(argv[1], argv[2]);
    return 0;
}
