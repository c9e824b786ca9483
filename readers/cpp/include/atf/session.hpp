/// Reads a session: a folder with a folder for each thread, and a manifest. Files are read into
/// memory. Symlinks are not followed, since they may lead out of the session.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "files.hpp"
#include "json.hpp"
#include "manifest.hpp"

namespace atf {

/// Reads a regular file. Returns nothing if it does not exist or cannot be read.
inline std::optional<std::vector<std::uint8_t>> load(const std::filesystem::path& path) {
    std::error_code error;
    const auto status = std::filesystem::symlink_status(path, error);
    if (error || !std::filesystem::is_regular_file(status)) return std::nullopt;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    std::ifstream stream(path, std::ios::binary);
    if (error || !stream) return std::nullopt;
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    bytes.resize(static_cast<std::size_t>(stream.gcount()));
    return bytes;
}

/// A file that was refused.
struct RefusedFile {
    std::filesystem::path path;
    Refusal refusal;
};

/// A manifest that cannot be used.
struct ManifestError {
    /// The byte or key in error, and what was expected there.
    std::string why;
    /// The rule that the manifest breaks, or an empty text if it cannot be read.
    std::string_view rule;
};

/// The numbers of links without a matching link back.
struct LooseLinks {
    /// In the index: to a missing detail event, or to another event's.
    std::uint64_t dangling = 0;
    /// In the details: to a missing event, or to one with another detail event.
    std::uint64_t orphans = 0;
};

/// A thread's files.
class Thread {
public:
    Thread(std::uint32_t id, const std::filesystem::path& folder, Verify verify) : id_(id) {
        std::error_code error;
        const auto status = std::filesystem::symlink_status(folder, error);
        if (!std::filesystem::is_directory(status)) return;
        index_.open(folder / "index.atf", verify, refused_);
        detail_.open(folder / "detail.atf", verify, refused_);
        if (index_.file && detail_.file && index_.file->wire() != detail_.file->wire()) {
            detail_.file.reset();
            refused_.push_back({folder / "detail.atf",
                                {"detail.atf", 5, "detail header, version",
                                 "the version of index.atf", "ATF-LINK-008"}});
        }
    }

    // The files refer to the bytes, which a copy would not share.
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;
    Thread(Thread&&) = default;
    Thread& operator=(Thread&&) = default;

    /// The number in the name of the thread's folder.
    std::uint32_t id() const noexcept { return id_; }
    /// The index, or nothing if it is absent or refused.
    const std::optional<IndexFile>& index() const noexcept { return index_.file; }
    /// The details, or nothing if they are absent or refused.
    const std::optional<DetailFile>& detail() const noexcept { return detail_.file; }
    /// The files that were refused.
    const std::vector<RefusedFile>& refused() const noexcept { return refused_; }

    /// Whether every existing file was finalized, and no event is missing.
    bool is_whole() const {
        if (!index() || !index()->is_finalized() || !refused_.empty()) return false;
        if (detail() && !detail()->is_finalized()) return false;
        for (std::uint64_t seq = 0; seq < index()->size(); seq++) {
            if (index()->is_hole(seq)) return false;
        }
        return true;
    }

    /// Counts the links without a link back.
    LooseLinks loose_links() const {
        std::vector<std::uint64_t> back;
        if (detail()) {
            for (const DetailEvent& event : *detail()) back.push_back(event.header.index_seq);
        }
        const std::uint64_t count = index() ? index()->size() : 0;
        const auto link = [this](std::uint64_t seq) -> std::optional<std::uint64_t> {
            if (index()->is_hole(seq)) return std::nullopt;
            return (*index())[seq].detail_seq;
        };
        LooseLinks loose;
        for (std::uint64_t seq = 0; seq < count; seq++) {
            const auto to = link(seq);
            const bool is_mutual = to && *to < back.size() && back[static_cast<std::size_t>(*to)] == seq;
            if (to && !is_mutual) loose.dangling++;
        }
        for (std::size_t seq = 0; seq < back.size(); seq++) {
            if (back[seq] >= count || link(back[seq]) != seq) loose.orphans++;
        }
        return loose;
    }

private:
    template <typename File>
    struct Member {
        std::vector<std::uint8_t> bytes;
        std::optional<File> file;

        void open(const std::filesystem::path& path, Verify verify,
                  std::vector<RefusedFile>& refused) {
            auto loaded = load(path);
            if (!loaded) return;
            bytes = *std::move(loaded);
            file.emplace(Bytes{bytes.data(), bytes.size()}, verify);
            if (*file) return;
            refused.push_back({path, *file->refusal()});
            file.reset();
        }
    };

    std::uint32_t id_;
    Member<IndexFile> index_;
    Member<DetailFile> detail_;
    std::vector<RefusedFile> refused_;
};

/// The threads of a traced process.
class Session {
public:
    /// Opens a session's folder, or a folder that contains the folder of one process.
    explicit Session(const std::filesystem::path& path, Verify verify = Verify::Yes)
        : folder_(process(path)) {
        for (const auto& [id, folder] : numbered(folder_, "thread_")) {
            threads_.emplace_back(id, folder, verify);
        }
        const auto path_of_manifest = folder_ / "manifest.json";
        if (exists(path_of_manifest)) manifest_error_ = read_manifest(load(path_of_manifest));
    }

    /// The process's folder.
    const std::filesystem::path& folder() const noexcept { return folder_; }
    /// The threads, by id.
    const std::vector<Thread>& threads() const noexcept { return threads_; }
    /// The manifest, or nothing if it is absent or cannot be used.
    const std::optional<Manifest>& manifest() const noexcept { return manifest_; }
    /// Why the manifest cannot be used, if it exists but is invalid.
    const std::optional<ManifestError>& manifest_error() const noexcept { return manifest_error_; }

    /// Calls `visit(thread_id, seq, event)` for the events of all threads by time, then by thread
    /// and position, except for gaps.
    template <typename Visit>
    void merge(Visit visit) const {
        // The time, the thread's index in the list, which is sorted by id, and the position. A
        // thread's own events need not be in order.
        std::vector<std::tuple<std::uint64_t, std::size_t, std::uint64_t>> order;
        for (std::size_t place = 0; place < threads_.size(); place++) {
            const auto& index = threads_[place].index();
            for (std::uint64_t seq = 0; index && seq < index->size(); seq++) {
                if (!index->is_hole(seq)) order.emplace_back((*index)[seq].timestamp_ns, place, seq);
            }
        }
        std::sort(order.begin(), order.end());
        for (const auto& [time, place, seq] : order) {
            const Thread& thread = threads_[place];
            visit(thread.id(), seq, (*thread.index())[seq]);
        }
    }

private:
    using Numbered = std::vector<std::pair<std::uint32_t, std::filesystem::path>>;

    static bool exists(const std::filesystem::path& path) {
        std::error_code error;
        return std::filesystem::exists(std::filesystem::symlink_status(path, error));
    }

    std::optional<ManifestError> read_manifest(
        const std::optional<std::vector<std::uint8_t>>& bytes) {
        if (!bytes) return ManifestError{"not a readable file", ""};
        const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
        std::string why;
        const auto value = json::parse(text, why);
        if (!value) return ManifestError{why, "ATF-MANI-002"};
        if (value->object() == nullptr) return ManifestError{"no object", "ATF-MANI-002"};
        Manifest manifest;
        if (!manifest.read(*value, why)) return ManifestError{why.substr(1), "ATF-MANI-003"};
        manifest_ = std::move(manifest);
        return std::nullopt;
    }

    /// Lists the entries of a folder whose names are `prefix` and a 32-bit number, by number.
    static Numbered numbered(const std::filesystem::path& folder, std::string_view prefix) {
        Numbered found;
        std::error_code error;
        std::filesystem::directory_iterator entries(folder, error);
        for (; !error && entries != std::filesystem::directory_iterator();
             entries.increment(error)) {
            const std::string name = entries->path().filename().string();
            if (name.compare(0, prefix.size(), prefix) != 0) continue;
            std::uint32_t id = 0;
            const char* end = name.data() + name.size();
            const auto parsed = std::from_chars(name.data() + prefix.size(), end, id);
            if (parsed.ec == std::errc() && parsed.ptr == end) {
                found.emplace_back(id, entries->path());
            }
        }
        std::sort(found.begin(), found.end());
        return found;
    }

    /// Returns the folder of the only process, if the folder itself has no threads or manifest.
    static std::filesystem::path process(const std::filesystem::path& folder) {
        const Numbered processes = numbered(folder, "pid_");
        const bool is_session =
            exists(folder / "manifest.json") || !numbered(folder, "thread_").empty();
        return processes.size() == 1 && !is_session ? processes[0].second : folder;
    }

    std::filesystem::path folder_;
    std::vector<Thread> threads_;
    std::optional<Manifest> manifest_;
    std::optional<ManifestError> manifest_error_;
};

}  // namespace atf
