/* Checks whether manifest.json can be used. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <sys/stat.h>

#include "reader.h"

static const Member loss_members[] = {
    {"count", {.kind = INTEGER, .most = UINT64_MAX}, true},
    {"first_ns", {.kind = INTEGER, .most = UINT64_MAX}, true},
    {"last_ns", {.kind = INTEGER, .most = UINT64_MAX}, true},
    {0},
};
static const Member cut_members[] = {
    {"from_ns", {.kind = INTEGER, .most = UINT64_MAX}, true},
    {"to_ns", {.kind = INTEGER, .most = UINT64_MAX}, true},
    {"calls", {.kind = INTEGER, .most = UINT64_MAX}, true},
    {"returns", {.kind = INTEGER, .most = UINT64_MAX}, true},
    {0},
};
static const Member thread_members[] = {
    {"id", {.kind = INTEGER, .most = UINT32_MAX}, true},
    {"has_detail", {.kind = BOOLEAN}, false},
    {"name", {.kind = TEXT}, false},
    {"lost_events", {.kind = OBJECT, .members = loss_members}, false},
    {"lost_details", {.kind = OBJECT, .members = loss_members}, false},
    {"cut", {.kind = OBJECT, .members = cut_members}, false},
    {0},
};
static const Member module_members[] = {
    {"module_id", {.kind = INTEGER, .most = UINT32_MAX}, true},
    {"path", {.kind = TEXT}, false},
    {"base_address", {.kind = ADDRESS}, false},
    {"size", {.kind = INTEGER, .most = UINT64_MAX}, false},
    {"uuid", {.kind = TEXT}, false},
    {"function_offsets", {.kind = BOOLEAN}, false},
    {0},
};
static const Member symbol_members[] = {
    {"function_id", {.kind = ADDRESS}, true},
    {"module_id", {.kind = INTEGER, .most = UINT32_MAX}, false},
    {"symbol_index", {.kind = INTEGER, .most = UINT32_MAX}, false},
    {"name", {.kind = TEXT}, false},
    {0},
};
static const Member anchor_members[] = {
    {"host_time_ns", {.kind = INTEGER, .most = UINT64_MAX}, true},
    {"media_time", {.kind = INTEGER, .least = INT64_MIN, .most = INT64_MAX}, true},
    {"media_timescale", {.kind = INTEGER, .least = 1, .most = INT32_MAX}, true},
    {0},
};
static const Member damage_members[] = {
    {"what", {.kind = TEXT}, true},
    {"lost", {.kind = BOOLEAN}, true},
    {"thread", {.kind = INTEGER, .most = UINT32_MAX}, false},
    {0},
};
static const Type damage = {.kind = OBJECT, .members = damage_members};
static const Type thread = {.kind = OBJECT, .members = thread_members};
static const Type module = {.kind = OBJECT, .members = module_members};
static const Type symbol = {.kind = OBJECT, .members = symbol_members};
static const Type anchor = {.kind = OBJECT, .members = anchor_members};
static const Member manifest_members[] = {
    {"format_version", {.kind = TEXT}, false},
    {"threads", {.kind = LIST, .item = &thread}, true},
    {"time_start_ns", {.kind = INTEGER, .most = UINT64_MAX}, false},
    {"time_end_ns", {.kind = INTEGER, .most = UINT64_MAX}, false},
    {"clock_type", {.kind = INTEGER, .most = UINT8_MAX}, false},
    {"modules", {.kind = LIST, .item = &module}, false},
    {"symbols", {.kind = LIST, .item = &symbol}, false},
    {"timing_anchors", {.kind = LIST, .item = &anchor}, false},
    {"lost_events", {.kind = OBJECT, .members = loss_members}, false},
    {"unwritten_events", {.kind = INTEGER, .most = UINT64_MAX}, false},
    {"ended_by", {.kind = TEXT}, false},
    {"clock_error_ns", {.kind = INTEGER, .most = UINT64_MAX}, false},
    {"drops_events", {.kind = BOOLEAN}, false},
    {"detail_fields", {.kind = BOOLEAN}, false},
    {"recovered", {.kind = LIST, .item = &damage}, false},
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
