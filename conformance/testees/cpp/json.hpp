// Strict JSON: UTF-8 without a byte-order mark, no duplicate keys.
#pragma once

#include "view.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

struct Json;

// A number that is not a 64-bit integer.
struct OtherNumber {};

// Negative integers are signed; all others are unsigned.
struct Json : std::variant<std::nullptr_t, bool, std::uint64_t, std::int64_t, OtherNumber,
                           std::string, std::vector<Json>, std::map<std::string, Json>> {
    using variant::variant;

    template <typename Type>
    const Type *as() const {
        return std::get_if<Type>(static_cast<const variant *>(this));
    }
};

struct NoJson : std::runtime_error {
    using runtime_error::runtime_error;
};

// Throws NoJson if the text is invalid or values are nested more than 128 deep.
Json parse(View text);
