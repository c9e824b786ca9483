/// Strict JSON for manifests: UTF-8 without a byte-order mark, no duplicate keys. Parses and writes.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace atf::json {

struct Value;

/// A number that is not a 64-bit integer.
struct OtherNumber {};

using Array = std::vector<Value>;
using Object = std::map<std::string, Value, std::less<>>;

/// A value. Negative integers are signed; all others are unsigned.
struct Value {
    std::variant<std::nullptr_t, bool, std::uint64_t, std::int64_t, OtherNumber, std::string, Array,
                 Object>
        is;

    template <typename Type>
    const Type* as() const {
        return std::get_if<Type>(&is);
    }
    const Object* object() const { return as<Object>(); }
};

/// Parses a text. If it is invalid, or nested more than 128 levels deep, returns nothing and sets
/// `why` to the place and the reason.
std::optional<Value> parse(std::string_view text, std::string& why);

/// The minimum and maximum of an integer.
struct Limits {
    std::uint64_t least = 0;
    std::uint64_t greatest = UINT64_MAX;
};

/// Marks a number that is written as text, such as "0x1f".
struct Hex {};

namespace internal {

class Parser {
public:
    explicit Parser(std::string_view text)
        : text_(text), at_(text.data()), end_(text.data() + text.size()) {}

    std::optional<Value> whole(std::string& why) {
        Value own = value();
        if (at_ != end_) fail();
        if (is_valid_) return std::optional(std::move(own));
        why = "invalid JSON from byte " + std::to_string(wrong_) + " on";
        return std::nullopt;
    }

private:
    /// Stops at the first error.
    void fail() {
        if (is_valid_) wrong_ = at_ - text_.data();
        is_valid_ = false;
        at_ = end_;
    }

    /// Returns the next byte, or 0 at the end. JSON has no 0 bytes.
    char peek() const { return at_ == end_ ? '\0' : *at_; }

    bool take(char byte) {
        if (at_ == end_ || *at_ != byte) return false;
        at_++;
        return true;
    }

    void expect(std::string_view word) {
        for (const char byte : word) {
            if (!take(byte)) return fail();
        }
    }

    void skip_space() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) at_++;
    }

    /// Parses a value and the white space around it.
    Value value() {
        if (depth_ == 128) fail();
        depth_++;
        skip_space();
        Value own = bare();
        skip_space();
        depth_--;
        return own;
    }

    Value bare() {
        switch (peek()) {
            case '{': return {object()};
            case '[': return {array()};
            case '"': return {string()};
            case 't': return expect("true"), Value{true};
            case 'f': return expect("false"), Value{false};
            case 'n': return expect("null"), Value{nullptr};
            default: return number();
        }
    }

    Object object() {
        Object members;
        expect("{");
        skip_space();
        if (take('}')) return members;
        do {
            skip_space();
            std::string key = string();
            skip_space();
            expect(":");
            if (!members.emplace(std::move(key), value()).second) fail();
        } while (take(','));
        expect("}");
        return members;
    }

    Array array() {
        Array items;
        expect("[");
        skip_space();
        if (take(']')) return items;
        do items.push_back(value());
        while (take(','));
        expect("]");
        return items;
    }

    static bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

    void digits() {
        if (!is_digit(peek())) fail();
        while (is_digit(peek())) at_++;
    }

    Value number() {
        const char* start = at_;
        const bool is_negative = take('-');
        if (!take('0')) digits();
        const char* whole_end = at_;
        if (take('.')) digits();
        if (take('e') || take('E')) {
            if (!take('+')) take('-');
            digits();
        }
        if (at_ != whole_end) return {OtherNumber{}};
        return is_negative ? integer<std::int64_t>(start) : integer<std::uint64_t>(start);
    }

    /// -0 is not an integer.
    template <typename Number>
    Value integer(const char* start) const {
        Number number = 0;
        const bool fits = std::from_chars(start, at_, number).ec == std::errc();
        return fits && (number != 0 || *start != '-') ? Value{number} : Value{OtherNumber{}};
    }

    std::string string() {
        std::string text;
        expect("\"");
        while (is_valid_ && !take('"')) {
            if (static_cast<unsigned char>(peek()) < ' ') {
                fail();
            } else if (take('\\')) {
                escape(text);
            } else {
                character(text);
            }
        }
        return text;
    }

    unsigned byte(std::ptrdiff_t k) const {
        return k < end_ - at_ ? static_cast<unsigned char>(at_[k]) : 0;
    }

    /// Copies a character, which must not be overlong, a surrogate or above U+10FFFF.
    void character(std::string& to) {
        const unsigned lead = byte(0);
        const unsigned next = byte(1);
        const int size = lead < 0x80   ? 1
                         : lead < 0xC2 ? 0
                         : lead < 0xE0 ? 2
                         : lead < 0xF0 ? 3
                         : lead < 0xF5 ? 4
                                       : 0;
        bool is_valid = size > 0;
        for (int k = 1; k < size; k++) is_valid = is_valid && (byte(k) & 0xC0) == 0x80;
        if (!is_valid || (lead == 0xE0 && next < 0xA0) || (lead == 0xED && next >= 0xA0) ||
            (lead == 0xF0 && next < 0x90) || (lead == 0xF4 && next >= 0x90)) {
            return fail();
        }
        to.append(at_, static_cast<std::size_t>(size));
        at_ += size;
    }

    std::uint32_t code_unit() {
        std::uint32_t unit = 0;
        if (end_ - at_ < 4 || std::from_chars(at_, at_ + 4, unit, 16).ptr != at_ + 4) {
            fail();
            return 0;
        }
        at_ += 4;
        return unit;
    }

    void escape(std::string& to) {
        constexpr std::string_view names = "\"\\/bfnrt";
        constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
        const std::size_t known = names.find(peek());
        if (known != names.npos) {
            at_++;
            to += meant[known];
            return;
        }
        expect("u");
        std::uint32_t code = code_unit();
        if (code >= 0xD800 && code < 0xE000) {
            expect("\\u");
            const std::uint32_t low = code_unit();
            if (code >= 0xDC00 || low < 0xDC00 || low >= 0xE000) return fail();
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        encode(to, code);
    }

    static void encode(std::string& to, std::uint32_t code) {
        const auto put = [&to](std::uint32_t byte) { to += static_cast<char>(byte); };
        if (code < 0x80) return put(code);
        if (code < 0x800) {
            put(0xC0 | code >> 6);
        } else {
            if (code < 0x10000) {
                put(0xE0 | code >> 12);
            } else {
                put(0xF0 | code >> 18);
                put(0x80 | (code >> 12 & 0x3F));
            }
            put(0x80 | (code >> 6 & 0x3F));
        }
        put(0x80 | (code & 0x3F));
    }

    std::string_view text_;
    const char* at_;
    const char* end_;
    int depth_ = 0;
    bool is_valid_ = true;
    /// The offset of the first error.
    std::ptrdiff_t wrong_ = 0;
};

}  // namespace internal

inline std::optional<Value> parse(std::string_view text, std::string& why) {
    return internal::Parser(text).whole(why);
}

// Each `read` returns whether a value has a type. If not, `why` is the place and expected value.

inline bool expect(bool is_type, std::string& why, std::string_view type) {
    if (!is_type) why.append(": expected ").append(type);
    return is_type;
}

inline bool read(const Value& value, std::string& why, std::string& to) {
    const std::string* text = value.as<std::string>();
    if (text != nullptr) to = *text;
    return expect(text != nullptr, why, "a text");
}

inline bool read(const Value& value, std::string& why, bool& to) {
    const bool* truth = value.as<bool>();
    if (truth != nullptr) to = *truth;
    return expect(truth != nullptr, why, "true or false");
}

inline bool read(const Value& value, std::string& why, std::uint64_t& to, Limits limits) {
    const std::uint64_t* number = value.as<std::uint64_t>();
    const bool fits = number != nullptr && *number >= limits.least && *number <= limits.greatest;
    if (fits) to = *number;
    return fits || expect(false, why, "a number from " + std::to_string(limits.least) + " to " +
                                          std::to_string(limits.greatest));
}

inline bool read(const Value& value, std::string& why, std::int64_t& to) {
    const std::uint64_t* number = value.as<std::uint64_t>();
    const std::int64_t* negative = value.as<std::int64_t>();
    const bool fits = negative != nullptr || (number != nullptr && *number <= INT64_MAX);
    if (fits) to = negative != nullptr ? *negative : static_cast<std::int64_t>(*number);
    return expect(fits, why, "a 64-bit integer");
}

inline bool read(const Value& value, std::string& why, std::uint64_t& to, Hex) {
    const std::string* text = value.as<std::string>();
    bool fits = text != nullptr && text->size() >= 3 && text->compare(0, 2, "0x") == 0;
    if (fits) {
        const char* end = text->data() + text->size();
        const auto parsed = std::from_chars(text->data() + 2, end, to, 16);
        fits = parsed.ec == std::errc() && parsed.ptr == end && text->size() <= 18;
    }
    return expect(fits, why, "a number in hex, as text");
}

template <typename Type>
bool read(const Value& value, std::string& why, Type& to) {
    return expect(value.object() != nullptr, why, "an object") && to.read(value, why);
}

template <typename Type>
bool read(const Value& value, std::string& why, std::vector<Type>& to) {
    const Array* items = value.as<Array>();
    if (items == nullptr) return expect(false, why, "a list");
    for (const Value& item : *items) {
        if (read(item, why, to.emplace_back())) continue;
        why.insert(0, "[" + std::to_string(to.size() - 1) + "]");
        return false;
    }
    return true;
}

/// Reads a required member.
template <typename Type, typename... Limit>
bool read(const Value& value, std::string& why, std::string_view key, Type& to, Limit... limit) {
    const auto member = value.object()->find(key);
    const bool is_there = expect(member != value.object()->end(), why, "this key");
    if (is_there && read(member->second, why, to, limit...)) return true;
    why.insert(0, key).insert(0, ".");
    return false;
}

template <typename Type>
Type& emplaced(std::optional<Type>& to) { return to.emplace(); }

template <typename Type>
std::vector<Type>& emplaced(std::vector<Type>& to) { return to; }

/// Reads an optional member.
template <typename Type, typename... Limit>
bool read_optional(const Value& value, std::string& why, std::string_view key, Type& to,
                   Limit... limit) {
    return value.object()->count(key) == 0 || read(value, why, key, emplaced(to), limit...);
}

inline void write(std::string& to, bool truth) { to += truth ? "true" : "false"; }
inline void write(std::string& to, std::uint64_t number) { to += std::to_string(number); }
inline void write(std::string& to, std::int64_t number) { to += std::to_string(number); }

inline void write(std::string& to, std::uint64_t number, Hex) {
    to += "\"0x";
    for (int shift = 60; shift >= 0; shift -= 4) to += "0123456789abcdef"[number >> shift & 15];
    to += '"';
}

inline void write(std::string& to, const std::string& text) {
    to += '"';
    for (const char byte : text) {
        const auto code = static_cast<unsigned char>(byte);
        if (code < ' ') {
            to += "\\u00";
            to += static_cast<char>('0' + (code >> 4));
            to += "0123456789abcdef"[code & 15];
        } else {
            if (byte == '"' || byte == '\\') to += '\\';
            to += byte;
        }
    }
    to += '"';
}

template <typename Type>
void write(std::string& to, const Type& object) {
    object.write(to);
}

template <typename Type>
void write(std::string& to, const std::vector<Type>& items) {
    to += '[';
    for (const Type& item : items) {
        if (&item != &items.front()) to += ", ";
        write(to, item);
    }
    to += ']';
}

/// Appends a member to the text of an unclosed object.
template <typename Type, typename... Form>
void write(std::string& to, std::string_view key, const Type& value, Form... form) {
    to += to.back() == '{' ? "\"" : ", \"";
    to.append(key).append("\": ");
    write(to, value, form...);
}

/// Appends a member if it has a value.
template <typename Type, typename... Form>
void write_optional(std::string& to, std::string_view key, const std::optional<Type>& value,
                    Form... form) {
    if (value) write(to, key, *value, form...);
}

template <typename Type>
void write_optional(std::string& to, std::string_view key, const std::vector<Type>& items) {
    if (!items.empty()) write(to, key, items);
}

}  // namespace atf::json
