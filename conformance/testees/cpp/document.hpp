// Builds the document that the conformance kit expects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

enum class Verdict { accept, recover, reject };

inline const char *name(Verdict verdict) {
    switch (verdict) {
    case Verdict::accept: return "accept";
    case Verdict::recover: return "recover";
    default: return "reject";
    }
}

inline std::string quoted(const std::string &text) { return '"' + text + '"'; }

// Formats a 64-bit field or a link, which are strings in JSON.
inline std::string text(std::uint64_t number) { return quoted(std::to_string(number)); }

inline std::string text(std::optional<std::uint64_t> number) {
    return number ? text(*number) : "null";
}

inline std::string list(const std::vector<std::string> &items) {
    std::string all = "[";
    for (const std::string &item : items) {
        if (all.size() > 1) all += ", ";
        all += item;
    }
    return all + "]";
}

// A JSON object. Its values are JSON, or numbers of at most 32 bits.
class Object {
  public:
    Object &add(const char *key, const std::string &json) {
        inner += (inner.empty() ? "" : ", ") + quoted(key) + ": " + json;
        return *this;
    }
    Object &add(const char *key, std::uint32_t number) { return add(key, std::to_string(number)); }

    std::string json() const { return "{" + inner + "}"; }

  private:
    std::string inner;
};

inline std::string rejected(const char *kind) {
    return Object().add("kind", quoted(kind)).add("verdict", quoted("reject")).json();
}

// Derives the values that depend on how a file ends, for both kinds of files.
inline std::string derived(std::uint64_t count, const char *source,
                           std::optional<std::uint32_t> checksum, std::uint64_t trailing) {
    const char *state = !checksum ? "not_checked" : *checksum == 0 ? "absent" : "good";
    return Object()
        .add("event_count", text(count))
        .add("count_source", quoted(source))
        .add("checksum", quoted(state))
        .add("trailing_bytes", text(trailing))
        .json();
}
