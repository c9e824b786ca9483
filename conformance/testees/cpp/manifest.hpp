// Checks whether manifest.json can be used.
#pragma once

#include <filesystem>

// Returns "used", "absent" or "ignored".
const char *manifest_state(const std::filesystem::path &path);
