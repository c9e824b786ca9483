/// Writes a session: a folder with a folder for each thread, and a manifest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <tuple>

#include "json.hpp"
#include "manifest.hpp"
#include "writers.hpp"

namespace atf {

/// Writes the threads of a traced process.
class SessionWriter {
public:
    /// The header contains the clock and the platform of all threads.
    explicit SessionWriter(const std::filesystem::path& folder, const IndexHeader& header,
                           int wire = 2)
        : folder_(folder), header_(header), wire_(wire) {
        manifest.clock_type = static_cast<std::uint64_t>(header.clock_type);
    }

    /// Returns the writer of a thread. The first call creates the thread's folder.
    ThreadWriter& thread(std::uint32_t id) {
        const auto known = threads_.find(id);
        if (known != threads_.end()) return known->second;
        header_.thread_id = id;
        const auto folder = folder_ / ("thread_" + std::to_string(id));
        return threads_.try_emplace(id, folder, header_, wire_).first->second;
    }

    /// The keys of manifest.json. `finalize` sets the list of threads and the times.
    Manifest manifest;

    /// Writes the events of all threads to their files. Returns the first error.
    [[nodiscard]] std::error_code flush() {
        return all([](ThreadWriter& thread) { return thread.flush(); });
    }

    /// Finalizes all threads, then writes the manifest. After an error, it can be called again.
    /// Fails with `invalid_argument` if the manifest has a text that is not UTF-8.
    [[nodiscard]] std::error_code finalize() {
        const auto error = all([](ThreadWriter& thread) { return thread.finalize(); });
        if (error) return error;
        manifest.threads.clear();
        for (const auto& [id, thread] : threads_) {
            auto& own = manifest.threads.emplace_back();
            own.id = id;
            own.has_detail = thread.has_detail();
            if (thread.size() == 0) continue;
            const auto start = thread.time_start_ns(), end = thread.time_end_ns();
            manifest.time_start_ns = std::min(manifest.time_start_ns.value_or(start), start);
            manifest.time_end_ns = std::max(manifest.time_end_ns.value_or(end), end);
        }
        std::string text;
        manifest.write(text);
        std::string why;
        const auto parsed = json::parse(text, why);
        if (!parsed || !Manifest().read(*parsed, why)) {
            return std::make_error_code(std::errc::invalid_argument);
        }
        return put(text);
    }

private:
    template <typename Each>
    std::error_code all(Each each) {
        std::error_code first;
        for (auto& [id, thread] : threads_) {
            const std::error_code error = each(thread);
            if (!first) first = error;
        }
        return first;
    }

    /// Writes the manifest atomically.
    std::error_code put(const std::string& text) const {
        std::error_code error;
        std::filesystem::create_directories(folder_, error);
        std::ofstream file(folder_ / "manifest.json.new", std::ios::binary);
        file << text;
        file.close();
        if (!file) return std::make_error_code(std::errc::io_error);
        std::filesystem::rename(folder_ / "manifest.json.new", folder_ / "manifest.json", error);
        return error;
    }

    std::filesystem::path folder_;
    IndexHeader header_;
    int wire_;
    std::map<std::uint32_t, ThreadWriter> threads_;
};

}  // namespace atf
