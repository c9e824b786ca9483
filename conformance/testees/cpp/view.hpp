// Bytes that someone else owns, and records in them.
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

    // Whether `size` bytes stand at `offset`. Both may come from the file, so nothing is added.
    bool has(std::uint64_t offset, std::uint64_t size) const {
        return offset <= count && size <= count - offset;
    }

    // The part from `offset` on, of `size` bytes or up to the end. It must be there.
    View part(std::uint64_t offset, std::uint64_t size) const { return {first + offset, size}; }
    View from(std::uint64_t offset) const { return part(offset, count - offset); }

    // A record, which may stand at any address; the null pointer where the bytes do not go so far.
    template <typename Record>
    const Record *record(std::uint64_t offset) const {
        return has(offset, sizeof(Record)) ? reinterpret_cast<const Record *>(first + offset)
                                           : nullptr;
    }

    bool is_zero() const {
        return std::all_of(begin(), end(), [](std::uint8_t byte) { return byte == 0; });
    }

    // How many bytes are left without the zeros at the end.
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

// Where so many bytes behind an offset end; none past the greatest number.
inline std::optional<std::uint64_t> add(std::uint64_t offset, std::uint64_t size) {
    if (size > UINT64_MAX - offset) return std::nullopt;
    return offset + size;
}

// CRC-32C; of "123456789" it is 0xE3069283.
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
