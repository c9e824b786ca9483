// JSON to the letter: UTF-8 without a mark, no key twice in an object.
#pragma once

#include "view.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

struct Json;

// Any number but those that fit into 64 bits without a sign, as they stand there.
struct OtherNumber {};

struct Json : std::variant<std::nullptr_t, bool, std::uint64_t, OtherNumber, std::string,
                           std::vector<Json>, std::map<std::string, Json>> {
    using variant::variant;

    template <typename Type>
    const Type *as() const {
        return std::get_if<Type>(static_cast<const variant *>(this));
    }
};

struct NoJson : std::runtime_error {
    using runtime_error::runtime_error;
};

// Throws NoJson; also where more than 128 values stand inside one another.
Json parse(View text);
