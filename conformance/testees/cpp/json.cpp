#include "json.hpp"

#include <cctype>
#include <charconv>

namespace {

constexpr int deepest = 128;

class Parser {
  public:
    explicit Parser(View text)
        : at(reinterpret_cast<const char *>(text.begin())), end(at + text.size()) {}

    Json whole() {
        Json value = this->value();
        if (at != end) fail("text after the value");
        return value;
    }

  private:
    [[noreturn]] static void fail(const char *what) { throw NoJson(what); }

    // Returns the next byte, or 0 at the end. JSON has no 0 bytes outside strings.
    char peek() const { return at == end ? '\0' : *at; }

    bool take(char byte) {
        if (at == end || *at != byte) return false;
        at++;
        return true;
    }

    void expect(const std::string &word) {
        for (char byte : word) {
            if (!take(byte)) fail("expected a value");
        }
    }

    void skip_space() {
        while (at != end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
    }

    // Parses a value and the white space around it.
    Json value() {
        if (depth == deepest) fail("nested too deeply");
        depth++;
        skip_space();
        Json found = bare_value();
        skip_space();
        depth--;
        return found;
    }

    Json bare_value() {
        switch (peek()) {
        case '{': return object();
        case '[': return list();
        case '"': return string();
        case 't': expect("true"); return true;
        case 'f': expect("false"); return false;
        case 'n': expect("null"); return nullptr;
        default: return number();
        }
    }

    Json object() {
        std::map<std::string, Json> members;
        expect("{");
        skip_space();
        if (take('}')) return members;
        do {
            skip_space();
            std::string key = string();
            skip_space();
            expect(":");
            if (!members.emplace(std::move(key), value()).second) fail("duplicate key");
        } while (take(','));
        expect("}");
        return members;
    }

    Json list() {
        std::vector<Json> items;
        expect("[");
        skip_space();
        if (take(']')) return items;
        do items.push_back(value());
        while (take(','));
        expect("]");
        return items;
    }

    void digits() {
        if (!is_digit(peek())) fail("expected a digit");
        while (is_digit(peek())) at++;
    }

    static bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

    Json number() {
        const char *start = at;
        const bool is_negative = take('-');
        if (!take('0')) digits();
        const char *whole_end = at;
        if (take('.')) digits();
        if (take('e') || take('E')) {
            if (!take('+')) take('-');
            digits();
        }
        if (at != whole_end) return OtherNumber{};
        return is_negative ? integer<std::int64_t>(start) : integer<std::uint64_t>(start);
    }

    // -0 is not an integer, because integers have only one zero.
    template <typename Number>
    Json integer(const char *start) const {
        Number whole = 0;
        const bool fits = std::from_chars(start, at, whole).ec == std::errc();
        return fits && (whole != 0 || *start != '-') ? Json(whole) : Json(OtherNumber{});
    }

    std::string string() {
        std::string found;
        expect("\"");
        while (!take('"')) {
            if (static_cast<unsigned char>(peek()) < ' ') fail("unescaped control character");
            if (take('\\')) {
                escape(found);
            } else {
                character(found);
            }
        }
        return found;
    }

    // Copies an unescaped character. A multi-byte character must not be overlong, a lone surrogate,
    // or beyond the last code point.
    void character(std::string &to) {
        const auto byte = [this](std::ptrdiff_t k) -> unsigned {
            return k < end - at ? static_cast<unsigned char>(at[k]) : 0;
        };
        const unsigned lead = byte(0);
        const int size = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3
                         : lead < 0xF5 ? 4 : 0;
        if (size == 0) fail("invalid UTF-8");
        for (int k = 1; k < size; k++) {
            if ((byte(k) & 0xC0) != 0x80) fail("invalid UTF-8");
        }
        const unsigned next = byte(1);
        if ((lead == 0xE0 && next < 0xA0) || (lead == 0xED && next >= 0xA0) ||
            (lead == 0xF0 && next < 0x90) || (lead == 0xF4 && next >= 0x90)) {
            fail("invalid UTF-8");
        }
        to.append(at, static_cast<std::size_t>(size));
        at += size;
    }

    std::uint32_t code_unit() {
        std::uint32_t unit = 0;
        if (end - at < 4 || !std::all_of(at, at + 4, [](unsigned char byte) {
                return std::isxdigit(byte) != 0;
            })) {
            fail("expected four digits after \\u");
        }
        std::from_chars(at, at + 4, unit, 16);
        at += 4;
        return unit;
    }

    void escape(std::string &to) {
        static const std::string names = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        const char byte = peek();
        const auto known = at == end ? std::string::npos : names.find(byte);
        if (known != std::string::npos) {
            at++;
            to += meant[known];
            return;
        }
        expect("u");
        std::uint32_t code = code_unit();
        if (code >= 0xD800 && code < 0xE000) {
            // A surrogate pair.
            expect("\\u");
            const std::uint32_t low = code_unit();
            if (code >= 0xDC00 || low < 0xDC00 || low >= 0xE000) fail("lone surrogate");
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        encode(to, code);
    }

    static void encode(std::string &to, std::uint32_t code) {
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

    const char *at, *end;
    int depth = 0;
};

} // namespace

Json parse(View text) { return Parser(text).whole(); }
