/* Tests the constants of wire version WIRE, written by hand from the sources, the checksum, and the accessors: the
 * test writes records.h from the hand-typed table of all records. */
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
#include "records.h"

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

/* The published check value of CRC-32C, in one call and in parts. */
static void checksum(void) {
    expect("CRC-32C", atf_crc32c(0, "123456789", 9), 0xE3069283u);
    expect("CRC-32C of nothing", atf_crc32c(0, "", 0), 0);
    expect("CRC-32C of two parts", atf_crc32c(atf_crc32c(0, "1234", 4), "56789", 5), 0xE3069283u);
}

int main(void) {
    constants();
    checksum();
    records();
    return failures == 0 ? 0 : 1;
}
