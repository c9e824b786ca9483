// Reads a session, which is a folder with thread folders and a manifest.json.
#pragma once

#include "document.hpp"

#include <filesystem>
#include <string>

struct Answer {
    std::string document;
    Verdict verdict;
};

Answer read_session(const std::filesystem::path &folder);
