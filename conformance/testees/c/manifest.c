/* Checks whether manifest.json can be used. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <sys/stat.h>

#include "json.h"
#include "reader.h"

static const Member thread_members[] = {
    {"id", {.kind = UNSIGNED, .most = UINT32_MAX}, true},
    {"has_detail", {.kind = BOOLEAN}, false},
    {0},
};
static const Member module_members[] = {
    {"module_id", {.kind = UNSIGNED, .most = UINT32_MAX}, true},
    {"path", {.kind = TEXT}, false},
    {"base_address", {.kind = ADDRESS}, false},
    {"size", {.kind = UNSIGNED, .most = UINT64_MAX}, false},
    {"uuid", {.kind = TEXT}, false},
    {0},
};
static const Member symbol_members[] = {
    {"function_id", {.kind = ADDRESS}, true},
    {"module_id", {.kind = UNSIGNED, .most = UINT32_MAX}, false},
    {"symbol_index", {.kind = UNSIGNED, .most = UINT32_MAX}, false},
    {"name", {.kind = TEXT}, false},
    {0},
};
static const Type thread = {.kind = OBJECT, .members = thread_members};
static const Type module = {.kind = OBJECT, .members = module_members};
static const Type symbol = {.kind = OBJECT, .members = symbol_members};
static const Member manifest_members[] = {
    {"format_version", {.kind = TEXT}, false},
    {"threads", {.kind = LIST, .item = &thread}, true},
    {"time_start_ns", {.kind = UNSIGNED, .most = UINT64_MAX}, false},
    {"time_end_ns", {.kind = UNSIGNED, .most = UINT64_MAX}, false},
    {"clock_type", {.kind = UNSIGNED, .most = UINT8_MAX}, false},
    {"modules", {.kind = LIST, .item = &module}, false},
    {"symbols", {.kind = LIST, .item = &symbol}, false},
    {0},
};
static const Type manifest = {.kind = OBJECT, .members = manifest_members};

const char *manifest_state(const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0) return "absent";
    File file;
    if (!load(path, &file)) return "ignored";
    bool fits = json_fits(file.bytes, file.size, &manifest);
    free((void *)file.bytes);
    return fits ? "used" : "ignored";
}
