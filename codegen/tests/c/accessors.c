/* Tests the accessors of wire version WIRE with bytes typed by hand from the sources' tables: S1 and
 * S4 for version 1, S2 for version 2. */
#ifdef SIDE_BY_SIDE
#include "atf_wire.h"
#define JOINED(before, wire, after) before##wire##after
#define OF_WIRE(before, wire, after) JOINED(before, wire, after)
#define FUNCTION(record, verb, field) OF_WIRE(atf_v, WIRE, _##record##_##verb##_##field)
#define CONSTANT(name) OF_WIRE(ATF_V, WIRE, _##name)
#define TYPE(name) OF_WIRE(AtfV, WIRE, name)
typedef TYPE(IndexHeader) AtfIndexHeader;
typedef TYPE(IndexEvent) IndexEvent;
typedef TYPE(IndexFooter) AtfIndexFooter;
typedef TYPE(DetailHeader) AtfDetailHeader;
typedef TYPE(DetailEventHeader) DetailEventHeader;
typedef TYPE(DetailFunctionPayload) DetailFunctionPayload;
typedef TYPE(DetailFooter) AtfDetailFooter;
#else
#if WIRE == 1
#include "atf_v1.h"
#else
#include "atf_v2.h"
#endif
#define FUNCTION(record, verb, field) atf_##record##_##verb##_##field
#define CONSTANT(name) ATF_##name
#endif
#include "check.h"

static void constants(void) {
    static const uint8_t index_header[] = CONSTANT(INDEX_HEADER_MAGIC_INIT);
    static const uint8_t index_footer[] = CONSTANT(INDEX_FOOTER_MAGIC_INIT);
    static const uint8_t detail_header[] = CONSTANT(DETAIL_HEADER_MAGIC_INIT);
    static const uint8_t detail_footer[] = CONSTANT(DETAIL_FOOTER_MAGIC_INIT);
    expect("size of the magic", sizeof index_header, 4);
    expect_bytes("index header's magic", index_header, "ATI2", 4);
    expect_bytes("index footer's magic", index_footer, "2ITA", 4);
    expect_bytes("detail header's magic", detail_header, "ATD2", 4);
    expect_bytes("detail footer's magic", detail_footer, "2DTA", 4);
    expect_bytes("index header's magic, string", CONSTANT(INDEX_HEADER_MAGIC), "ATI2", 5);
    expect("index header's version", CONSTANT(INDEX_HEADER_VERSION), WIRE);
    expect("detail header's version", CONSTANT(DETAIL_HEADER_VERSION), WIRE);
    expect("index header's event_size", CONSTANT(INDEX_HEADER_EVENT_SIZE), 32);
    expect("no detail", CONSTANT(NO_DETAIL_SEQ), WIRE == 1 ? UINT32_MAX : UINT64_MAX);
    expect("windows", ATF_OS_WINDOWS, 5);
    expect("boottime", ATF_CLOCK_BOOTTIME, 3);
}

static void index_header(void) {
    static const uint8_t bytes[] = {
        0x41, 0x54, 0x49, 0x32,                         /*  0 magic */
        0x01, WIRE, 0x02, 0x05,                         /*  4 endian, version, arch, os */
        0xA1, 0xA2, 0xA3, 0xA4,                         /*  8 flags */
        0xB1, 0xB2, 0xB3, 0xB4,                         /* 12 thread_id */
        0x03, 0xC1, 0xC2, 0xC3,                         /* 16 clock_type, _reserved1 */
#if WIRE == 1
        0xC4, 0xC5, 0xC6, 0xC7,                         /* 20 _reserved2 */
        0x20, 0x1F, 0x1E, 0x1D,                         /* 24 event_size */
        0xD1, 0xD2, 0xD3, 0xD4,                         /* 28 event_count */
#else
        0x20, 0x1F, 0x1E, 0x1D,                         /* 20 event_size */
        0xD1, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, /* 24 event_count */
#endif
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, /* 32 events_offset */
        0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, /* 40 footer_offset */
        0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, /* 48 time_start_ns */
        0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, /* 56 time_end_ns */
    };
    BEGIN(AtfIndexHeader);
    BYTES(magic, 4);
    BYTES(endian, 1);
    BYTES(version, 1);
    BYTES(arch, 1);
    BYTES(os, 1);
    FIELD(index_header, flags, 0xA4A3A2A1u);
    FIELD(index_header, thread_id, 0xB4B3B2B1u);
    BYTES(clock_type, 1);
    BYTES(_reserved1, 3);
    FIELD(index_header, event_size, 0x1D1E1F20u);
#if WIRE == 1
    FIELD(index_header, reserved2, 0xC7C6C5C4u);
    FIELD(index_header, event_count, 0xD4D3D2D1u);
#else
    FIELD(index_header, event_count, 0xD8D7D6D5D4D3D2D1u);
#endif
    FIELD(index_header, events_offset, 0x1817161514131211u);
    FIELD(index_header, footer_offset, 0x2827262524232221u);
    FIELD(index_header, time_start_ns, 0x3837363534333231u);
    FIELD(index_header, time_end_ns, 0x4847464544434241u);
    END(index_header);
}

static void index_event(void) {
    static const uint8_t bytes[] = {
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, /*  0 timestamp_ns */
        0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, /*  8 function_id */
#if WIRE == 1
        0xA1, 0xA2, 0xA3, 0xA4,                         /* 16 thread_id */
        0xB1, 0xB2, 0xB3, 0xB4,                         /* 20 event_kind */
        0xC1, 0xC2, 0xC3, 0xC4,                         /* 24 call_depth */
        0xD1, 0xD2, 0xD3, 0xD4,                         /* 28 detail_seq */
#else
        0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, /* 16 detail_seq */
        0x03,                                           /* 24 event_kind */
        0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7,       /* 25 _reserved */
#endif
    };
    BEGIN(IndexEvent);
    FIELD(index_event, timestamp_ns, 0x1817161514131211u);
    FIELD(index_event, function_id, 0x2827262524232221u);
#if WIRE == 1
    FIELD(index_event, thread_id, 0xA4A3A2A1u);
    FIELD(index_event, event_kind, 0xB4B3B2B1u);
    FIELD(index_event, call_depth, 0xC4C3C2C1u);
    FIELD(index_event, detail_seq, 0xD4D3D2D1u);
#else
    FIELD(index_event, detail_seq, 0x3837363534333231u);
    BYTES(event_kind, 1);
    BYTES(_reserved, 7);
#endif
    END(index_event);
}

/* The time range comes before the byte count. */
static void index_footer(void) {
    static const uint8_t bytes[] = {
        0x32, 0x49, 0x54, 0x41,                         /*  0 magic */
        0xA1, 0xA2, 0xA3, 0xA4,                         /*  4 checksum */
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, /*  8 event_count */
        0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, /* 16 time_start_ns */
        0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, /* 24 time_end_ns */
        0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, /* 32 bytes_written */
        0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, /* 40 reserved */
        0xE9, 0xEA, 0xEB, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, /* 48 */
        0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8, /* 56 */
    };
    BEGIN(AtfIndexFooter);
    BYTES(magic, 4);
    FIELD(index_footer, checksum, 0xA4A3A2A1u);
    FIELD(index_footer, event_count, 0x1817161514131211u);
    FIELD(index_footer, time_start_ns, 0x2827262524232221u);
    FIELD(index_footer, time_end_ns, 0x3837363534333231u);
    FIELD(index_footer, bytes_written, 0x4847464544434241u);
    BYTES(reserved, 24);
    END(index_footer);
}

/* The eight-byte members are unaligned, and four reserved bytes follow them. */
static void detail_header(void) {
    static const uint8_t bytes[] = {
        0x41, 0x54, 0x44, 0x32,                         /*  0 magic */
        0x01, WIRE, 0x02, 0x03,                         /*  4 endian, version, arch, os */
        0xA1, 0xA2, 0xA3, 0xA4,                         /*  8 flags */
        0xB1, 0xB2, 0xB3, 0xB4,                         /* 12 thread_id */
        0xC1, 0xC2, 0xC3, 0xC4,                         /* 16 _reserved1 */
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, /* 20 events_offset */
        0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, /* 28 event_count */
        0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, /* 36 bytes_length */
        0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, /* 44 index_seq_start */
        0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, /* 52 index_seq_end */
        0xE1, 0xE2, 0xE3, 0xE4,                         /* 60 _reserved2 */
    };
    BEGIN(AtfDetailHeader);
    BYTES(magic, 4);
    BYTES(endian, 1);
    BYTES(version, 1);
    BYTES(arch, 1);
    BYTES(os, 1);
    FIELD(detail_header, flags, 0xA4A3A2A1u);
    FIELD(detail_header, thread_id, 0xB4B3B2B1u);
    FIELD(detail_header, reserved1, 0xC4C3C2C1u);
    FIELD(detail_header, events_offset, 0x1817161514131211u);
    FIELD(detail_header, event_count, 0x2827262524232221u);
    FIELD(detail_header, bytes_length, 0x3837363534333231u);
    FIELD(detail_header, index_seq_start, 0x4847464544434241u);
    FIELD(detail_header, index_seq_end, 0x5857565554535251u);
    BYTES(_reserved2, 4);
    END(detail_header);
}

static void detail_event_header(void) {
    static const uint8_t bytes[] = {
        0xA1, 0xA2, 0xA3, 0xA4,                         /*  0 total_length */
        0xB1, 0xB2, 0xC1, 0xC2,                         /*  4 event_type, flags */
#if WIRE == 1
        0xD1, 0xD2, 0xD3, 0xD4,                         /*  8 index_seq */
        0xE1, 0xE2, 0xE3, 0xE4,                         /* 12 thread_id */
#else
        0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, /*  8 index_seq */
#endif
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, /* 16 timestamp */
    };
    BEGIN(DetailEventHeader);
    FIELD(detail_event_header, total_length, 0xA4A3A2A1u);
    FIELD(detail_event_header, event_type, 0xB2B1u);
    FIELD(detail_event_header, flags, 0xC2C1u);
#if WIRE == 1
    FIELD(detail_event_header, index_seq, 0xD4D3D2D1u);
    FIELD(detail_event_header, thread_id, 0xE4E3E2E1u);
#else
    FIELD(detail_event_header, index_seq, 0x2827262524232221u);
#endif
    FIELD(detail_event_header, timestamp, 0x1817161514131211u);
    END(detail_event_header);
}

/* Only S1 and S4 describe this payload. In either version, its length identifies it. */
static void detail_function_payload(void) {
    static const uint8_t bytes[] = {
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, /*  0 function_id */
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, /*  8 x_regs[0] */
        0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, /* 16 */
        0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, /* 24 */
        0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, /* 32 */
        0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, /* 40 */
        0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, /* 48 */
        0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, /* 56 */
        0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, /* 64 x_regs[7] */
        0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, /* 72 lr */
        0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, /* 80 fp */
        0xB1, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, /* 88 sp */
        0xC1, 0xC2, 0xD1, 0xD2,                         /* 96 stack_size, _reserved */
    };
    BEGIN(DetailFunctionPayload);
    FIELD(detail_function_payload, function_id, 0x0807060504030201u);
    ELEMENT(detail_function_payload, x_regs, 0, 0x1817161514131211u);
    ELEMENT(detail_function_payload, x_regs, 1, 0x2827262524232221u);
    ELEMENT(detail_function_payload, x_regs, 2, 0x3837363534333231u);
    ELEMENT(detail_function_payload, x_regs, 3, 0x4847464544434241u);
    ELEMENT(detail_function_payload, x_regs, 4, 0x5857565554535251u);
    ELEMENT(detail_function_payload, x_regs, 5, 0x6867666564636261u);
    ELEMENT(detail_function_payload, x_regs, 6, 0x7877767574737271u);
    ELEMENT(detail_function_payload, x_regs, 7, 0x8887868584838281u);
    FIELD(detail_function_payload, lr, 0x9897969594939291u);
    FIELD(detail_function_payload, fp, 0xA8A7A6A5A4A3A2A1u);
    FIELD(detail_function_payload, sp, 0xB8B7B6B5B4B3B2B1u);
    FIELD(detail_function_payload, stack_size, 0xC2C1u);
    FIELD(detail_function_payload, reserved, 0xD2D1u);
    END(detail_function_payload);
}

/* Unlike in the index footer, the byte count comes before the time range. */
static void detail_footer(void) {
    static const uint8_t bytes[] = {
        0x32, 0x44, 0x54, 0x41,                         /*  0 magic */
        0xA1, 0xA2, 0xA3, 0xA4,                         /*  4 checksum */
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, /*  8 event_count */
        0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, /* 16 bytes_length */
        0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, /* 24 time_start_ns */
        0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, /* 32 time_end_ns */
        0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, /* 40 reserved */
        0xE9, 0xEA, 0xEB, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, /* 48 */
        0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8, /* 56 */
    };
    BEGIN(AtfDetailFooter);
    BYTES(magic, 4);
    FIELD(detail_footer, checksum, 0xA4A3A2A1u);
    FIELD(detail_footer, event_count, 0x1817161514131211u);
    FIELD(detail_footer, bytes_length, 0x2827262524232221u);
    FIELD(detail_footer, time_start_ns, 0x3837363534333231u);
    FIELD(detail_footer, time_end_ns, 0x4847464544434241u);
    BYTES(reserved, 24);
    END(detail_footer);
}

int main(void) {
    constants();
    index_header();
    index_event();
    index_footer();
    detail_header();
    detail_event_header();
    detail_function_payload();
    detail_footer();
    return failures == 0 ? 0 : 1;
}
