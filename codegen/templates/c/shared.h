/* ---- Common to all wire versions ---- */

#ifndef ATF_SHARED_DEFINITIONS
#define ATF_SHARED_DEFINITIONS
{% for constant in constants %}

/** {{ (constant.doc ~ " " ~ constant.sources) | wrap(" *  ") }} */
#define {{ constant.name }} {{ constant.value }}
{% endfor %}
{% for enum in enums %}

/* {{ (enum.doc ~ (" They can be combined." if enum.flags else " Other values may occur.")) | wrap(" * ") }} */
{% for member in enum.members %}
/** {{ (member.doc ~ " " ~ member.sources) | wrap(" *  ") }} */
#define {{ member.name }} {{ member.value }}
{% endfor %}
{% endfor %}

/* A cast that C++ compilers do not warn about either. */
#ifdef __cplusplus
#define ATF_CAST(type, value) static_cast<type>(value)
#else
#define ATF_CAST(type, value) ((type)(value))
#endif

/* Little-endian integers at any address, on any host. */
static inline uint16_t atf_load_u16(const void *record, size_t offset) {
    const uint8_t *byte = ATF_CAST(const uint8_t *, record) + offset;
    return ATF_CAST(uint16_t, byte[0] | byte[1] << 8);
}

static inline uint32_t atf_load_u32(const void *record, size_t offset) {
    const uint8_t *byte = ATF_CAST(const uint8_t *, record) + offset;
    return ATF_CAST(uint32_t, byte[0]) | ATF_CAST(uint32_t, byte[1]) << 8 |
           ATF_CAST(uint32_t, byte[2]) << 16 | ATF_CAST(uint32_t, byte[3]) << 24;
}

static inline uint64_t atf_load_u64(const void *record, size_t offset) {
    return ATF_CAST(uint64_t, atf_load_u32(record, offset)) |
           ATF_CAST(uint64_t, atf_load_u32(record, offset + 4)) << 32;
}

static inline void atf_store_u16(void *record, size_t offset, uint16_t value) {
    uint8_t *byte = ATF_CAST(uint8_t *, record) + offset;
    byte[0] = ATF_CAST(uint8_t, value);
    byte[1] = ATF_CAST(uint8_t, value >> 8);
}

static inline void atf_store_u32(void *record, size_t offset, uint32_t value) {
    uint8_t *byte = ATF_CAST(uint8_t *, record) + offset;
    byte[0] = ATF_CAST(uint8_t, value);
    byte[1] = ATF_CAST(uint8_t, value >> 8);
    byte[2] = ATF_CAST(uint8_t, value >> 16);
    byte[3] = ATF_CAST(uint8_t, value >> 24);
}

static inline void atf_store_u64(void *record, size_t offset, uint64_t value) {
    atf_store_u32(record, offset, ATF_CAST(uint32_t, value));
    atf_store_u32(record, offset + 4, ATF_CAST(uint32_t, value >> 32));
}

/**
 * Adds bytes to a CRC-32C, such as a footer's checksum: start with 0, then pass the result of
 * the previous call. The table has only 16 entries, so a tracer that writes a lot may prefer
 * its own implementation. The CRC of "123456789" is 0xE3069283. [S2]
 */
static inline uint32_t atf_crc32c(uint32_t checksum, const void *bytes, size_t size) {
    /* The remainder of each 4-bit value for the polynomial 0x1EDC6F41, bits reversed. */
    static const uint32_t left[16] = {
        0x00000000u, 0x105EC76Fu, 0x20BD8EDEu, 0x30E349B1u, 0x417B1DBCu, 0x5125DAD3u,
        0x61C69362u, 0x7198540Du, 0x82F63B78u, 0x92A8FC17u, 0xA24BB5A6u, 0xB21572C9u,
        0xC38D26C4u, 0xD3D3E1ABu, 0xE330A81Au, 0xF36E6F75u
    };
    const uint8_t *byte = ATF_CAST(const uint8_t *, bytes);
    uint32_t sum = ~checksum;
    for (size_t i = 0; i < size; i++) {
        sum ^= byte[i];
        sum = sum >> 4 ^ left[sum & 15u];
        sum = sum >> 4 ^ left[sum & 15u];
    }
    return ~sum;
}
#undef ATF_CAST

#endif
