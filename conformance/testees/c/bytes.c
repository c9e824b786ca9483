#include "bytes.h"

bool is_zero(const void *bytes, uint64_t size) {
    const uint8_t *byte = bytes;
    for (uint64_t at = 0; at < size; at++) {
        if (byte[at] != 0) return false;
    }
    return true;
}

uint32_t crc32c(uint32_t crc, const uint8_t *bytes, uint64_t size) {
    static uint32_t table[256];
    if (table[1] == 0) {
        for (uint32_t value = 0; value < 256; value++) {
            uint32_t entry = value;
            for (int bit = 0; bit < 8; bit++) {
                entry = entry >> 1 ^ (entry & 1 ? 0x82F63B78u : 0);
            }
            table[value] = entry;
        }
    }
    crc = ~crc;
    for (uint64_t at = 0; at < size; at++) {
        crc = table[(crc ^ bytes[at]) & 0xFF] ^ crc >> 8;
    }
    return ~crc;
}
