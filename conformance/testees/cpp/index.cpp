#include "index.hpp"

#include <cstddef>

namespace {

constexpr std::uint64_t header_size = 64, event_size = 32, footer_size = 64;

// The header of either wire version.
struct Header {
    unsigned wire;
    std::uint32_t flags;
    std::uint64_t event_count, events_offset, footer_offset, time_start_ns, time_end_ns;

    // Returns whether the header was never rewritten.
    bool is_placeholder() const {
        return flags == 0 && event_count == 0 && time_start_ns == 0 && time_end_ns == 0 &&
               (footer_offset == 0 || footer_offset == header_size);
    }

    // Returns whether two fields of a rewritten header agree on the end of the events. A header without
    // a count may be a placeholder in which a field was set early.
    bool is_end_known() const {
        if (event_count == 0 || footer_offset < events_offset) return false;
        const std::uint64_t size = footer_offset - events_offset;
        return size % event_size == 0 && size / event_size == event_count;
    }

    // Returns whether that end is in the file, and data follows.
    bool is_end_proven(View file) const {
        return is_end_known() && file.size_without_zeros() > footer_offset;
    }
};

std::uint32_t kind(const Header &header, const void *event) {
    if (header.wire == 2) return static_cast<const AtfV2IndexEvent *>(event)->event_kind;
    return atf_v1_index_event_get_event_kind(static_cast<const AtfV1IndexEvent *>(event));
}

// Returns whether an event has one of the kinds that exist.
bool has_kind(const Header &header, const void *event) {
    const std::uint32_t found = kind(header, event);
    return found >= ATF_EVENT_KIND_CALL && found <= ATF_EVENT_KIND_EXCEPTION;
}

// Returns whether there is one of the events that the header counts, even if it looks like a footer: it
// has the kind of an event.
bool is_counted(View file, const Header &header, std::uint64_t place) {
    const auto *event = file.record<AtfV1IndexEvent>(place);
    if (!header.is_end_known() || place >= header.footer_offset || event == nullptr) return false;
    return has_kind(header, event);
}

// Returns how much the start time of a footer proves: 0 if it is 0 or not the first event's, 2 if, as
// an event, the bytes would have no known kind.
int weight_of_start_time(View file, const Header &header, const AtfV1IndexFooter *footer) {
    const std::uint64_t time = atf_v1_index_footer_get_time_start_ns(footer);
    const auto *first = file.record<AtfV1IndexEvent>(header.events_offset);
    if (time == 0 || time != atf_v1_index_event_get_timestamp_ns(first)) return 0;
    return has_kind(header, footer) ? 1 : 2;
}

std::optional<Header> decode_header(View file) {
    const auto *at = file.record<AtfV1IndexHeader>(0);
    const auto *at_v2 = file.record<AtfV2IndexHeader>(0);
    if (at == nullptr || !file.starts_with(ATF_V1_INDEX_HEADER_MAGIC)) return std::nullopt;
    if (at->endian != ATF_V1_INDEX_HEADER_ENDIAN) return std::nullopt;
    // Version 2 has an event size where version 1 has zeros. A layout with the other version's number
    // is rejected, because a count of 32 events would look like an event size.
    const bool is_layout_v2 = atf_v2_index_header_get_event_size(at_v2) == event_size;
    switch (at->version) {
    case 1:
        if (is_layout_v2 || atf_v1_index_header_get_event_size(at) != event_size) return std::nullopt;
        break;
    case 2:
        if (!is_layout_v2) return std::nullopt;
        break;
    default: return std::nullopt;
    }
    const Header header{at->version,
                        atf_v1_index_header_get_flags(at),
                        at->version == 1 ? atf_v1_index_header_get_event_count(at)
                                         : atf_v2_index_header_get_event_count(at_v2),
                        atf_v1_index_header_get_events_offset(at),
                        atf_v1_index_header_get_footer_offset(at),
                        atf_v1_index_header_get_time_start_ns(at),
                        atf_v1_index_header_get_time_end_ns(at)};
    const bool is_inside = header.events_offset >= header_size && header.events_offset <= file.size();
    return is_inside ? std::optional(header) : std::nullopt;
}

// A possible footer: 64 bytes at some offset after the events.
struct Candidate {
    const AtfV1IndexFooter *footer;
    std::uint64_t events_size;

    bool has_magic() const {
        return std::memcmp(footer->magic, ATF_V1_INDEX_FOOTER_MAGIC, sizeof footer->magic) == 0;
    }
    bool has_zero_reserved() const { return View(footer->reserved, sizeof footer->reserved).is_zero(); }
    bool measures() const { return atf_v1_index_footer_get_bytes_written(footer) == events_size; }
    bool counts() const {
        return events_size % event_size == 0 &&
               atf_v1_index_footer_get_event_count(footer) == events_size / event_size;
    }
    // Returns whether this is a footer, with the magic and numbers that match the offset.
    bool is_footer() const { return has_magic() && measures() && counts(); }
    bool is_zero() const { return View(footer->magic, footer_size).is_zero(); }
};

class Footers {
  public:
    Footers(View file, const Header &header) : file(file), header(header) {}

    // Looks for the footer where a rewritten header places it, at the end, and after each event. Under a
    // placeholder, the first of two footers counts.
    std::optional<std::uint64_t> find() const {
        for (const std::uint64_t place : {header.footer_offset, at_end()}) {
            if (!header.is_placeholder() && is_footer(place)) return place;
        }
        for (std::uint64_t place = header.events_offset; file.has(place, footer_size);
             place += event_size) {
            if (is_footer(place)) return place;
        }
        return std::nullopt;
    }

    // Returns whether there is a damaged footer. It can be neither trusted nor read as events.
    bool has_damaged() const {
        if (is_damaged(at_end(), true)) return true;
        if (!header.is_placeholder() && is_damaged(header.footer_offset, true)) return true;
        for (std::uint64_t place = header.events_offset; file.has(place, footer_size);
             place += event_size) {
            // Nothing but zeros follows.
            const std::uint64_t end = file.size_without_zeros();
            const bool is_last = at(place)->has_magic() && end > place + event_size &&
                                 end <= place + footer_size;
            if (is_damaged(place, is_last)) return true;
        }
        return false;
    }

  private:
    std::uint64_t at_end() const { return file.size() - footer_size; }

    std::optional<Candidate> at(std::uint64_t place) const {
        if (place < header.events_offset || !file.has(place, footer_size)) return std::nullopt;
        return Candidate{file.record<AtfV1IndexFooter>(place), place - header.events_offset};
    }

    bool is_footer(std::uint64_t place) const {
        const auto candidate = at(place);
        return candidate && candidate->is_footer();
    }

    // Returns whether two of a footer's magic, numbers, start time and reserved bytes are right. Where
    // none is expected, two of magic and numbers must be right, and one of the others.
    bool is_damaged(std::uint64_t place, bool is_expected) const {
        const auto candidate = at(place);
        if (!candidate) return false;
        if (is_counted(file, header, place)) return false;
        if (place == header.footer_offset && header.is_end_proven(file)) return !candidate->is_zero();
        const int magic = candidate->has_magic(), reserved = candidate->has_zero_reserved();
        const int numbers = candidate->measures() + candidate->counts();
        const bool has_events = candidate->events_size > 0;
        const bool is_after_events = has_events && candidate->events_size % event_size == 0;
        const int time = is_after_events ? weight_of_start_time(file, header, candidate->footer) : 0;
        if (!is_expected) return (reserved || time) && magic + numbers == 2 && (has_events || magic);
        // Without events, the numbers are 0 and match any zeros.
        return magic + reserved + (has_events ? numbers + time : 0) >= 2;
    }

    View file;
    const Header &header;
};

// Counts the events up to the last byte that is not 0.
std::uint64_t touched_events(View section) {
    return (section.size_without_zeros() + event_size - 1) / event_size;
}

// Finds a torn footer: the file or its data ends within it. Zeros at the end of the file do not count
// as written. Without this, 32 bytes of a footer could count as an event.
class TornFooter {
  public:
    TornFooter(View file, const Header &header) : file(file), header(header) {}

    // Returns how many events precede it.
    std::optional<std::uint64_t> find() const {
        if (header.is_end_proven(file)) return std::nullopt;
        const View rest = file.from(header_size);
        const std::uint64_t data = rest.size_without_zeros(), last = touched_events(rest);
        for (std::uint64_t seq = last > 2 ? last - 2 : 0; seq < last; seq++) {
            const std::uint64_t place = seq * event_size, written = data - place;
            if (is_counted(file, header, header_size + place)) continue;
            const View left = rest.from(place);
            AtfV1IndexFooter cut{};
            std::memcpy(&cut, left.begin(), std::min(left.size(), footer_size));
            const bool is_cut = left.size() < footer_size || written <= length_place;
            if (written > length_place && ends(cut, seq)) return seq;
            if (is_cut && begins(cut, written, seq)) return seq;
        }
        return std::nullopt;
    }

  private:
    static constexpr std::uint64_t count_place = offsetof(AtfV1IndexFooter, event_count);
    static constexpr std::uint64_t length_place = offsetof(AtfV1IndexFooter, bytes_written);

    // Returns whether two of its magic, count and start time are right, or its magic as far as it was
    // written, or its start time where no event can be.
    bool begins(const AtfV1IndexFooter &cut, std::uint64_t written, std::uint64_t seq) const {
        AtfV1IndexFooter whole{ATF_V1_INDEX_FOOTER_MAGIC_INIT, 0, 0, 0, 0, 0, {}};
        atf_v1_index_footer_set_event_count(&whole, seq);
        const auto agrees = [&](std::uint64_t offset, std::uint64_t size) {
            if (written <= offset) return true;
            const auto left = std::min(size, written - offset);
            return std::memcmp(cut.magic + offset, whole.magic + offset, left) == 0;
        };
        const bool magic = agrees(0, sizeof whole.magic), count = agrees(count_place, 8);
        if (seq == 0 || written <= count_place || (magic && count)) return magic && count;
        return (magic || count) + weight_of_start_time(file, header, &cut) >= 2;
    }

    // Returns whether the first half never reached the disk, and the rest has the events' length.
    static bool ends(const AtfV1IndexFooter &cut, std::uint64_t seq) {
        return View(cut.magic, length_place).is_zero() &&
               View(cut.reserved, sizeof cut.reserved).is_zero() &&
               atf_v1_index_footer_get_bytes_written(&cut) == seq * event_size;
    }

    View file;
    const Header &header;
};

// Counts the complete events of a file without a footer.
std::uint64_t surviving_events(View file, const Header &header) {
    if (header.is_end_proven(file)) return header.event_count;
    const View rest = file.from(header_size);
    const std::uint64_t whole = rest.size() / event_size;
    const std::uint64_t touched = touched_events(rest.part(0, whole * event_size));
    // Zeros at the end, or before a torn event, are preallocated space or blocks that never reached
    // the disk. An event of kind 0 right before them is torn.
    const bool is_zero_tail =
        rest.size_without_zeros() <= whole * event_size && rest.size() > whole * event_size;
    const bool is_before_zeros = touched < whole || is_zero_tail;
    if (touched == 0 || !is_before_zeros) return touched;
    const std::uint64_t last = touched - 1;
    const auto *event = file.record<AtfV1IndexEvent>(header_size + last * event_size);
    return kind(header, event) == 0 ? last : touched;
}

} // namespace

std::optional<Index> Index::open(View file) {
    const auto header = decode_header(file);
    if (!header) return std::nullopt;
    const std::uint64_t start = header->events_offset;
    const Footers footers(file, *header);
    Index index(file);
    index.wire = header->wire;
    bool is_finalized = false;
    std::uint64_t count = 0;
    if (const auto place = footers.find()) {
        const auto *footer = file.record<AtfV1IndexFooter>(*place);
        const std::uint32_t checksum = atf_v1_index_footer_get_checksum(footer);
        const View section = file.part(start, *place - start);
        if (checksum != 0 && checksum != crc32c(section)) return std::nullopt;
        index.footer = footer;
        index.end = *place + footer_size;
        count = section.size() / event_size;
        // Without events, only footer_offset distinguishes a placeholder from a rewritten header.
        const bool says_all = count == 0 && header->footer_offset == *place &&
                              atf_v1_index_footer_get_time_start_ns(footer) == 0 &&
                              atf_v1_index_footer_get_time_end_ns(footer) == 0;
        is_finalized = !header->is_placeholder() || says_all;
    } else {
        // A different events_offset is valid only if a footer confirms it.
        if (start != header_size) return std::nullopt;
        const auto torn = TornFooter(file, *header).find();
        if (!torn && footers.has_damaged()) return std::nullopt;
        count = torn ? *torn : surviving_events(file, *header);
        index.end = start + count * event_size;
    }
    index.read_events(start, count);
    const auto is_hole = [](const IndexEvent &event) { return event.is_hole; };
    if (is_finalized && std::none_of(index.events.begin(), index.events.end(), is_hole)) {
        index.verdict = Verdict::accept;
    }
    return index;
}

void Index::read_events(std::uint64_t start, std::uint64_t count) {
    // A verified checksum proves that zeros were really written.
    const bool is_proven = has_footer() && atf_v1_index_footer_get_checksum(footer) != 0;
    for (std::uint64_t seq = 0; seq < count; seq++) {
        const std::uint64_t place = start + seq * event_size;
        const auto *bytes = file.record<AtfV1IndexEvent>(place);
        std::optional<std::uint64_t> link;
        if (wire == 1) {
            const std::uint32_t to = atf_v1_index_event_get_detail_seq(bytes);
            if (to != ATF_V1_NO_DETAIL_SEQ) link = to;
        } else {
            const auto *bytes_v2 = file.record<AtfV2IndexEvent>(place);
            const std::uint64_t to = atf_v2_index_event_get_detail_seq(bytes_v2);
            if (to != ATF_V2_NO_DETAIL_SEQ) link = to;
        }
        const bool is_hole = !is_proven && file.part(place, event_size).is_zero();
        events.push_back({bytes, atf_v1_index_event_get_timestamp_ns(bytes), link, is_hole});
    }
}

std::string Index::header() const {
    const auto *at = file.record<AtfV1IndexHeader>(0);
    const auto *at_v2 = file.record<AtfV2IndexHeader>(0);
    Object fields;
    fields.add("endian", at->endian)
        .add("version", at->version)
        .add("arch", at->arch)
        .add("os", at->os)
        .add("flags", atf_v1_index_header_get_flags(at))
        .add("thread_id", atf_v1_index_header_get_thread_id(at))
        .add("clock_type", at->clock_type)
        .add("event_size", std::uint32_t{event_size});
    if (wire == 1) {
        fields.add("event_count", atf_v1_index_header_get_event_count(at));
    } else {
        fields.add("event_count", text(atf_v2_index_header_get_event_count(at_v2)));
    }
    return fields.add("events_offset", text(atf_v1_index_header_get_events_offset(at)))
        .add("footer_offset", text(atf_v1_index_header_get_footer_offset(at)))
        .add("time_start_ns", text(atf_v1_index_header_get_time_start_ns(at)))
        .add("time_end_ns", text(atf_v1_index_header_get_time_end_ns(at)))
        .json();
}

std::string Index::event(const IndexEvent &event) const {
    Object fields;
    fields.add("timestamp_ns", text(event.timestamp_ns))
        .add("function_id", text(atf_v1_index_event_get_function_id(event.bytes)));
    if (wire == 1) {
        fields.add("thread_id", atf_v1_index_event_get_thread_id(event.bytes))
            .add("event_kind", atf_v1_index_event_get_event_kind(event.bytes))
            .add("call_depth", atf_v1_index_event_get_call_depth(event.bytes));
    } else {
        fields.add("event_kind", reinterpret_cast<const AtfV2IndexEvent *>(event.bytes)->event_kind);
    }
    return fields.add("detail_seq", text(event.detail_seq)).json();
}

std::string Index::document(Verdict verdict) const {
    if (verdict == Verdict::reject) return rejected("index");
    std::vector<std::string> all;
    for (const IndexEvent &each : events) all.push_back(event(each));
    std::string end_fields = "null";
    std::optional<std::uint32_t> checksum;
    if (footer != nullptr) {
        checksum = atf_v1_index_footer_get_checksum(footer);
        end_fields = Object()
                         .add("checksum", *checksum)
                         .add("event_count", text(atf_v1_index_footer_get_event_count(footer)))
                         .add("time_start_ns", text(atf_v1_index_footer_get_time_start_ns(footer)))
                         .add("time_end_ns", text(atf_v1_index_footer_get_time_end_ns(footer)))
                         .add("bytes_written", text(atf_v1_index_footer_get_bytes_written(footer)))
                         .json();
    }
    const char *source = footer != nullptr ? "footer" : "file_size";
    return Object()
        .add("kind", quoted("index"))
        .add("verdict", quoted(name(verdict)))
        .add("header", header())
        .add("events", list(all))
        .add("footer", end_fields)
        .add("derived", derived(events.size(), source, checksum, file.size() - end))
        .json();
}
