// Borrowed bytes, and records in them.
#pragma once

#include "atf_wire.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

class View {
  public:
    View(const std::uint8_t *data, std::uint64_t size) : first(data), count(size) {}

    const std::uint8_t *begin() const { return first; }
    const std::uint8_t *end() const { return first + count; }
    std::uint64_t size() const { return count; }

    // Returns whether there are `size` bytes at `offset`. Does not add the two: both may come from
    // the file, so their sum may overflow.
    bool has(std::uint64_t offset, std::uint64_t size) const {
        return offset <= count && size <= count - offset;
    }

    // Returns the part at `offset`, with `size` bytes or up to the end. The caller must check that
    // it exists.
    View part(std::uint64_t offset, std::uint64_t size) const { return {first + offset, size}; }
    View from(std::uint64_t offset) const { return part(offset, count - offset); }

    // Returns a record, or a null pointer if the bytes do not contain all of it. Records need no
    // alignment.
    template <typename Record>
    const Record *record(std::uint64_t offset) const {
        return has(offset, sizeof(Record)) ? reinterpret_cast<const Record *>(first + offset)
                                           : nullptr;
    }

    bool is_zero() const {
        return std::all_of(begin(), end(), [](std::uint8_t byte) { return byte == 0; });
    }

    // Returns the size without the zeros at the end.
    std::uint64_t size_without_zeros() const {
        std::uint64_t left = count;
        while (left > 0 && first[left - 1] == 0) left--;
        return left;
    }

    bool starts_with(const char *magic) const {
        return has(0, 4) && std::memcmp(first, magic, 4) == 0;
    }

  private:
    const std::uint8_t *first;
    std::uint64_t count;
};

template <typename Bytes>
View view(const Bytes &bytes) {
    return {reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size()};
}

// Adds a size to an offset. Returns nothing on overflow.
inline std::optional<std::uint64_t> add(std::uint64_t offset, std::uint64_t size) {
    if (size > UINT64_MAX - offset) return std::nullopt;
    return offset + size;
}

// Returns the CRC-32C, which is 0xE3069283 for "123456789".
inline std::uint32_t crc32c(View bytes) {
    static const auto table = [] {
        std::array<std::uint32_t, 256> table{};
        for (std::uint32_t value = 0; value < table.size(); value++) {
            std::uint32_t entry = value;
            for (int bit = 0; bit < 8; bit++) entry = entry >> 1 ^ (entry & 1 ? 0x82F63B78u : 0u);
            table[value] = entry;
        }
        return table;
    }();
    std::uint32_t crc = 0xFFFFFFFF;
    for (std::uint8_t byte : bytes) crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8;
    return ~crc;
}
