#include "manifest.hpp"

#include "files.hpp"
#include "json.hpp"

#include <functional>
#include <limits>

namespace {

using Fits = std::function<bool(const Json &)>;

struct Member {
    const char *key;
    Fits fits;
    bool is_required = false;
};

bool text(const Json &value) { return value.as<std::string>() != nullptr; }

bool boolean(const Json &value) { return value.as<bool>() != nullptr; }

// Returns whether the value is a 64-bit hexadecimal number: 0x and up to 16 digits.
bool address(const Json &value) {
    const auto *text = value.as<std::string>();
    return text != nullptr && text->size() > 2 && text->size() <= 18 && text->rfind("0x", 0) == 0 &&
           text->find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos;
}

template <typename Number>
bool number(const Json &value) {
    const auto *number = value.as<std::uint64_t>();
    constexpr std::uint64_t most = std::numeric_limits<Number>::max();
    return number != nullptr && *number <= most;
}

bool signed_number(const Json &value) {
    return value.as<std::int64_t>() != nullptr || number<std::int64_t>(value);
}

// Returns whether the value is from 1 to 2^31 - 1.
bool timescale(const Json &value) {
    const auto *number = value.as<std::uint64_t>();
    return number != nullptr && *number >= 1 && *number <= std::numeric_limits<std::int32_t>::max();
}

// Other keys are allowed.
Fits object(std::vector<Member> members) {
    return [members](const Json &value) {
        const auto *object = value.as<std::map<std::string, Json>>();
        return object != nullptr &&
               std::all_of(members.begin(), members.end(), [object](const Member &member) {
                   const auto found = object->find(member.key);
                   return found == object->end() ? !member.is_required : member.fits(found->second);
               });
    };
}

Fits list(Fits fits) {
    return [fits](const Json &value) {
        const auto *items = value.as<std::vector<Json>>();
        return items != nullptr && std::all_of(items->begin(), items->end(), fits);
    };
}

bool is_manifest(const Json &value) {
    using u8 = std::uint8_t;
    using u32 = std::uint32_t;
    using u64 = std::uint64_t;
    static const Fits loss = object({{"count", number<u64>, true},
                                     {"first_ns", number<u64>, true},
                                     {"last_ns", number<u64>, true}});
    static const Fits cut = object({{"from_ns", number<u64>, true},
                                    {"to_ns", number<u64>, true},
                                    {"calls", number<u64>, true},
                                    {"returns", number<u64>, true}});
    static const Fits thread = object({{"id", number<u32>, true},
                                       {"has_detail", boolean},
                                       {"name", text},
                                       {"lost_events", loss},
                                       {"lost_details", loss},
                                       {"cut", cut}});
    static const Fits module = object({{"module_id", number<u32>, true},
                                       {"path", text},
                                       {"base_address", address},
                                       {"size", number<u64>},
                                       {"uuid", text},
                                       {"function_offsets", boolean}});
    static const Fits symbol = object({{"function_id", address, true},
                                       {"module_id", number<u32>},
                                       {"symbol_index", number<u32>},
                                       {"name", text}});
    static const Fits anchor = object({{"host_time_ns", number<u64>, true},
                                       {"media_time", signed_number, true},
                                       {"media_timescale", timescale, true}});
    static const Fits damage = object({{"what", text, true},
                                       {"lost", boolean, true},
                                       {"thread", number<u32>}});
    static const Fits manifest = object({{"format_version", text},
                                         {"threads", list(thread), true},
                                         {"time_start_ns", number<u64>},
                                         {"time_end_ns", number<u64>},
                                         {"clock_type", number<u8>},
                                         {"modules", list(module)},
                                         {"symbols", list(symbol)},
                                         {"timing_anchors", list(anchor)},
                                         {"lost_events", loss},
                                         {"unwritten_events", number<u64>},
                                         {"ended_by", text},
                                         {"clock_error_ns", number<u64>},
                                         {"drops_events", boolean},
                                         {"detail_fields", boolean},
                                         {"recovered", list(damage)}});
    return manifest(value);
}

} // namespace

const char *manifest_state(const std::filesystem::path &path) {
    if (!exists(symlink_status(path))) return "absent";
    const auto bytes = load(path);
    try {
        return bytes && is_manifest(parse(view(*bytes))) ? "used" : "ignored";
    } catch (const NoJson &) {
        return "ignored";
    }
}
