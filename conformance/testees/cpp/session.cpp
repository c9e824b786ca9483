#include "session.hpp"

#include "detail.hpp"
#include "files.hpp"
#include "index.hpp"
#include "manifest.hpp"

#include <charconv>
#include <memory>
#include <tuple>

namespace {

namespace fs = std::filesystem;

using Seq = std::uint64_t;
// An event in the merged order of all threads, as time, thread and position.
using Moment = std::tuple<std::uint64_t, std::uint32_t, Seq>;

// A thread's file and its verdict.
template <typename Format>
class Member {
  public:
    explicit Member(const fs::path &path) : is_link(fs::is_symlink(symlink_status(path))), bytes(load(path)) {
        if (bytes) format = Format::open(view(*bytes));
        if (format) verdict = format->verdict;
    }
    // In a copy, the format would still refer to the bytes of the original.
    Member(const Member &) = delete;

    bool is_there() const { return bytes.has_value(); }
    // A rejected file has no events.
    const Format *read() const { return verdict == Verdict::reject ? nullptr : &*format; }
    void refuse() { verdict = Verdict::reject; }
    bool is_accepted() const { return verdict == Verdict::accept; }

    std::string document(const char *kind) const {
        if (!is_there()) return "null";
        return format ? format->document(verdict) : rejected(kind);
    }

    // Symlinks are not followed because they may lead outside the session.
    const bool is_link;

  private:
    std::optional<Bytes> bytes;
    std::optional<Format> format;
    Verdict verdict = Verdict::reject;
};

// The links between the two files. An unreadable file has no links.
class Links {
  public:
    Links(const Index *index, const Detail *detail) {
        if (index != nullptr) events = &index->events;
        if (detail != nullptr) back = &detail->index_seqs;
    }

    // Returns the targets of links in the index that have no matching link back.
    std::vector<Seq> dangling() const {
        std::vector<Seq> found;
        for (Seq seq = 0; seq < events->size(); seq++) {
            const auto to = link(seq);
            if (to && (*to >= back->size() || (*back)[*to] != seq)) found.push_back(*to);
        }
        return found;
    }

    // Returns the targets of links in the details that have no matching link back.
    std::vector<Seq> orphans() const {
        std::vector<Seq> found;
        for (Seq seq = 0; seq < back->size(); seq++) {
            const Seq to = (*back)[seq];
            if (to >= events->size() || link(to) != seq) found.push_back(to);
        }
        return found;
    }

  private:
    std::optional<Seq> link(Seq seq) const {
        const IndexEvent &event = (*events)[seq];
        return event.is_hole ? std::nullopt : event.detail_seq;
    }

    static inline const std::vector<IndexEvent> no_events;
    static inline const std::vector<Seq> no_details;
    const std::vector<IndexEvent> *events = &no_events;
    const std::vector<Seq> *back = &no_details;
};

class Thread {
  public:
    Thread(std::uint32_t id, const fs::path &folder)
        : id(id), is_folder(fs::is_directory(symlink_status(folder))),
          index(is_folder ? folder / "index.atf" : ""), detail(is_folder ? folder / "detail.atf" : "") {
        refuse_other_wire();
    }

    bool is_read() const { return index.read() != nullptr; }

    bool is_whole() const {
        return index.is_accepted() && !detail.is_link && (!detail.is_there() || detail.is_accepted());
    }

    std::uint64_t event_count() const { return is_read() ? index.read()->events.size() : 0; }

    std::uint64_t detail_count() const {
        return detail.read() != nullptr ? detail.read()->index_seqs.size() : 0;
    }

    // Holes are left out because they have no time.
    void add_moments(std::vector<Moment> &to) const {
        for (Seq seq = 0; seq < event_count(); seq++) {
            const IndexEvent &event = index.read()->events[seq];
            if (!event.is_hole) to.emplace_back(event.timestamp_ns, id, seq);
        }
    }

    std::string document() const {
        const Links links(index.read(), detail.read());
        const std::string loose = Object()
                                      .add("dangling_links", text(links.dangling().size()))
                                      .add("orphan_details", text(links.orphans().size()))
                                      .json();
        return Object()
            .add("thread_id", id)
            .add("index", index.document("index"))
            .add("detail", detail.document("detail"))
            .add("derived", loose)
            .json();
    }

  private:
    // A detail file of the other wire version cannot belong to this thread.
    void refuse_other_wire() {
        if (!is_read() || detail.read() == nullptr) return;
        if (detail.read()->wire != index.read()->wire) detail.refuse();
    }

    const std::uint32_t id;
    const bool is_folder;
    Member<Index> index;
    Member<Detail> detail;
};

// Lists the entries of a folder whose names are `prefix` and a decimal 32-bit number, in ascending
// order. The names come from the folder, never from the manifest.
std::vector<std::pair<std::uint32_t, fs::path>> numbered(const fs::path &folder,
                                                         const std::string &prefix) {
    std::vector<std::pair<std::uint32_t, fs::path>> found;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.compare(0, prefix.size(), prefix) != 0) continue;
        std::uint32_t id = 0;
        const char *end = name.data() + name.size();
        const auto parsed = std::from_chars(name.data() + prefix.size(), end, id);
        if (parsed.ec == std::errc() && parsed.ptr == end) found.emplace_back(id, entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

// Returns the folder of the only process, if the folder itself has neither threads nor a manifest.
fs::path process_folder(const fs::path &folder) {
    if (exists(symlink_status(folder / "manifest.json"))) return folder;
    if (!numbered(folder, "thread_").empty()) return folder;
    const auto processes = numbered(folder, "pid_");
    const bool is_one = processes.size() == 1 && is_directory(symlink_status(processes[0].second));
    return is_one ? processes[0].second : folder;
}

Verdict judge(const std::vector<std::unique_ptr<Thread>> &threads, const std::string &manifest) {
    const auto is_read = [](const auto &thread) { return thread->is_read(); };
    const auto is_whole = [](const auto &thread) { return thread->is_whole(); };
    if (!threads.empty() && std::none_of(threads.begin(), threads.end(), is_read)) {
        return Verdict::reject;
    }
    const bool are_whole = std::all_of(threads.begin(), threads.end(), is_whole);
    return are_whole && manifest != "ignored" ? Verdict::accept : Verdict::recover;
}

} // namespace

Answer read_session(const fs::path &path) {
    const fs::path folder = process_folder(path);
    const std::string manifest = manifest_state(folder / "manifest.json");
    std::vector<std::unique_ptr<Thread>> threads;
    std::vector<std::string> documents, order;
    std::vector<Moment> moments;
    std::uint64_t events = 0, details = 0;
    for (const auto &[id, thread_folder] : numbered(folder, "thread_")) {
        const auto &thread = threads.emplace_back(std::make_unique<Thread>(id, thread_folder));
        documents.push_back(thread->document());
        thread->add_moments(moments);
        events += thread->event_count();
        details += thread->detail_count();
    }
    std::sort(moments.begin(), moments.end());
    for (const auto &[time, thread, seq] : moments) {
        order.push_back(list({std::to_string(thread), text(seq)}));
    }
    const auto time = [&](const Moment *moment) { return text(std::get<0>(*moment)); };
    const std::string derived =
        Object()
            .add("manifest", quoted(manifest))
            .add("event_count", text(events))
            .add("detail_count", text(details))
            .add("time_start_ns", moments.empty() ? "null" : time(&moments.front()))
            .add("time_end_ns", moments.empty() ? "null" : time(&moments.back()))
            .add("merged", list(order))
            .json();
    const Verdict verdict = judge(threads, manifest);
    const std::string document = Object()
                                     .add("kind", quoted("session"))
                                     .add("verdict", quoted(name(verdict)))
                                     .add("threads", list(documents))
                                     .add("derived", derived)
                                     .json();
    return {document, verdict};
}
