/* Reads detail.atf. Events vary in size; the length of each one determines the offset of the next. */
#include "reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 64, EVENT_HEADER = 24, FOOTER = 64, PAYLOAD = 100 };

/* Where a walk from event to event ended, and whether it reached its intended end. */
typedef struct {
    uint64_t count, end;
    bool is_whole;
} Walk;

static uint64_t events_offset(const File *file) {
    return atf_v1_detail_header_get_events_offset(place(file, 0));
}

static Walk walk(const File *file, uint64_t end) {
    Walk walk = {0, events_offset(file), false};
    while (end - walk.end >= EVENT_HEADER) {
        uint32_t length = atf_v1_detail_event_header_get_total_length(place(file, walk.end));
        if (length < EVENT_HEADER || length > end - walk.end) return walk;
        walk.end += length;
        walk.count++;
    }
    walk.is_whole = walk.end == end;
    return walk;
}

static bool is_header_good(const File *file) {
    if (file->size < HEADER) return false;
    const AtfV1DetailHeader *at = place(file, 0);
    if (memcmp(at->magic, ATF_V1_DETAIL_HEADER_MAGIC, 4) != 0) return false;
    if (at->endian != ATF_V1_DETAIL_HEADER_ENDIAN) return false;
    if (at->version != 1 && at->version != 2) return false;
    return events_offset(file) >= HEADER && events_offset(file) <= file->size;
}

/* Returns whether the header was never rewritten. */
static bool is_placeholder(const File *file) {
    const AtfV1DetailHeader *at = place(file, 0);
    return atf_v1_detail_header_get_event_count(at) == 0 &&
           atf_v1_detail_header_get_bytes_length(at) == 0 &&
           atf_v1_detail_header_get_index_seq_start(at) == 0 &&
           atf_v1_detail_header_get_index_seq_end(at) == 0;
}

/* Returns the footer's offset according to the header, or UINT64_MAX on overflow. */
static uint64_t stated_place(const File *file) {
    uint64_t length = atf_v1_detail_header_get_bytes_length(place(file, 0));
    uint64_t start = events_offset(file);
    return length <= UINT64_MAX - start ? start + length : UINT64_MAX;
}

static bool has_magic(const AtfV1DetailFooter *footer) {
    return memcmp(footer->magic, ATF_V1_DETAIL_FOOTER_MAGIC, 4) == 0;
}

/* Returns whether the header was rewritten. A placeholder with a single field set was not. */
static bool is_rewritten(const File *file) {
    const AtfV1DetailHeader *at = place(file, 0);
    return atf_v1_detail_header_get_event_count(at) > 0 &&
           atf_v1_detail_header_get_bytes_length(at) > 0;
}

/* Returns whether the offset is inside an event, where captured memory may look like a footer. If
   the numbers match too, the events must then continue to the end of the file or to zeros. */
static bool is_payload(const File *file, uint64_t at, bool fits) {
    if (is_rewritten(file) && at == stated_place(file)) return false;
    uint64_t end = walk(file, file->size).end;
    if (end <= at || walk(file, at).is_whole) return false;
    return !fits || is_zero(place(file, end), file->size - end);
}

/* Returns whether there is a footer, with the magic and a length that matches the offset. */
static bool is_footer(const File *file, uint64_t at) {
    uint64_t start = events_offset(file);
    if (at < start || !has_room(file, at, FOOTER)) return false;
    const AtfV1DetailFooter *footer = place(file, at);
    return has_magic(footer) && atf_v1_detail_footer_get_bytes_length(footer) == at - start &&
           !is_payload(file, at, true);
}

/* Looks for the footer at the offset in the header, at the end, and before trailing bytes.
   Returns 0 if there is none. */
static uint64_t find_footer(const File *file) {
    uint64_t at_end = file->size - FOOTER;
    if (is_footer(file, stated_place(file))) return stated_place(file);
    if (is_footer(file, at_end)) return at_end;
    for (uint64_t at = events_offset(file); has_room(file, at, FOOTER);) {
        if (is_footer(file, at)) return at;
        uint32_t length = atf_v1_detail_event_header_get_total_length(place(file, at));
        if (length < EVENT_HEADER || !has_room(file, at, length)) return 0;
        at += length;
    }
    return 0;
}

/* Returns whether the header's count and length match the events. */
static bool is_end_counted(const File *file) {
    uint64_t end = stated_place(file);
    if (!is_rewritten(file) || end > file->size) return false;
    Walk events = walk(file, end);
    return events.is_whole &&
           events.count == atf_v1_detail_header_get_event_count(place(file, 0));
}

/* Returns whether the data ends before the length of a footer that the header does not prove.
   Zeros at the end of the file do not count as written. */
static bool is_torn_footer(const File *file, uint64_t at) {
    uint64_t length = at + offsetof(AtfV1DetailFooter, bytes_length);
    return !(is_rewritten(file) && at == stated_place(file)) &&
           is_zero(place(file, length), file->size - length);
}

/* Returns whether there is a damaged footer: its reserved bytes and its magic or its length are
   correct. It can be neither trusted nor read as events. */
static bool is_damaged_footer(const File *file, uint64_t at) {
    uint64_t start = events_offset(file);
    if (at < start || !has_room(file, at, FOOTER) || is_torn_footer(file, at)) return false;
    const AtfV1DetailFooter *footer = place(file, at);
    if (!is_zero(footer->reserved, sizeof footer->reserved)) return false;
    bool has_length = at > start && atf_v1_detail_footer_get_bytes_length(footer) == at - start;
    return (has_magic(footer) || has_length) && !is_payload(file, at, false);
}

static bool has_damaged_footer(const File *file) {
    uint64_t stated = stated_place(file), at_end = file->size - FOOTER;
    if (is_damaged_footer(file, stated) || is_damaged_footer(file, at_end)) return true;
    /* Elsewhere, a footer can only be where an event could begin. */
    uint64_t end = walk(file, file->size).end;
    if (has_room(file, end, FOOTER) && has_magic(place(file, end)) && is_damaged_footer(file, end)) {
        return true;
    }
    /* If the header proves that a footer exists, other nonzero bytes in its place are damage. */
    bool is_proved = is_end_counted(file) || (is_rewritten(file) && stated == at_end);
    return is_proved && has_room(file, stated, FOOTER) && !is_zero(place(file, stated), FOOTER);
}

/* Returns whether a file without a footer ends in zeros that begin in an event's header and continue
   after the event: its timestamp was never written. */
static bool is_torn(const File *file, uint64_t at) {
    uint32_t length = atf_v1_detail_event_header_get_total_length(place(file, at));
    uint64_t time = at + offsetof(AtfV1DetailEventHeader, timestamp);
    return length < file->size - at && is_zero(place(file, time), file->size - time);
}

/* ---- Document ---- */

static void print_header(const AtfV1DetailHeader *at) {
    printf("\"header\": {\"endian\": 1, \"version\": %u, \"arch\": %u, \"os\": %u, "
           "\"flags\": %" PRIu32 ", \"thread_id\": %" PRIu32 ", \"events_offset\": \"%" PRIu64
           "\", \"event_count\": \"%" PRIu64 "\", ",
           at->version, at->arch,
           at->os, atf_v1_detail_header_get_flags(at),
           atf_v1_detail_header_get_thread_id(at), atf_v1_detail_header_get_events_offset(at),
           atf_v1_detail_header_get_event_count(at));
    printf("\"bytes_length\": \"%" PRIu64 "\", \"index_seq_start\": \"%" PRIu64
           "\", \"index_seq_end\": \"%" PRIu64 "\"}, ",
           atf_v1_detail_header_get_bytes_length(at), atf_v1_detail_header_get_index_seq_start(at),
           atf_v1_detail_header_get_index_seq_end(at));
}

static void print_hex(const uint8_t *bytes, uint64_t size) {
    putchar('"');
    for (uint64_t at = 0; at < size; at++) {
        printf("%02x", bytes[at]);
    }
    putchar('"');
}

/* Prints registers and stack if the length matches, regardless of the event type. */
static void print_function(const void *at, uint64_t size) {
    const AtfV1DetailFunctionPayload *payload = at;
    if (size < PAYLOAD ||
        size != PAYLOAD + (uint64_t)atf_v1_detail_function_payload_get_stack_size(payload)) {
        printf("\"function\": null}");
        return;
    }
    printf("\"function\": {\"function_id\": \"%" PRIu64 "\", \"x_regs\": [",
           atf_v1_detail_function_payload_get_function_id(payload));
    for (size_t k = 0; k < 8; k++) {
        printf("%s\"%" PRIu64 "\"", k > 0 ? ", " : "",
               atf_v1_detail_function_payload_get_x_regs(payload, k));
    }
    printf("], \"lr\": \"%" PRIu64 "\", \"fp\": \"%" PRIu64 "\", \"sp\": \"%" PRIu64
           "\", \"stack_size\": %u, \"stack\": ",
           atf_v1_detail_function_payload_get_lr(payload),
           atf_v1_detail_function_payload_get_fp(payload),
           atf_v1_detail_function_payload_get_sp(payload),
           atf_v1_detail_function_payload_get_stack_size(payload));
    print_hex((const uint8_t *)at + PAYLOAD, size - PAYLOAD);
    printf("}}");
}

static void print_event(int wire, const uint8_t *at) {
    const AtfV1DetailEventHeader *event = (const void *)at;
    const AtfV2DetailEventHeader *event_v2 = (const void *)at;
    uint32_t length = atf_v1_detail_event_header_get_total_length(event);
    printf("{\"total_length\": %" PRIu32 ", \"event_type\": %u, \"flags\": %u, ", length,
           atf_v1_detail_event_header_get_event_type(event),
           atf_v1_detail_event_header_get_flags(event));
    if (wire == 1) {
        printf("\"index_seq\": \"%" PRIu32 "\", \"thread_id\": %" PRIu32 ", ",
               atf_v1_detail_event_header_get_index_seq(event),
               atf_v1_detail_event_header_get_thread_id(event));
    } else {
        printf("\"index_seq\": \"%" PRIu64 "\", ",
               atf_v2_detail_event_header_get_index_seq(event_v2));
    }
    printf("\"timestamp\": \"%" PRIu64 "\", \"payload\": ",
           atf_v1_detail_event_header_get_timestamp(event));
    print_hex(at + EVENT_HEADER, length - EVENT_HEADER);
    printf(", ");
    print_function(at + EVENT_HEADER, length - EVENT_HEADER);
}

static void print_footer(const AtfV1DetailFooter *footer) {
    if (footer == NULL) {
        printf("\"footer\": null, ");
        return;
    }
    printf("\"footer\": {\"checksum\": %" PRIu32 ", \"event_count\": \"%" PRIu64 "\", "
           "\"bytes_length\": \"%" PRIu64 "\", \"time_start_ns\": \"%" PRIu64 "\", "
           "\"time_end_ns\": \"%" PRIu64 "\"}, ",
           atf_v1_detail_footer_get_checksum(footer), atf_v1_detail_footer_get_event_count(footer),
           atf_v1_detail_footer_get_bytes_length(footer),
           atf_v1_detail_footer_get_time_start_ns(footer),
           atf_v1_detail_footer_get_time_end_ns(footer));
}

uint64_t detail_link(const Detail *detail, uint64_t seq) {
    const void *at = place(&detail->file, detail->places[seq]);
    return detail->wire == 1 ? atf_v1_detail_event_header_get_index_seq(at)
                             : atf_v2_detail_event_header_get_index_seq(at);
}

Detail open_detail(File file) {
    Detail detail = {.file = file, .verdict = REJECT};
    if (!is_header_good(&file)) return detail;
    uint64_t start = events_offset(&file), at = find_footer(&file);
    bool is_whole = false;
    Walk events;
    if (at != 0) {
        /* In a finalized file, all events must be complete and match the footer's count. */
        const AtfV1DetailFooter *footer = place(&file, at);
        uint32_t stated = atf_v1_detail_footer_get_checksum(footer);
        events = walk(&file, at);
        if (!events.is_whole || events.count != atf_v1_detail_footer_get_event_count(footer) ||
            (stated != 0 && stated != atf_crc32c(0, file.bytes + start, at - start))) {
            return detail;
        }
        detail.footer = footer;
        detail.end = at + FOOTER;
        is_whole = !is_placeholder(&file) || events.count == 0;
    } else {
        /* A different events_offset is valid only if a footer confirms it. */
        if (start != HEADER || has_damaged_footer(&file)) return detail;
        events = walk(&file, is_end_counted(&file) ? stated_place(&file) : file.size);
        detail.end = events.end;
    }
    detail.wire = ((const AtfV1DetailHeader *)place(&file, 0))->version;
    detail.verdict = is_whole ? ACCEPT : RECOVER;
    /* The file's size limits the allocation, because each event has at least 24 bytes. */
    detail.places = need(calloc(events.count + 1, sizeof *detail.places));
    for (uint64_t next = start; next < events.end; detail.count++) {
        if (detail.footer == NULL && is_torn(&file, next)) {
            detail.end = next;
            break;
        }
        detail.places[detail.count] = next;
        next += atf_v1_detail_event_header_get_total_length(place(&file, next));
    }
    return detail;
}

void close_detail(Detail *detail) {
    free(detail->places);
}

void print_detail(const Detail *detail) {
    if (detail->verdict == REJECT) {
        print_rejected("detail");
        return;
    }
    printf("{\"kind\": \"detail\", \"verdict\": \"%s\", ", verdict_name(detail->verdict));
    print_header(place(&detail->file, 0));
    printf("\"events\": [");
    for (uint64_t seq = 0; seq < detail->count; seq++) {
        fputs(seq > 0 ? ", " : "", stdout);
        print_event(detail->wire, place(&detail->file, detail->places[seq]));
    }
    printf("], ");
    print_footer(detail->footer);
    uint32_t checksum = detail->footer ? atf_v1_detail_footer_get_checksum(detail->footer) : 0;
    print_end(detail->count, detail->footer ? "footer" : "framing",
              detail->footer ? &checksum : NULL, detail->file.size - detail->end);
}
