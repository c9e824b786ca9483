// Executes a script of the conformance kit, line by line, and creates one folder per thread.
//
//     writer SCRIPT OUT
//     writer --serve       answers one request a line: the two paths as a JSON array
//
// Keeps a thread's events in memory until the thread is finalized; a real tracer would flush
// them earlier.

#include "files.hpp"
#include "request.hpp"
#include "view.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t header_size = 64;

template <typename Record>
Bytes bytes_of(const Record &record) {
    const auto *first = reinterpret_cast<const std::uint8_t *>(&record);
    return Bytes(first, first + sizeof record);
}

void append(Bytes &to, const Bytes &more) { to.insert(to.end(), more.begin(), more.end()); }

Bytes unhex(const std::string &text) {
    Bytes bytes;
    for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
        bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(at, 2), nullptr, 16)));
    }
    return bytes;
}

// An operation's `key=value` words.
class Values {
  public:
    explicit Values(std::istream &words) {
        for (std::string word; words >> word;) {
            const auto equals = word.find('=');
            if (equals != std::string::npos) values[word.substr(0, equals)] = word.substr(equals + 1);
        }
    }

    const std::string &text(const std::string &key) const { return values.at(key); }

    template <typename Number>
    Number number(const std::string &key) const {
        return static_cast<Number>(std::stoull(text(key)));
    }

  private:
    std::map<std::string, std::string> values;
};

// The events of a file, with the values for its header and footer.
struct Section {
    Bytes bytes;
    std::uint64_t count = 0, time_start = 0, time_end = 0;

    void add(const Bytes &event, std::uint64_t time) {
        append(bytes, event);
        if (count++ == 0) time_start = time;
        time_end = time;
    }
};

class Thread {
  public:
    Thread(const Values &values, const fs::path &out)
        : id(values.number<std::uint32_t>("thread")), wire(values.number<unsigned>("wire")),
          clock(values.number<unsigned>("clock")), arch(values.number<std::uint8_t>("arch")),
          os(values.number<std::uint8_t>("os")), folder(out / ("thread_" + std::to_string(id))) {
        if (wire != 1 && wire != 2) throw std::invalid_argument("no such wire version");
        fs::create_directory(folder);
        // Write the thread now, so that readers find it even after a crash.
        put();
    }

    void index(const Values &values) {
        const auto time = values.number<std::uint64_t>("ts");
        const auto function = values.number<std::uint64_t>("fn");
        const auto kind = values.number<std::uint32_t>("kind");
        const bool has_detail = values.text("detail") != "-";
        if (wire == 1) {
            AtfV1IndexEvent event{};
            atf_v1_index_event_set_timestamp_ns(&event, time);
            atf_v1_index_event_set_function_id(&event, function);
            atf_v1_index_event_set_thread_id(&event, id);
            atf_v1_index_event_set_event_kind(&event, kind);
            atf_v1_index_event_set_call_depth(&event, values.number<std::uint32_t>("depth"));
            atf_v1_index_event_set_detail_seq(
                &event, has_detail ? values.number<std::uint32_t>("detail") : ATF_V1_NO_DETAIL_SEQ);
            events.add(bytes_of(event), time);
        } else {
            AtfV2IndexEvent event{};
            atf_v2_index_event_set_timestamp_ns(&event, time);
            atf_v2_index_event_set_function_id(&event, function);
            event.event_kind = static_cast<std::uint8_t>(kind);
            atf_v2_index_event_set_detail_seq(
                &event, has_detail ? values.number<std::uint64_t>("detail") : ATF_V2_NO_DETAIL_SEQ);
            events.add(bytes_of(event), time);
        }
    }

    void detail(const Values &values) {
        const auto index_seq = values.number<std::uint64_t>("index");
        const auto time = values.number<std::uint64_t>("ts");
        const Bytes payload = unhex(values.text("payload"));
        Bytes bytes;
        if (wire == 1) {
            AtfV1DetailEventHeader event{};
            atf_v1_detail_event_header_set_index_seq(&event, static_cast<std::uint32_t>(index_seq));
            atf_v1_detail_event_header_set_thread_id(&event, id);
            bytes = bytes_of(event);
        } else {
            AtfV2DetailEventHeader event{};
            atf_v2_detail_event_header_set_index_seq(&event, index_seq);
            bytes = bytes_of(event);
        }
        // These four fields have the same offsets in both wire versions.
        auto *event = reinterpret_cast<AtfV1DetailEventHeader *>(bytes.data());
        atf_v1_detail_event_header_set_total_length(
            event, static_cast<std::uint32_t>(bytes.size() + payload.size()));
        atf_v1_detail_event_header_set_event_type(event, values.number<std::uint16_t>("type"));
        atf_v1_detail_event_header_set_flags(event, values.number<std::uint16_t>("flags"));
        atf_v1_detail_event_header_set_timestamp(event, time);
        append(bytes, payload);
        details.add(bytes, time);
        first_index = details.count == 1 ? index_seq : std::min(first_index, index_seq);
        last_index = std::max(last_index, index_seq);
    }

    // The details come first because the index has a flag for them.
    void finalize() {
        is_final = true;
        put();
    }

    // An unfinalized thread has placeholder headers and no footers.
    void put() const {
        if (details.count > 0) {
            put("detail.atf", detail_header(false), details.bytes, detail_footer(),
                detail_header(is_final));
        }
        put("index.atf", index_header(false), events.bytes, index_footer(), index_header(is_final));
    }

    std::string manifest_entry() const {
        return "{\"id\": " + std::to_string(id) +
               ", \"has_detail\": " + (details.count > 0 ? "true}" : "false}");
    }

    const std::uint32_t id;
    const unsigned wire, clock;
    bool is_final = false;
    Section events, details;

  private:
    // The header with the counts is written last, in case the disk is full.
    void put(const char *name, const Bytes &placeholder, const Bytes &section, const Bytes &footer,
             const Bytes &header) const {
        std::ofstream file(folder / name, std::ios::binary);
        const auto write = [&](const Bytes &part) {
            file.write(reinterpret_cast<const char *>(part.data()),
                       static_cast<std::streamsize>(part.size()));
        };
        for (const Bytes *part : {&placeholder, &section, &footer}) write(*part);
        if (file.flush() && is_final) {
            file.seekp(0);
            write(header);
        }
        if (!file.flush()) throw std::runtime_error(std::string("cannot write ") + name);
    }

    Bytes index_header(bool is_final) const {
        if (wire == 1) {
            AtfV1IndexHeader header{};
            atf_v1_index_header_set_event_size(&header, ATF_V1_INDEX_HEADER_EVENT_SIZE);
            atf_v1_index_header_set_event_count(
                &header, static_cast<std::uint32_t>(is_final ? events.count : 0));
            return shared_index_header(bytes_of(header), is_final);
        }
        AtfV2IndexHeader header{};
        atf_v2_index_header_set_event_size(&header, ATF_V2_INDEX_HEADER_EVENT_SIZE);
        atf_v2_index_header_set_event_count(&header, is_final ? events.count : 0);
        return shared_index_header(bytes_of(header), is_final);
    }

    // Sets the fields that have the same offsets in both wire versions.
    Bytes shared_index_header(Bytes bytes, bool is_final) const {
        auto *header = reinterpret_cast<AtfV1IndexHeader *>(bytes.data());
        std::memcpy(header->magic, ATF_V1_INDEX_HEADER_MAGIC, sizeof header->magic);
        header->endian = ATF_V1_INDEX_HEADER_ENDIAN;
        header->version = static_cast<std::uint8_t>(wire);
        header->arch = arch;
        header->os = os;
        header->clock_type = static_cast<std::uint8_t>(clock);
        atf_v1_index_header_set_thread_id(header, id);
        atf_v1_index_header_set_events_offset(header, header_size);
        atf_v1_index_header_set_footer_offset(header, header_size);
        if (is_final) {
            const bool has_detail = details.count > 0;
            atf_v1_index_header_set_flags(header, has_detail ? ATF_INDEX_FLAG_HAS_DETAIL_FILE : 0);
            atf_v1_index_header_set_footer_offset(header, header_size + events.bytes.size());
            atf_v1_index_header_set_time_start_ns(header, events.time_start);
            atf_v1_index_header_set_time_end_ns(header, events.time_end);
        }
        return bytes;
    }

    Bytes index_footer() const {
        if (!is_final) return {};
        AtfV1IndexFooter footer{ATF_V1_INDEX_FOOTER_MAGIC_INIT, 0, 0, 0, 0, 0, {}};
        atf_v1_index_footer_set_checksum(&footer, crc32c(view(events.bytes)));
        atf_v1_index_footer_set_event_count(&footer, events.count);
        atf_v1_index_footer_set_time_start_ns(&footer, events.time_start);
        atf_v1_index_footer_set_time_end_ns(&footer, events.time_end);
        atf_v1_index_footer_set_bytes_written(&footer, events.bytes.size());
        return bytes_of(footer);
    }

    Bytes detail_header(bool is_final) const {
        AtfV1DetailHeader header{};
        std::memcpy(header.magic, ATF_V1_DETAIL_HEADER_MAGIC, sizeof header.magic);
        header.endian = ATF_V1_DETAIL_HEADER_ENDIAN;
        header.version = static_cast<std::uint8_t>(wire);
        header.arch = arch;
        header.os = os;
        atf_v1_detail_header_set_thread_id(&header, id);
        atf_v1_detail_header_set_events_offset(&header, header_size);
        if (is_final) {
            atf_v1_detail_header_set_event_count(&header, details.count);
            atf_v1_detail_header_set_bytes_length(&header, details.bytes.size());
            atf_v1_detail_header_set_index_seq_start(&header, first_index);
            atf_v1_detail_header_set_index_seq_end(&header, last_index);
        }
        return bytes_of(header);
    }

    // Unlike in the index footer, the length comes before the times.
    Bytes detail_footer() const {
        if (!is_final) return {};
        AtfV1DetailFooter footer{ATF_V1_DETAIL_FOOTER_MAGIC_INIT, 0, 0, 0, 0, 0, {}};
        atf_v1_detail_footer_set_checksum(&footer, crc32c(view(details.bytes)));
        atf_v1_detail_footer_set_event_count(&footer, details.count);
        atf_v1_detail_footer_set_bytes_length(&footer, details.bytes.size());
        atf_v1_detail_footer_set_time_start_ns(&footer, details.time_start);
        atf_v1_detail_footer_set_time_end_ns(&footer, details.time_end);
        return bytes_of(footer);
    }

    const std::uint8_t arch, os;
    const fs::path folder;
    std::uint64_t first_index = 0, last_index = 0;
};

void write_manifest(const std::map<std::uint32_t, Thread> &threads, const fs::path &out) {
    std::ofstream file(out / "manifest.json");
    file << "{\"threads\": [";
    const char *separator = "";
    for (const auto &[id, thread] : threads) {
        file << separator << thread.manifest_entry();
        separator = ", ";
    }
    file << "]}\n";
}

// Frees space on the simulated full disk by raising the file size limit.
void make_room() {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("getrlimit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("setrlimit");
}

void carry_out(const fs::path &path, const fs::path &out) {
    std::ifstream script(path);
    if (!script) throw std::runtime_error("cannot open the script");
    std::map<std::uint32_t, Thread> threads;
    for (std::string line; std::getline(script, line);) {
        std::istringstream words(line);
        std::string name;
        if (!(words >> name) || name[0] == '#') continue;
        if (name == "abort") break;
        if (name == "kill") kill(getpid(), SIGKILL);
        if (name == "space") {
            make_room();
            continue;
        }
        const Values values(words);
        const auto id = values.number<std::uint32_t>("thread");
        if (name == "open") {
            threads.try_emplace(id, values, out);
        } else if (name == "index") {
            threads.at(id).index(values);
        } else if (name == "detail") {
            threads.at(id).detail(values);
        } else if (name == "finalize") {
            threads.at(id).finalize();
        } else if (name == "flush" || name == "close") {
            threads.at(id).put();
        } else {
            throw std::invalid_argument("no such operation: " + name);
        }
    }
    for (const auto &[id, thread] : threads) {
        if (!thread.is_final) thread.put();
    }
    write_manifest(threads, out);
}

} // namespace

int main(int argc, char **argv) {
    const bool is_served = argc == 2 && argv[1] == std::string("--serve");
    if (argc != 3 && !is_served) {
        std::cerr << "usage: writer SCRIPT OUT | --serve\n";
        return 2;
    }
    try {
        if (!is_served) carry_out(argv[1], argv[2]);
        for (std::string line; is_served && std::getline(std::cin, line);) {
            const auto paths = strings(line);
            carry_out(paths.at(0), paths.at(1));
            std::cout << 0 << std::endl;
        }
    } catch (const std::exception &error) {
        std::cerr << "writer: " << error.what() << '\n';
        return 3;
    }
    return 0;
}
