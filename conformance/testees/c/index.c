/* Reads index.atf. */
#include "reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { HEADER = 64, EVENT = 32, FOOTER = 64 };

/* The header of either wire version. */
typedef struct {
    int wire;
    uint8_t arch, os, clock_type;
    uint32_t flags, thread_id;
    uint64_t event_count, events_offset, footer_offset, time_start_ns, time_end_ns;
} Header;

/* ---- Header ---- */

static Header decode_header(const File *file) {
    const AtfV1IndexHeader *at = place(file, 0);
    const AtfV2IndexHeader *at_v2 = place(file, 0);
    return (Header){
        .wire = at->version,
        .arch = at->arch,
        .os = at->os,
        .clock_type = at->clock_type,
        .flags = atf_v1_index_header_get_flags(at),
        .thread_id = atf_v1_index_header_get_thread_id(at),
        .event_count = at->version == 1 ? atf_v1_index_header_get_event_count(at)
                                        : atf_v2_index_header_get_event_count(at_v2),
        .events_offset = atf_v1_index_header_get_events_offset(at),
        .footer_offset = atf_v1_index_header_get_footer_offset(at),
        .time_start_ns = atf_v1_index_header_get_time_start_ns(at),
        .time_end_ns = atf_v1_index_header_get_time_end_ns(at),
    };
}

static bool is_header_good(const File *file) {
    if (file->size < HEADER) return false;
    const AtfV1IndexHeader *at = place(file, 0);
    if (memcmp(at->magic, ATF_V1_INDEX_HEADER_MAGIC, 4) != 0) return false;
    if (at->endian != ATF_V1_INDEX_HEADER_ENDIAN) return false;
    /* Version 2 has an event size where version 1 has zeros. Reject one version's layout with the
     * other's version number: a count of 32 events would look like an event size. */
    uint32_t size_v2 = atf_v2_index_header_get_event_size(place(file, 0));
    switch (at->version) {
    case 1: return size_v2 != EVENT && atf_v1_index_header_get_event_size(at) == EVENT;
    case 2: return size_v2 == EVENT;
    default: return false;
    }
}

/* Returns whether the header was never rewritten. */
static bool is_placeholder(const Header *header) {
    return header->flags == 0 && header->event_count == 0 && header->time_start_ns == 0 &&
           header->time_end_ns == 0 &&
           (header->footer_offset == 0 || header->footer_offset == HEADER);
}

/* Returns whether two fields of a rewritten header agree on the end of the events. A header without a
 * count may be a placeholder in which a field was set early. */
static bool is_end_known(const Header *header) {
    if (header->event_count == 0 || header->footer_offset < header->events_offset) return false;
    uint64_t size = header->footer_offset - header->events_offset;
    return size % EVENT == 0 && size / EVENT == header->event_count;
}

/* Returns the offset after the last byte before `end` that is not 0. */
static uint64_t data_end(const File *file, uint64_t end) {
    while (end > HEADER && file->bytes[end - 1] == 0) end--;
    return end;
}

/* Returns whether the end of the events is known and in the file, and data follows it. */
static bool is_end_proven(const File *file, const Header *header) {
    return is_end_known(header) && data_end(file, file->size) > header->footer_offset;
}

static uint32_t kind_of(const Header *header, const void *event) {
    if (header->wire == 1) return atf_v1_index_event_get_event_kind(event);
    return ((const AtfV2IndexEvent *)event)->event_kind;
}

/* Returns whether an event has a valid kind. */
static bool has_kind(const Header *header, const void *event) {
    uint32_t kind = kind_of(header, event);
    return kind >= ATF_EVENT_KIND_CALL && kind <= ATF_EVENT_KIND_EXCEPTION;
}

/* Returns whether the offset has an event that the header counts, even if it looks like a footer: it must
 * have a valid kind. */
static bool is_counted(const File *file, const Header *header, uint64_t at) {
    if (!is_end_known(header) || at >= header->footer_offset || !has_room(file, at, EVENT)) return false;
    return has_kind(header, place(file, at));
}

/* ---- Footer ---- */

/* Returns whether a footer's count and length match its offset, `size` bytes after the first event. */
static bool says_its_place(const AtfV1IndexFooter *footer, uint64_t size) {
    return size % EVENT == 0 && atf_v1_index_footer_get_bytes_written(footer) == size &&
           atf_v1_index_footer_get_event_count(footer) == size / EVENT;
}

static bool has_magic(const AtfV1IndexFooter *footer) {
    return memcmp(footer->magic, ATF_V1_INDEX_FOOTER_MAGIC, 4) == 0;
}

static bool has_zero_reserved(const AtfV1IndexFooter *footer) {
    return is_zero(footer->reserved, sizeof footer->reserved);
}

static bool is_footer(const File *file, const Header *header, uint64_t at) {
    if (at < header->events_offset || !has_room(file, at, FOOTER)) return false;
    const AtfV1IndexFooter *footer = place(file, at);
    return has_magic(footer) && says_its_place(footer, at - header->events_offset);
}

/* Looks for the footer at the offset in a rewritten header, at the end of the file, and after each event. If
 * the header is a placeholder, the first of two footers counts. Returns 0 if there is no footer. */
static uint64_t find_footer(const File *file, const Header *header) {
    uint64_t at_end = file->size - FOOTER;
    bool is_stated = !is_placeholder(header);
    if (is_stated && is_footer(file, header, header->footer_offset)) return header->footer_offset;
    if (is_stated && is_footer(file, header, at_end)) return at_end;
    for (uint64_t at = header->events_offset; has_room(file, at, FOOTER); at += EVENT) {
        if (is_footer(file, header, at)) return at;
    }
    return 0;
}

/* Returns how much the start time of a footer proves: 0 if it is 0 or not the first event's, 2 if the bytes
 * have no valid kind and so cannot be an event, and 1 otherwise. */
static int weight_of_start_time(const File *file, const Header *header, const void *bytes) {
    uint64_t time = atf_v1_index_footer_get_time_start_ns(bytes);
    const void *first = place(file, header->events_offset);
    if (time == 0 || time != atf_v1_index_event_get_timestamp_ns(first)) return 0;
    return has_kind(header, bytes) ? 1 : 2;
}

/* Returns whether there is a damaged footer. Where the header proves a footer, any nonzero byte is enough.
 * Elsewhere, two of its magic, its numbers, its start time and its reserved bytes must be correct. Where no
 * footer is expected, two of magic and numbers must be correct, and one of the others. */
static bool is_damaged_footer(const File *file, const Header *header, uint64_t at, bool is_expected) {
    if (at < header->events_offset || !has_room(file, at, FOOTER)) return false;
    if (is_counted(file, header, at)) return false;
    if (at == header->footer_offset && is_end_proven(file, header)) {
        return !is_zero(place(file, at), FOOTER);
    }
    const AtfV1IndexFooter *footer = place(file, at);
    uint64_t size = at - header->events_offset;
    int magic = has_magic(footer), reserved = has_zero_reserved(footer);
    int length = atf_v1_index_footer_get_bytes_written(footer) == size;
    int count = size % EVENT == 0 && atf_v1_index_footer_get_event_count(footer) == size / EVENT;
    bool is_after_events = size > 0 && size % EVENT == 0;
    int time = is_after_events ? weight_of_start_time(file, header, footer) : 0;
    if (!is_expected) {
        return (reserved || time) && magic + length + count == 2 && (size > 0 || magic);
    }
    /* Without events, the numbers are 0 and match any zeros. */
    return magic + reserved + (size > 0 ? length + count + time : 0) >= 2;
}

static bool has_damaged_footer(const File *file, const Header *header) {
    uint64_t at_end = file->size - FOOTER;
    if (is_damaged_footer(file, header, at_end, true)) return true;
    if (!is_placeholder(header) && is_damaged_footer(file, header, header->footer_offset, true)) {
        return true;
    }
    uint64_t end = data_end(file, file->size);
    for (uint64_t at = header->events_offset; has_room(file, at, FOOTER); at += EVENT) {
        /* Nothing but zeros follows. */
        bool is_last = has_magic(place(file, at)) && end > at + EVENT && end <= at + FOOTER;
        if (is_damaged_footer(file, header, at, is_last)) return true;
    }
    return false;
}

/* Returns whether the first bytes of two footers are equal between `offset` and `end`. */
static bool agrees(const AtfV1IndexFooter *cut, const AtfV1IndexFooter *whole, size_t offset,
                   size_t end, uint64_t size) {
    if (size < end) end = size;
    return end <= offset || memcmp((const uint8_t *)cut + offset, (const uint8_t *)whole + offset,
                                   end - offset) == 0;
}

/* Returns whether the first `written` bytes begin a footer for this many events: two of its magic,
 * count and start time are correct, as far as they were written. A start time counts twice if the
 * bytes cannot be an event. */
static bool begins_footer(const File *file, const Header *header, const AtfV1IndexFooter *cut,
                          uint64_t written, uint64_t seq) {
    AtfV1IndexFooter whole = {.magic = ATF_V1_INDEX_FOOTER_MAGIC_INIT};
    atf_v1_index_footer_set_event_count(&whole, seq);
    size_t place = offsetof(AtfV1IndexFooter, event_count);
    bool magic = agrees(cut, &whole, 0, sizeof whole.magic, written);
    bool count = agrees(cut, &whole, place, place + 8, written);
    if (seq == 0 || written <= place || (magic && count)) return magic && count;
    return (magic || count) + weight_of_start_time(file, header, cut) >= 2;
}

/* Returns whether a footer's first half never reached the disk and the rest has the correct length. */
static bool ends_footer(const AtfV1IndexFooter *cut, uint64_t seq) {
    return is_zero(cut, offsetof(AtfV1IndexFooter, bytes_written)) && has_zero_reserved(cut) &&
           atf_v1_index_footer_get_bytes_written(cut) == seq * EVENT;
}

/* Returns whether there is a torn footer, and sets the number of events before it. Zeros at the end
 * of the file do not count as written. Without this, 32 bytes of a footer could count as an event. */
static bool has_torn_footer(const File *file, const Header *header, uint64_t *count) {
    if (is_end_proven(file, header)) return false;
    const uint64_t length = offsetof(AtfV1IndexFooter, bytes_written);
    uint64_t end = data_end(file, file->size), last = (end - HEADER + EVENT - 1) / EVENT;
    for (uint64_t seq = last > 2 ? last - 2 : 0; seq < last; seq++) {
        uint64_t at = HEADER + seq * EVENT, left = file->size - at, written = end - at;
        if (is_counted(file, header, at)) continue;
        AtfV1IndexFooter cut = {0};
        memcpy(&cut, place(file, at), left < FOOTER ? left : FOOTER);
        bool is_cut = left < FOOTER || written <= length;
        *count = seq;
        if (written > length && ends_footer(&cut, seq)) return true;
        if (is_cut && begins_footer(file, header, &cut, written, seq)) return true;
    }
    return false;
}

/* ---- Events of a file without a footer ---- */

static uint64_t surviving_events(const File *file, const Header *header) {
    if (is_end_proven(file, header)) return header->event_count;
    uint64_t whole = (file->size - HEADER) / EVENT, whole_end = HEADER + whole * EVENT;
    uint64_t touched = (data_end(file, whole_end) - HEADER + EVENT - 1) / EVENT;
    /* Zeros at the end, or before a torn event, are preallocated space or blocks that never reached
     * the disk. An event of kind 0 before them is torn. */
    bool is_zero_tail = data_end(file, file->size) <= whole_end && file->size > whole_end;
    bool is_before_zeros = touched < whole || is_zero_tail;
    if (touched == 0 || !is_before_zeros) return touched;
    uint64_t last = touched - 1;
    return kind_of(header, place(file, HEADER + last * EVENT)) == 0 ? last : touched;
}

/* ---- Document ---- */

static void print_header(const Header *header) {
    printf("\"header\": {\"endian\": 1, \"version\": %d, \"arch\": %u, \"os\": %u, "
           "\"flags\": %" PRIu32 ", \"thread_id\": %" PRIu32 ", \"clock_type\": %u, "
           "\"event_size\": 32, ",
           header->wire, header->arch, header->os, header->flags, header->thread_id,
           header->clock_type);
    const char *quote = header->wire == 1 ? "" : "\"";
    printf("\"event_count\": %s%" PRIu64 "%s, \"events_offset\": \"%" PRIu64 "\", "
           "\"footer_offset\": \"%" PRIu64 "\", \"time_start_ns\": \"%" PRIu64 "\", "
           "\"time_end_ns\": \"%" PRIu64 "\"}, ",
           quote, header->event_count, quote, header->events_offset, header->footer_offset,
           header->time_start_ns, header->time_end_ns);
}

static void print_link(uint64_t seq, uint64_t none) {
    if (seq == none) {
        printf("\"detail_seq\": null}");
    } else {
        printf("\"detail_seq\": \"%" PRIu64 "\"}", seq);
    }
}

static void print_event(int wire, const void *at) {
    const AtfV1IndexEvent *event = at;
    const AtfV2IndexEvent *event_v2 = at;
    printf("{\"timestamp_ns\": \"%" PRIu64 "\", \"function_id\": \"%" PRIu64 "\", ",
           atf_v1_index_event_get_timestamp_ns(event), atf_v1_index_event_get_function_id(event));
    if (wire == 1) {
        printf("\"thread_id\": %" PRIu32 ", \"event_kind\": %" PRIu32 ", \"call_depth\": %" PRIu32
               ", ",
               atf_v1_index_event_get_thread_id(event), atf_v1_index_event_get_event_kind(event),
               atf_v1_index_event_get_call_depth(event));
        print_link(atf_v1_index_event_get_detail_seq(event), ATF_V1_NO_DETAIL_SEQ);
    } else {
        printf("\"event_kind\": %u, ", event_v2->event_kind);
        print_link(atf_v2_index_event_get_detail_seq(event_v2), ATF_V2_NO_DETAIL_SEQ);
    }
}

static void print_footer(const AtfV1IndexFooter *footer) {
    if (footer == NULL) {
        printf("\"footer\": null, ");
        return;
    }
    printf("\"footer\": {\"checksum\": %" PRIu32 ", \"event_count\": \"%" PRIu64 "\", "
           "\"time_start_ns\": \"%" PRIu64 "\", \"time_end_ns\": \"%" PRIu64 "\", "
           "\"bytes_written\": \"%" PRIu64 "\"}, ",
           atf_v1_index_footer_get_checksum(footer), atf_v1_index_footer_get_event_count(footer),
           atf_v1_index_footer_get_time_start_ns(footer),
           atf_v1_index_footer_get_time_end_ns(footer),
           atf_v1_index_footer_get_bytes_written(footer));
}

/* ---- Interface ---- */

static const void *event(const Index *index, uint64_t seq) {
    return place(&index->file, index->start + seq * EVENT);
}

uint64_t index_time(const Index *index, uint64_t seq) {
    return atf_v1_index_event_get_timestamp_ns(event(index, seq));
}

/* The checksum was verified when the file was opened. It proves that zeros were really written. */
bool index_is_hole(const Index *index, uint64_t seq) {
    bool is_proven = index->footer && atf_v1_index_footer_get_checksum(index->footer) != 0;
    return !is_proven && is_zero(event(index, seq), EVENT);
}

bool index_link(const Index *index, uint64_t seq, uint64_t *to) {
    if (index->wire == 1) {
        *to = atf_v1_index_event_get_detail_seq(event(index, seq));
        return *to != ATF_V1_NO_DETAIL_SEQ;
    }
    *to = atf_v2_index_event_get_detail_seq(event(index, seq));
    return *to != ATF_V2_NO_DETAIL_SEQ;
}

Index open_index(File file) {
    Index index = {.file = file, .verdict = REJECT};
    if (!is_header_good(&file)) return index;
    Header header = decode_header(&file);
    uint64_t start = header.events_offset;
    if (start < HEADER || start > file.size) return index;

    uint64_t at = find_footer(&file, &header), count;
    bool is_whole = false;
    if (at != 0) {
        const AtfV1IndexFooter *footer = place(&file, at);
        uint32_t stated = atf_v1_index_footer_get_checksum(footer);
        if (stated != 0 && stated != atf_crc32c(0, file.bytes + start, at - start)) return index;
        count = (at - start) / EVENT;
        index.footer = footer;
        index.end = at + FOOTER;
        /* Without events, only footer_offset distinguishes a placeholder from a rewritten header. */
        bool says_all = count == 0 && header.footer_offset == at &&
                        atf_v1_index_footer_get_time_start_ns(footer) == 0 &&
                        atf_v1_index_footer_get_time_end_ns(footer) == 0;
        is_whole = !is_placeholder(&header) || says_all;
    } else {
        /* A different events_offset is valid only if a footer confirms it. */
        if (start != HEADER) return index;
        if (!has_torn_footer(&file, &header, &count)) {
            if (has_damaged_footer(&file, &header)) return index;
            count = surviving_events(&file, &header);
        }
        index.end = start + count * EVENT;
    }
    index.wire = header.wire;
    index.start = start;
    index.count = count;
    index.verdict = is_whole ? ACCEPT : RECOVER;
    for (uint64_t seq = 0; seq < count; seq++) {
        if (index_is_hole(&index, seq)) index.verdict = RECOVER;
    }
    return index;
}

void print_index(const Index *index) {
    if (index->verdict == REJECT) {
        print_rejected("index");
        return;
    }
    Header header = decode_header(&index->file);
    printf("{\"kind\": \"index\", \"verdict\": \"%s\", ", verdict_name(index->verdict));
    print_header(&header);
    printf("\"events\": [");
    for (uint64_t seq = 0; seq < index->count; seq++) {
        fputs(seq > 0 ? ", " : "", stdout);
        print_event(index->wire, event(index, seq));
    }
    printf("], ");
    print_footer(index->footer);
    uint32_t checksum = index->footer ? atf_v1_index_footer_get_checksum(index->footer) : 0;
    print_end(index->count, index->footer ? "footer" : "file_size",
              index->footer ? &checksum : NULL, index->file.size - index->end);
}
