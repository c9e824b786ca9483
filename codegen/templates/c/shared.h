/* ---- The same in every wire version ---- */

#ifndef ATF_SHARED_DEFINITIONS
#define ATF_SHARED_DEFINITIONS
{% for constant in constants %}

/** {{ (constant.doc ~ " " ~ constant.sources) | wrap(" *  ") }} */
#define {{ constant.name }} {{ constant.value }}
{% endfor %}
{% for enum in enums %}

/* {{ (enum.doc ~ (" Flags, which combine." if enum.flags else " Other values may occur.")) | wrap(" * ") }} */
{% for member in enum.members %}
/** {{ (member.doc ~ " " ~ member.sources) | wrap(" *  ") }} */
#define {{ member.name }} {{ member.value }}
{% endfor %}
{% endfor %}

/* Little-endian integers at any address, on any host. */
static inline uint16_t atf_load_u16(const void *record, size_t offset) {
    const uint8_t *byte = (const uint8_t *)record + offset;
    return (uint16_t)(byte[0] | byte[1] << 8);
}

static inline uint32_t atf_load_u32(const void *record, size_t offset) {
    const uint8_t *byte = (const uint8_t *)record + offset;
    return (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
           (uint32_t)byte[3] << 24;
}

static inline uint64_t atf_load_u64(const void *record, size_t offset) {
    return (uint64_t)atf_load_u32(record, offset) |
           (uint64_t)atf_load_u32(record, offset + 4) << 32;
}

static inline void atf_store_u16(void *record, size_t offset, uint16_t value) {
    uint8_t *byte = (uint8_t *)record + offset;
    byte[0] = (uint8_t)value;
    byte[1] = (uint8_t)(value >> 8);
}

static inline void atf_store_u32(void *record, size_t offset, uint32_t value) {
    uint8_t *byte = (uint8_t *)record + offset;
    byte[0] = (uint8_t)value;
    byte[1] = (uint8_t)(value >> 8);
    byte[2] = (uint8_t)(value >> 16);
    byte[3] = (uint8_t)(value >> 24);
}

static inline void atf_store_u64(void *record, size_t offset, uint64_t value) {
    atf_store_u32(record, offset, (uint32_t)value);
    atf_store_u32(record, offset + 4, (uint32_t)(value >> 32));
}

#endif
