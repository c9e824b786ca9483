// Answers the conformance kit: testee read PATH, testee write SCRIPT OUT, testee serve (one path per
// line), or testee accessors (per line a record, its wire version and two instances in hex).

#include <atf/session.hpp>
#include <atf/session_writer.hpp>

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using atf::DetailFile;
using atf::IndexFile;

std::string in_quotes(const std::string& text) { return '"' + text + '"'; }
std::string text(std::uint64_t number) { return in_quotes(std::to_string(number)); }

/// 64-bit numbers are texts.
std::string json(std::uint64_t number) { return text(number); }
std::string json(std::uint32_t number) { return std::to_string(number); }
std::string json(std::uint16_t number) { return std::to_string(number); }
std::string json(std::uint8_t number) { return std::to_string(number); }

template <typename Enum, typename = std::enable_if_t<std::is_enum_v<Enum>>>
std::string json(Enum value) {
    return json(static_cast<std::uint32_t>(value));
}

std::string list(const std::vector<std::string>& items) {
    std::string all;
    for (const std::string& item : items) all += (all.empty() ? "" : ", ") + item;
    return "[" + all + "]";
}

template <typename Item, std::size_t count>
std::string json(const std::array<Item, count>& items) {
    std::vector<std::string> all;
    for (const Item& item : items) all.push_back(json(item));
    return list(all);
}

template <typename Value>
std::string json(const std::optional<Value>& value) {
    return value ? json(*value) : "null";
}

std::string hex(atf::Bytes bytes) {
    std::string all;
    for (const std::uint8_t byte : bytes) {
        all += "0123456789abcdef"[byte >> 4];
        all += "0123456789abcdef"[byte & 15];
    }
    return in_quotes(all);
}

class Object {
public:
    Object& add(const char* key, const std::string& json) {
        inner_ += (inner_.empty() ? "" : ", ") + in_quotes(key) + ": " + json;
        return *this;
    }
    std::string json() const { return "{" + inner_ + "}"; }

private:
    std::string inner_;
};

/// Returns a record's fields, except for the magic and those missing from the wire version.
template <typename Record>
Object document(const Record& record, int wire) {
    Object object;
    record.fields([&](const char* name, const auto& value) {
        const std::string key = name;
        const bool is_link = key.size() > 4 && key.compare(key.size() - 4, 4, "_seq") == 0;
        if (key == "magic" || (!is_link && json(value) == "null")) return;
        // Only version 2 has a 64-bit count.
        const bool is_narrow =
            std::is_same_v<Record, atf::IndexHeader> && wire != 2 && key == "event_count";
        const std::string own = json(value);
        object.add(name, is_narrow ? own.substr(1, own.size() - 2) : own);
    });
    return object;
}

std::vector<std::string> events(const IndexFile& file) {
    std::vector<std::string> all;
    for (const atf::IndexEvent& event : file) all.push_back(document(event, file.wire()).json());
    return all;
}

std::vector<std::string> events(const DetailFile& file) {
    std::vector<std::string> all;
    for (const atf::DetailEvent& event : file) {
        std::string function = "null";
        if (event.function) {
            Object registers = document(event.function->registers, file.wire());
            function = registers.add("stack", hex(event.function->stack)).json();
        }
        Object shown = document(event.header, file.wire());
        all.push_back(shown.add("payload", hex(event.payload)).add("function", function).json());
    }
    return all;
}

bool has_hole(const IndexFile& file) {
    for (std::uint64_t seq = 0; seq < file.size(); seq++) {
        if (file.is_hole(seq)) return true;
    }
    return false;
}

bool has_hole(const DetailFile&) { return false; }

std::string rejected(const char* kind) {
    return Object().add("kind", in_quotes(kind)).add("verdict", in_quotes("reject")).json();
}

struct Answer {
    std::string document;
    bool is_rejected;
};

template <typename File>
Answer of_file(const File& file, const char* kind) {
    if (!file) return {rejected(kind), true};
    const auto& footer = file.footer();
    const std::vector<std::string> shown = events(file);
    const char* counted = std::is_same_v<File, IndexFile> ? "file_size" : "framing";
    const char* checksum = !footer ? "not_checked" : footer->checksum != 0 ? "good" : "absent";
    const bool is_whole = file.is_finalized() && !has_hole(file);
    const std::string derived = Object()
                                    .add("event_count", text(shown.size()))
                                    .add("count_source", in_quotes(footer ? "footer" : counted))
                                    .add("checksum", in_quotes(checksum))
                                    .add("trailing_bytes", text(file.trailing_bytes()))
                                    .json();
    return {Object()
                .add("kind", in_quotes(kind))
                .add("verdict", in_quotes(is_whole ? "accept" : "recover"))
                .add("header", document(file.header(), file.wire()).json())
                .add("footer", footer ? document(*footer, file.wire()).json() : "null")
                .add("derived", derived)
                .add("events", list(shown))
                .json(),
            false};
}

template <typename File>
std::string of_member(const std::optional<File>& file, const atf::Thread& thread,
                      const char* kind) {
    if (file) return of_file(*file, kind).document;
    for (const atf::RefusedFile& refused : thread.refused()) {
        if (refused.path.stem() == kind) return rejected(kind);
    }
    return "null";
}

Answer of_session(const atf::Session& session) {
    bool has_index = session.threads().empty();
    bool is_whole = !session.manifest_error();
    std::uint64_t event_count = 0, detail_count = 0;
    std::vector<std::string> threads, merged;
    for (const atf::Thread& thread : session.threads()) {
        has_index = has_index || thread.index();
        is_whole = is_whole && thread.is_whole();
        event_count += thread.index() ? thread.index()->size() : 0;
        if (thread.detail()) {
            for (const atf::DetailEvent& event : *thread.detail()) {
                static_cast<void>(event);
                detail_count++;
            }
        }
        const atf::LooseLinks loose = thread.loose_links();
        const std::string derived = Object()
                                        .add("dangling_links", text(loose.dangling))
                                        .add("orphan_details", text(loose.orphans))
                                        .json();
        threads.push_back(Object()
                              .add("thread_id", json(thread.id()))
                              .add("index", of_member(thread.index(), thread, "index"))
                              .add("detail", of_member(thread.detail(), thread, "detail"))
                              .add("derived", derived)
                              .json());
    }
    std::optional<std::uint64_t> start, end;
    session.merge([&](std::uint32_t thread, std::uint64_t seq, const atf::IndexEvent& event) {
        if (!start) start = event.timestamp_ns;
        end = event.timestamp_ns;
        merged.push_back(list({json(thread), text(seq)}));
    });
    const char* manifest =
        session.manifest() ? "used" : session.manifest_error() ? "ignored" : "absent";
    if (const auto& error = session.manifest_error()) {
        std::cerr << "manifest.json: " << error->why << " (" << error->rule << ")\n";
    }
    const char* verdict = !has_index ? "reject" : is_whole ? "accept" : "recover";
    const std::string derived = Object()
                                    .add("manifest", in_quotes(manifest))
                                    .add("event_count", text(event_count))
                                    .add("detail_count", text(detail_count))
                                    .add("time_start_ns", json(start))
                                    .add("time_end_ns", json(end))
                                    .add("merged", list(merged))
                                    .json();
    return {Object()
                .add("kind", in_quotes("session"))
                .add("verdict", in_quotes(verdict))
                .add("threads", list(threads))
                .add("derived", derived)
                .json(),
            !has_index};
}

std::optional<Answer> read(const std::filesystem::path& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return of_session(atf::Session(path));
    const auto loaded = atf::load(path);
    if (!loaded) return std::nullopt;
    const atf::Bytes bytes{loaded->data(), loaded->size()};
    const bool has_magic = bytes.size >= 4 && std::memcmp(bytes.data, "ATD2", 4) == 0;
    if (has_magic || path.filename() == "detail.atf") return of_file(DetailFile(bytes), "detail");
    return of_file(IndexFile(bytes), "index");
}

std::vector<std::uint8_t> unhex(const std::string& text) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
        bytes.push_back(
            static_cast<std::uint8_t>(std::strtoul(text.substr(at, 2).c_str(), nullptr, 16)));
    }
    return bytes;
}

/// The keys of a script line.
class Keys {
public:
    explicit Keys(std::istringstream& words) {
        for (std::string word; words >> word;) {
            const std::size_t sign = word.find('=');
            all_[word.substr(0, sign)] = word.substr(sign + 1);
        }
    }

    bool has(const char* key) const { return all_.count(key) != 0 && all_.at(key) != "-"; }
    const std::string& text(const char* key) const { return all_.at(key); }
    std::uint64_t operator[](const char* key) const {
        return std::strtoull(text(key).c_str(), nullptr, 10);
    }
    std::uint32_t narrow(const char* key) const { return static_cast<std::uint32_t>((*this)[key]); }

private:
    std::map<std::string, std::string> all_;
};

/// Executes a line about a thread.
std::error_code carry_out(atf::ThreadWriter& thread, const std::string& name, const Keys& keys,
                          atf::IndexEvent& event) {
    if (name == "index") {
        event.timestamp_ns = keys["ts"];
        event.function_id = keys["fn"];
        event.event_kind = atf::EventKind{keys.narrow("kind")};
        event.call_depth = keys.narrow("depth");
        // The detail's line follows.
        return keys.has("detail") ? std::error_code() : thread.event(event);
    }
    if (name == "detail") {
        const auto payload = unhex(keys.text("payload"));
        const atf::Detail detail{{payload.data(), payload.size()},
                                 atf::DetailEventType{keys.narrow("type")},
                                 static_cast<std::uint16_t>(keys["flags"])};
        return thread.event(event, &detail);
    }
    if (name == "flush") return thread.flush();
    return name == "finalize" || name == "close" ? thread.finalize() : std::error_code();
}

/// Executes a script. Events that do not fit on a full disk are retried at the end.
int write(const char* script, const char* out) {
    signal(SIGXFSZ, SIG_IGN);
    std::optional<atf::SessionWriter> session;
    atf::IndexEvent event;
    std::ifstream lines(script);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        if (!(words >> name) || name[0] == '#') continue;
        const Keys keys(words);
        if (name == "kill") kill(getpid(), SIGKILL);
        if (name == "space") {
            rlimit limit{};
            getrlimit(RLIMIT_FSIZE, &limit);
            limit.rlim_cur = limit.rlim_max;
            setrlimit(RLIMIT_FSIZE, &limit);
        }
        if (name == "open" && !session) {
            atf::IndexHeader header;
            header.arch = atf::Arch{keys.narrow("arch")};
            header.os = atf::Os{keys.narrow("os")};
            header.clock_type = atf::Clock{keys.narrow("clock")};
            session.emplace(out, header, static_cast<int>(keys["wire"]));
        }
        if (!session) continue;
        // A destructor would finalize the files.
        if (name == "abort") std::_Exit(session->flush() ? 3 : 0);
        if (!keys.has("thread")) continue;
        if (const auto error = carry_out(session->thread(keys.narrow("thread")), name, keys, event)) {
            std::fprintf(stderr, "%s: %s\n", line.c_str(), error.message().c_str());
        }
    }
    const std::error_code error = session ? session->finalize() : std::error_code();
    if (error) std::fprintf(stderr, "%s: %s\n", out, error.message().c_str());
    return error ? 3 : 0;
}

template <typename Record>
std::string bytes_of(const Record& record, int wire) {
    std::array<std::uint8_t, Record::size> bytes{};
    record.write(bytes.data(), wire);
    return hex({bytes.data(), bytes.size()});
}

/// Decodes a record, and replaces each of its fields with the same field of another record.
std::string accessors(const std::string& request) {
    std::istringstream words(request);
    std::string name, first, second, answer;
    int wire = 0;
    words >> name >> wire >> first >> second;
    const auto one = unhex(first), other = unhex(second);
    atf::records([&](const char* own_name, auto record) {
        if (own_name != name) return;
        using Record = decltype(record);
        record = Record::read(one.data(), wire);
        Object set;
        Record::read(other.data(), wire).fields([&](const char* field, const auto& value) {
            Record changed = record;
            changed.fields([&](const char* own, auto& to) {
                if constexpr (std::is_same_v<std::decay_t<decltype(to)>, std::decay_t<decltype(value)>>) {
                    if (std::strcmp(own, field) == 0) to = value;
                }
            });
            set.add(field, bytes_of(changed, wire));
        });
        answer = Object().add("fields", document(record, wire).json()).add("set", set.json()).json();
    });
    return answer;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    if (command == "read" && argc == 3) {
        const std::optional<Answer> answer = read(argv[2]);
        if (!answer) return 3;
        std::puts(answer->document.c_str());
        return answer->is_rejected ? 1 : 0;
    }
    if (command == "write" && argc == 4) return write(argv[2], argv[3]);
    if ((command == "serve" || command == "accessors") && argc == 2) {
        for (std::string line; std::getline(std::cin, line);) {
            if (command == "accessors") {
                std::puts(accessors(line).c_str());
            } else {
                std::string why;
                const auto path = atf::json::parse(line, why);
                const std::string* name = path ? path->as<std::string>() : nullptr;
                const std::optional<Answer> answer = name != nullptr ? read(*name) : std::nullopt;
                if (!answer) return 3;
                std::puts(answer->document.c_str());
            }
            std::fflush(stdout);
        }
        return 0;
    }
    std::fputs("usage: testee read PATH | write SCRIPT OUT | serve | accessors\n", stderr);
    return 2;
}
