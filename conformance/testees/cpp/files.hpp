// Reads whole files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

using Bytes = std::vector<std::uint8_t>;

// Returns the bytes of a file, or nothing if the file is missing or a symlink. A symlink may lead
// outside the session.
inline std::optional<Bytes> load(const std::filesystem::path &path) {
    std::error_code ignored;
    if (!is_regular_file(symlink_status(path, ignored))) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    Bytes bytes{std::istreambuf_iterator<char>(file), {}};
    return file.bad() ? std::nullopt : std::optional(std::move(bytes));
}
