#include "detail.hpp"

#include <cstddef>

namespace {

constexpr std::uint64_t header_size = 64, event_header_size = 24, footer_size = 64;
constexpr std::uint64_t payload_size = 100;

// Where a walk from event to event ended, and whether it reached its intended end.
struct Walk {
    std::vector<std::uint64_t> places;
    std::uint64_t end;
    bool is_whole;
};

// A detail file with a valid header.
class File {
  public:
    static std::optional<File> open(View bytes) {
        const auto *header = bytes.record<AtfV1DetailHeader>(0);
        if (header == nullptr || !bytes.starts_with(ATF_V1_DETAIL_HEADER_MAGIC)) return std::nullopt;
        if (header->endian != ATF_V1_DETAIL_HEADER_ENDIAN) return std::nullopt;
        if (header->version != 1 && header->version != 2) return std::nullopt;
        const File file(bytes, header);
        if (file.start < header_size || file.start > bytes.size()) return std::nullopt;
        return file;
    }

    Walk walk(std::uint64_t end) const {
        Walk walk{{}, start, false};
        while (end - walk.end >= event_header_size) {
            const auto *event = bytes.record<AtfV1DetailEventHeader>(walk.end);
            const std::uint32_t length = atf_v1_detail_event_header_get_total_length(event);
            if (length < event_header_size || length > end - walk.end) return walk;
            walk.places.push_back(walk.end);
            walk.end += length;
        }
        walk.is_whole = walk.end == end;
        return walk;
    }

    // Returns whether the header was never rewritten.
    bool is_placeholder() const {
        return count == 0 && length == 0 && atf_v1_detail_header_get_index_seq_start(header) == 0 &&
               atf_v1_detail_header_get_index_seq_end(header) == 0;
    }

    // Looks for the footer where the header places it, at the end, and before trailing bytes.
    std::optional<std::uint64_t> find_footer() const {
        const auto stated = add(start, length);
        if (stated && is_footer(*stated)) return stated;
        if (is_footer(at_end())) return at_end();
        const Walk all = walk(bytes.size());
        const auto found = std::find_if(all.places.begin(), all.places.end(),
                                        [this](std::uint64_t place) { return is_footer(place); });
        if (found != all.places.end()) return *found;
        return is_footer(all.end) ? std::optional(all.end) : std::nullopt;
    }

    // Returns whether there is a damaged footer: its reserved bytes and its magic or its length are
    // right. It can be neither trusted nor read as events.
    bool has_damaged_footer() const {
        const auto stated = add(start, length);
        if ((stated && is_damaged(*stated)) || is_damaged(at_end())) return true;
        // Elsewhere, a footer is where an event could begin.
        const std::uint64_t end = walk(bytes.size()).end;
        if (footer_at(end) != nullptr && has_magic(footer_at(end)) && is_damaged(end)) return true;
        // If the header proves that a footer exists, other nonzero bytes in its place are damage.
        auto proved = counted_end();
        if (!proved && is_rewritten() && stated == at_end()) proved = stated;
        return proved && bytes.has(*proved, footer_size) &&
               !bytes.part(*proved, footer_size).is_zero();
    }

    // Returns the end of the events according to the header's length, if its count matches.
    std::optional<std::uint64_t> counted_end() const {
        const auto end = add(start, length);
        if (!is_rewritten() || !end || *end > bytes.size()) return std::nullopt;
        const Walk counted = walk(*end);
        return counted.is_whole && counted.places.size() == count ? end : std::nullopt;
    }

    // Returns whether zeros follow the last event and its timestamp was never written.
    bool is_torn(std::uint64_t last, std::uint64_t end) const {
        const std::uint64_t time = last + offsetof(AtfV1DetailEventHeader, timestamp);
        return end < bytes.size() && bytes.from(time).is_zero();
    }

    const std::uint64_t start;

  private:
    File(View bytes, const AtfV1DetailHeader *header)
        : start(atf_v1_detail_header_get_events_offset(header)), bytes(bytes), header(header),
          count(atf_v1_detail_header_get_event_count(header)),
          length(atf_v1_detail_header_get_bytes_length(header)) {}

    // A header with only one of these fields set is a placeholder that was not rewritten.
    bool is_rewritten() const { return count > 0 && length > 0; }

    std::uint64_t at_end() const { return bytes.size() - footer_size; }

    const AtfV1DetailFooter *footer_at(std::uint64_t place) const {
        return place < start ? nullptr : bytes.record<AtfV1DetailFooter>(place);
    }

    static bool has_magic(const AtfV1DetailFooter *footer) {
        return std::memcmp(footer->magic, ATF_V1_DETAIL_FOOTER_MAGIC, sizeof footer->magic) == 0;
    }

    bool measures(const AtfV1DetailFooter *footer, std::uint64_t place) const {
        return atf_v1_detail_footer_get_bytes_length(footer) == place - start;
    }

    // Returns whether the offset is inside an event, where captured memory may look like a footer.
    // If the footer's numbers match too, the events must then continue to the end of the file or
    // to zeros.
    bool is_payload(std::uint64_t place, bool fits) const {
        if (is_rewritten() && add(start, length) == place) return false;
        const Walk all = walk(bytes.size());
        const bool is_boundary = std::binary_search(all.places.begin(), all.places.end(), place);
        return all.end > place && !is_boundary && (!fits || bytes.from(all.end).is_zero());
    }

    // Returns whether there is a footer, with the magic and a length that matches the offset.
    bool is_footer(std::uint64_t place) const {
        const auto *footer = footer_at(place);
        return footer != nullptr && has_magic(footer) && measures(footer, place) &&
               !is_payload(place, true);
    }

    bool is_damaged(std::uint64_t place) const {
        const auto *footer = footer_at(place);
        if (footer == nullptr || is_torn_footer(place)) return false;
        if (!View(footer->reserved, sizeof footer->reserved).is_zero()) return false;
        const bool has_length = place > start && measures(footer, place);
        return (has_magic(footer) || has_length) && !is_payload(place, false);
    }

    // Returns whether the data ends before the length of a footer of which the header knows nothing.
    // Zeros at the end of the file do not count as written.
    bool is_torn_footer(std::uint64_t place) const {
        const bool is_proved = is_rewritten() && add(start, length) == place;
        return !is_proved && bytes.from(place + offsetof(AtfV1DetailFooter, bytes_length)).is_zero();
    }

    View bytes;
    const AtfV1DetailHeader *header;
    std::uint64_t count, length;
};

std::string hex(View bytes) {
    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (std::uint8_t byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return quoted(text);
}

// Decodes registers and stack if the length matches, regardless of the event type.
std::string function(View payload) {
    const auto *at = payload.record<AtfV1DetailFunctionPayload>(0);
    if (at == nullptr) return "null";
    const std::uint16_t stack_size = atf_v1_detail_function_payload_get_stack_size(at);
    if (payload.size() != payload_size + stack_size) return "null";
    std::vector<std::string> registers;
    for (std::size_t k = 0; k < 8; k++) {
        registers.push_back(text(atf_v1_detail_function_payload_get_x_regs(at, k)));
    }
    return Object()
        .add("function_id", text(atf_v1_detail_function_payload_get_function_id(at)))
        .add("x_regs", list(registers))
        .add("lr", text(atf_v1_detail_function_payload_get_lr(at)))
        .add("fp", text(atf_v1_detail_function_payload_get_fp(at)))
        .add("sp", text(atf_v1_detail_function_payload_get_sp(at)))
        .add("stack_size", stack_size)
        .add("stack", hex(payload.from(payload_size)))
        .json();
}

} // namespace

std::optional<Detail> Detail::open(View bytes) {
    const auto file = File::open(bytes);
    if (!file) return std::nullopt;
    Detail detail(bytes);
    detail.wire = bytes.record<AtfV1DetailHeader>(0)->version;
    bool is_finalized = false;
    Walk walk;
    if (const auto place = file->find_footer()) {
        // In a finalized file, all events must be complete and match the footer's count.
        const auto *footer = bytes.record<AtfV1DetailFooter>(*place);
        const std::uint32_t checksum = atf_v1_detail_footer_get_checksum(footer);
        walk = file->walk(*place);
        if (!walk.is_whole || walk.places.size() != atf_v1_detail_footer_get_event_count(footer)) {
            return std::nullopt;
        }
        const View section = bytes.part(file->start, *place - file->start);
        if (checksum != 0 && checksum != crc32c(section)) return std::nullopt;
        detail.footer = footer;
        detail.end = *place + footer_size;
        is_finalized = !file->is_placeholder() || walk.places.empty();
    } else {
        // A different events_offset is valid only if a footer confirms it.
        if (file->start != header_size || file->has_damaged_footer()) return std::nullopt;
        walk = file->walk(file->counted_end().value_or(bytes.size()));
        if (!walk.places.empty() && file->is_torn(walk.places.back(), walk.end)) {
            walk.end = walk.places.back();
            walk.places.pop_back();
        }
        detail.end = walk.end;
    }
    detail.places = std::move(walk.places);
    for (std::uint64_t place : detail.places) {
        const auto *event = bytes.record<AtfV1DetailEventHeader>(place);
        const auto *event_v2 = bytes.record<AtfV2DetailEventHeader>(place);
        detail.index_seqs.push_back(detail.wire == 1
                                        ? atf_v1_detail_event_header_get_index_seq(event)
                                        : atf_v2_detail_event_header_get_index_seq(event_v2));
    }
    if (is_finalized) detail.verdict = Verdict::accept;
    return detail;
}

std::string Detail::header() const {
    const auto *at = file.record<AtfV1DetailHeader>(0);
    return Object()
        .add("endian", at->endian)
        .add("version", at->version)
        .add("arch", at->arch)
        .add("os", at->os)
        .add("flags", atf_v1_detail_header_get_flags(at))
        .add("thread_id", atf_v1_detail_header_get_thread_id(at))
        .add("events_offset", text(atf_v1_detail_header_get_events_offset(at)))
        .add("event_count", text(atf_v1_detail_header_get_event_count(at)))
        .add("bytes_length", text(atf_v1_detail_header_get_bytes_length(at)))
        .add("index_seq_start", text(atf_v1_detail_header_get_index_seq_start(at)))
        .add("index_seq_end", text(atf_v1_detail_header_get_index_seq_end(at)))
        .json();
}

std::string Detail::event(std::uint64_t place) const {
    const auto *at = file.record<AtfV1DetailEventHeader>(place);
    const auto *at_v2 = file.record<AtfV2DetailEventHeader>(place);
    const std::uint32_t length = atf_v1_detail_event_header_get_total_length(at);
    const View payload = file.part(place + event_header_size, length - event_header_size);
    Object fields;
    fields.add("total_length", length)
        .add("event_type", atf_v1_detail_event_header_get_event_type(at))
        .add("flags", atf_v1_detail_event_header_get_flags(at));
    if (wire == 1) {
        fields.add("index_seq", text(atf_v1_detail_event_header_get_index_seq(at)))
            .add("thread_id", atf_v1_detail_event_header_get_thread_id(at));
    } else {
        fields.add("index_seq", text(atf_v2_detail_event_header_get_index_seq(at_v2)));
    }
    return fields.add("timestamp", text(atf_v1_detail_event_header_get_timestamp(at)))
        .add("payload", hex(payload))
        .add("function", function(payload))
        .json();
}

std::string Detail::document(Verdict verdict) const {
    if (verdict == Verdict::reject) return rejected("detail");
    std::vector<std::string> all;
    for (std::uint64_t place : places) all.push_back(event(place));
    std::string end_fields = "null";
    std::optional<std::uint32_t> checksum;
    if (footer != nullptr) {
        checksum = atf_v1_detail_footer_get_checksum(footer);
        end_fields = Object()
                         .add("checksum", *checksum)
                         .add("event_count", text(atf_v1_detail_footer_get_event_count(footer)))
                         .add("bytes_length", text(atf_v1_detail_footer_get_bytes_length(footer)))
                         .add("time_start_ns", text(atf_v1_detail_footer_get_time_start_ns(footer)))
                         .add("time_end_ns", text(atf_v1_detail_footer_get_time_end_ns(footer)))
                         .json();
    }
    const char *source = footer != nullptr ? "footer" : "framing";
    return Object()
        .add("kind", quoted("detail"))
        .add("verdict", quoted(name(verdict)))
        .add("header", header())
        .add("events", list(all))
        .add("footer", end_fields)
        .add("derived", derived(places.size(), source, checksum, file.size() - end))
        .json();
}
