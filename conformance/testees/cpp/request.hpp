// Reads the requests to a persistent process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

// Returns the JSON strings in a line. The kit escapes control characters, quotation marks and
// backslashes only.
inline std::vector<std::string> strings(const std::string &line) {
    static const std::string names = "bfnrt", meant = "\b\f\n\r\t";
    std::vector<std::string> found;
    bool is_inside = false;
    for (std::size_t at = 0; at < line.size(); at++) {
        char letter = line[at];
        if (letter == '"') {
            is_inside = !is_inside;
            if (is_inside) found.emplace_back();
            continue;
        }
        if (!is_inside) continue;
        if (letter == '\\') {
            letter = line.at(++at);
            const auto name = names.find(letter);
            if (name != std::string::npos) {
                letter = meant[name];
            } else if (letter == 'u') {
                letter = static_cast<char>(std::stoul(line.substr(at + 1, 4), nullptr, 16));
                at += 4;
            }
        }
        found.back() += letter;
    }
    return found;
}
