/* Wrong calls and their statuses. Arguments: an empty folder, and a sample session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atf.h"
#include "expect.h"

static const char *in(const char *folder, const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static AtfThreadWriter *writer_in(const char *folder, uint32_t id) {
    AtfThreadWriter *writer = NULL;
    SAYS(ATF_OK, atf_writer_open(folder, id, NULL, &writer));
    return writer;
}

/*
 * Passes null to the functions that return no status, and checks that the others set their output
 * pointers to null. header.rs checks their statuses.
 */
static void null_everywhere(void) {
    AtfThreadWriter *writer = (AtfThreadWriter *)1;
    AtfIndexReader *index = (AtfIndexReader *)1;
    AtfDetailReader *details = (AtfDetailReader *)1;
    AtfThreadReader *thread = (AtfThreadReader *)1;
    AtfMerge *merge = (AtfMerge *)1;
    AtfTrace *trace = (AtfTrace *)1;
    AtfSessionReader *of_trace = (AtfSessionReader *)1;
    SAYS(ATF_ERROR_ARGUMENT, atf_writer_open(NULL, 0, NULL, &writer));
    TRUE(writer == NULL);
    SAYS(ATF_ERROR_ARGUMENT, atf_writer_open("", 0, NULL, &writer));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_thread(NULL, 0, &writer));
    TRUE(atf_writer_next_index_seq(NULL) == UINT64_MAX);
    TRUE(atf_writer_next_detail_seq(NULL) == UINT64_MAX);
    TRUE(atf_writer_is_finalized(NULL) == 0);
    TRUE(strcmp(atf_writer_error_message(NULL), "") == 0);
    TRUE(atf_writer_create(NULL, 0, 3) == NULL);
    TRUE(atf_write_index_event(NULL, 1, 1, 1, 1, 0) == UINT32_MAX);
    atf_write_detail_event(NULL, 0, 1, NULL);
    atf_writer_finalize(NULL);
    SAYS(ATF_ERROR_ARGUMENT, atf_last_error_status());
    atf_writer_close(NULL);
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_set_symbols(NULL, NULL, 3));
    TRUE(strcmp(atf_session_writer_path(NULL), "") == 0);
    TRUE(atf_index_event_count(NULL) == 0 && atf_detail_event_count(NULL) == 0);
    SAYS(ATF_ERROR_ARGUMENT, atf_thread_index(NULL, &index));
    SAYS(ATF_ERROR_ARGUMENT, atf_thread_detail(NULL, &details));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_open_thread(NULL, 0, &thread));
    SAYS(ATF_ERROR_ARGUMENT, atf_merge_open(NULL, 0, 0, &merge));
    SAYS(ATF_ERROR_ARGUMENT, atf_trace_open(NULL, &trace));
    SAYS(ATF_ERROR_ARGUMENT, atf_trace_session(NULL, 0, &of_trace));
    SAYS(ATF_ERROR_ARGUMENT, atf_trace_merge(NULL, 0, 0, &merge));
    TRUE(trace == NULL && of_trace == NULL && atf_trace_session_count(NULL) == 0);
    TRUE(index == NULL && details == NULL && thread == NULL && merge == NULL);
    TRUE(atf_session_thread_count(NULL) == 0);
    TRUE(atf_session_symbol_count(NULL) == 0);
    TRUE(atf_session_problem_count(NULL) == 0);
    TRUE(atf_session_problem(NULL, 0) == NULL);
    TRUE(atf_session_function_name(NULL, 0) == NULL);
    TRUE(atf_merge_unverified_count(NULL) == 0);
    TRUE(atf_merge_problem_count(NULL) == 0);
    TRUE(atf_index_problem_count(NULL) == 0);
    TRUE(atf_index_problem(NULL, 0) == NULL);
    TRUE(atf_detail_problem_count(NULL) == 0);
    TRUE(atf_detail_problem(NULL, 0) == NULL);
    TRUE(atf_merge_problem(NULL, 0) == NULL);
    atf_string_free(NULL);
    const AtfMediaTime media_time = { 0, 1, 0 };
    uint64_t time;
    SAYS(ATF_ERROR_ARGUMENT, atf_anchor_to_host_ns(NULL, media_time, &time));
}

static void wrong_order(const char *folder) {
    AtfThreadWriter *writer = writer_in(folder, 1);
    AtfThreadWriter *other = (AtfThreadWriter *)1;
    AtfDetail detail = { ATF_DETAIL_EVENT_FUNCTION_CALL, 0, 0, "bytes", 5, { 0, 0 } };
    AtfThreadSummary summary;
    uint64_t seq = 77;
    SAYS(ATF_ERROR_EXISTS, atf_writer_open(folder, 1, NULL, &other));
    TRUE(other == NULL && strstr(atf_last_error_path(), "thread_1") != NULL);
    SAYS(ATF_ERROR_ARGUMENT, atf_writer_open(folder, 9, NULL, NULL));
    TRUE(strstr(atf_last_error_message(), "AtfThreadWriter") != NULL);
    TRUE(access(in(folder, "thread_9"), F_OK) != 0);
    SAYS(ATF_OK, atf_writer_write(writer, 10, 1, ATF_EVENT_KIND_CALL, 1, &seq));
    TRUE(seq == 0);
    SAYS(ATF_OK, atf_writer_error(writer));
    SAYS(ATF_ERROR_REFUSED, atf_writer_write(writer, 9, 1, ATF_EVENT_KIND_CALL, 1, &seq));
    TRUE(strcmp(atf_last_error_field(), "timestamp_ns") == 0);
    SAYS(ATF_ERROR_REFUSED, atf_writer_write(writer, 11, 1, 4, 1, &seq));
    SAYS(ATF_ERROR_LINK, atf_writer_write_index(writer, 11, 1, 1, 2, 1, &seq));
    TRUE(atf_write_index_event(writer, 11, 1, 1, 2, 5) == UINT32_MAX);
    SAYS(ATF_ERROR_LINK, atf_writer_write_detail(writer, 0, 10, &detail, NULL));
    TRUE(atf_writer_next_index_seq(writer) == 1 && atf_writer_next_detail_seq(writer) == 0);
    SAYS(ATF_OK, atf_writer_write_index(writer, 11, 1, 1, 2, 0, &seq));
    TRUE(seq == 1);
    SAYS(ATF_ERROR_STATE, atf_writer_write_with_detail(writer, 12, 1, 1, 2, &detail, NULL));
    SAYS(ATF_ERROR_LINK, atf_writer_drop_detail(writer, 2));
    SAYS(ATF_ERROR_LINK, atf_writer_write_detail(writer, 0, 11, &detail, NULL));
    SAYS(ATF_ERROR_LINK, atf_writer_write_detail(writer, 1, 12, &detail, NULL));
    SAYS(ATF_ERROR_ARGUMENT, atf_writer_write_detail(writer, 1, 11, NULL, NULL));
    detail.reserved2[1] = 1;
    SAYS(ATF_ERROR_ARGUMENT, atf_writer_write_detail(writer, 0, 11, &detail, NULL));
    detail.reserved2[1] = 0;
    detail.payload_size = SIZE_MAX;
    SAYS(ATF_ERROR_ARGUMENT, atf_writer_write_detail(writer, 1, 11, &detail, NULL));
    detail.payload = NULL;
    detail.payload_size = 5;
    SAYS(ATF_ERROR_ARGUMENT, atf_writer_write_detail(writer, 1, 11, &detail, NULL));
    DetailFunctionPayload large;
    memset(&large, 0, sizeof large);
    atf_detail_function_payload_set_stack_size(&large, 257);
    atf_write_detail_event(writer, 1, 11, &large);
    TRUE(atf_writer_next_detail_seq(writer) == 1 && atf_last_error_status() == ATF_ERROR_REFUSED);
    atf_detail_function_payload_set_stack_size(&large, 0);
    atf_write_detail_event(writer, 1, 11, &large);
    /* Pass half of the struct, like a program compiled against an older version. */
    memset(&summary, 0xff, sizeof summary);
    SAYS(ATF_OK, atf_writer_finish(writer, &summary, 16));
    TRUE(summary.event_count == 2 && summary.detail_count == 1);
    TRUE(summary.time_start_ns == UINT64_MAX);
    SAYS(ATF_ERROR_STATE, atf_writer_finish(writer, &summary, sizeof summary));
    SAYS(ATF_ERROR_STATE, atf_writer_drop_detail(writer, 1));
    SAYS(ATF_ERROR_STATE, atf_writer_write(writer, 12, 1, 1, 1, NULL));
    SAYS(ATF_ERROR_STATE, atf_writer_flush(writer));
    /* The first failure is kept. */
    SAYS(ATF_ERROR_REFUSED, atf_writer_error(writer));
    TRUE(strstr(atf_writer_error_message(writer), "timestamp_ns") != NULL);
    TRUE(atf_writer_is_finalized(writer) == 1);
    atf_writer_close(writer);
    SAYS(ATF_ERROR_HANDLE, atf_writer_write(writer, 13, 1, 1, 1, NULL));
    atf_writer_close(writer);
    SAYS(ATF_ERROR_HANDLE, atf_last_error_status());
    SAYS(ATF_ERROR_HANDLE, atf_writer_abandon(writer));
    TRUE(atf_index_event_count((const AtfIndexReader *)writer) == 0);
}

static void options_and_paths(const char *folder) {
    AtfThreadWriter *writer = NULL;
    AtfWriteOptions options = ATF_WRITE_OPTIONS_INIT;
    options.wire = 3;
    SAYS(ATF_ERROR_ARGUMENT, atf_writer_open(folder, 2, &options, &writer));
    options.wire = 2;
    options.durability = 3;
    SAYS(ATF_ERROR_ARGUMENT, atf_writer_open(folder, 2, &options, &writer));
    options.durability = ATF_DURABILITY_FINALIZE;
    options.buffer_size = UINT64_MAX;
    SAYS(ATF_ERROR_ARGUMENT, atf_writer_open(folder, 2, &options, &writer));
    options.buffer_size = (16u << 20) + 32;
    options.survive_kill = 1;
    SAYS(ATF_ERROR_ARGUMENT, atf_writer_open(folder, 2, &options, &writer));
    options.survive_kill = 0;
    options.buffer_size = 0;
    options.struct_size = 3;
    SAYS(ATF_ERROR_ARGUMENT, atf_writer_open(folder, 2, &options, &writer));
    /*
     * A program compiled against a newer version sets a member that this library does
     * not have.
     */
    struct {
        AtfWriteOptions options;
        uint64_t unknown;
    } newer = { ATF_WRITE_OPTIONS_INIT, 1 };
    newer.options.struct_size = sizeof newer;
    SAYS(ATF_ERROR_ARGUMENT, atf_writer_open(folder, 2, &newer.options, &writer));
    newer.unknown = 0;
    SAYS(ATF_OK, atf_writer_open(folder, 2, &newer.options, &writer));
    SAYS(ATF_OK, atf_writer_abandon(writer));

    /* A path can contain any bytes, not only UTF-8. */
    SAYS(ATF_OK, atf_writer_open(in(folder, "\xff\xfe"), 0, NULL, &writer));
    atf_writer_close(writer);
    SAYS(ATF_ERROR_IO, atf_writer_open("/dev/null", 0, NULL, &writer));
    TRUE(atf_last_error_os_code() != 0);
    char *endless = malloc(70000);
    memset(endless, 'x', 69999);
    endless[69999] = 0;
    SAYS(ATF_ERROR_IO, atf_writer_open(endless, 0, NULL, &writer));
    free(endless);
    if (geteuid() != 0) {
        mkdir(in(folder, "locked"), 0500);
        SAYS(ATF_ERROR_IO, atf_writer_open(in(folder, "locked"), 0, NULL, &writer));
    }
}

static void sessions(const char *folder) {
    AtfSessionWriter *session = NULL;
    AtfThreadWriter *writer = NULL, *twice = NULL;
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_create(in(folder, "session"), NULL, NULL));
    TRUE(strstr(atf_last_error_message(), "AtfSessionWriter") != NULL);
    TRUE(access(in(folder, "session"), F_OK) != 0);
    SAYS(ATF_OK, atf_session_writer_create(in(folder, "session"), NULL, &session));
    SAYS(ATF_OK, atf_session_writer_thread(session, 5, &writer));
    SAYS(ATF_ERROR_EXISTS, atf_session_writer_thread(session, 5, &twice));
    TRUE(twice == NULL);
    SAYS(ATF_ERROR_STATE, atf_session_writer_finish(session, NULL, 0));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_set_symbols(session, NULL, 1));
    const AtfSymbol symbols[] = {
        { 1, "na\xffme", { 0, 0 } }, { 2, NULL, { 0, 0 } }, { 3, "", { 0, 0 } }
    };
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_set_symbols(session, symbols, SIZE_MAX));
    SAYS(ATF_OK, atf_session_writer_set_symbols(session, symbols, 3));
    const AtfSymbol later_symbol = { 1, "x", { 0, 1 } }, added_symbol = { 4, "four", { 0, 0 } };
    const AtfModule later_module = { 1, 0, 0, 0, NULL, NULL, { 1, 0 } };
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_set_symbols(session, &later_symbol, 1));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_add_symbol(session, &later_symbol));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_add_symbol(session, NULL));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_add_symbol(NULL, symbols));
    SAYS(ATF_OK, atf_session_writer_add_symbol(session, &added_symbol));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_set_modules(session, &later_module, 1));
    const AtfModule odd_module = { 1, 2, 0, 0, NULL, NULL, { 0, 0 } };
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_set_modules(session, &odd_module, 1));
    const AtfModule module = { 1, 0, 0, 0, "/lib/a", "id", { 0, 0 } };
    SAYS(ATF_OK, atf_session_writer_set_modules(session, &module, 1));
    AtfTimingAnchor anchor = { 1, { 2, 0, 0 } };
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_add_timing_anchor(session, &anchor));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_add_timing_anchor(session, NULL));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_set_thread_name(NULL, 5, "a"));
    const AtfLoss loss = { 1, 2, 3 }, nothing = { 0, 0, 0 };
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_set_losses(NULL, 5, &loss, NULL));
    SAYS(ATF_OK, atf_session_writer_set_thread_name(session, 5, "na\xffme"));
    SAYS(ATF_OK, atf_session_writer_set_losses(session, 5, &loss, &nothing));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_writer_set_detail_fields(NULL));
    SAYS(ATF_OK, atf_session_writer_set_detail_fields(session));
    SAYS(ATF_ERROR_HANDLE, atf_writer_flush((AtfThreadWriter *)session));
    atf_writer_close(writer);
    SAYS(ATF_OK, atf_session_writer_finish(session, NULL, 0));
    SAYS(ATF_ERROR_STATE, atf_session_writer_finish(session, NULL, 0));
    SAYS(ATF_ERROR_STATE, atf_session_writer_thread(session, 6, &writer));
    SAYS(ATF_OK, atf_session_writer_close(session));
    SAYS(ATF_ERROR_HANDLE, atf_session_writer_close(session));
    SAYS(ATF_ERROR_EXISTS, atf_session_writer_create(in(folder, "session"), NULL, &session));

    AtfSessionReader *reader = NULL;
    SAYS(ATF_OK, atf_session_open(in(folder, "session"), 0, &reader));
    const char *name = atf_session_function_name(reader, 1);
    TRUE(name != NULL && strcmp(name, "na\xef\xbf\xbdme") == 0);
    TRUE(atf_session_function_name(reader, 2) == NULL);
    TRUE(atf_session_function_name(reader, 3) == NULL);
    name = atf_session_function_name(reader, 4);
    TRUE(name != NULL && strcmp(name, "four") == 0);
    TRUE(atf_session_symbol_count(reader) == 4);
    AtfThreadInfo info;
    SAYS(ATF_OK, atf_session_thread_info(reader, 0, &info, sizeof info));
    TRUE(info.name != NULL && strcmp(info.name, "na\xef\xbf\xbdme") == 0);
    TRUE(info.lost_events.last_ns == 3 && info.lost_details.count == 0);
    AtfModule read;
    SAYS(ATF_OK, atf_session_module(reader, 0, &read));
    TRUE(read.function_offsets == 0 && strcmp(read.uuid, "id") == 0);
    SAYS(ATF_NONE, atf_session_module(reader, 1, &read));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_module(reader, 0, NULL));
    TRUE(atf_session_module_count(reader) == 1 && atf_session_module_count(NULL) == 0);
    SAYS(ATF_NONE, atf_session_timing_anchor(reader, 0, &anchor));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_timing_anchor(reader, 0, NULL));
    TRUE(atf_session_timing_anchor_count(reader) == 0);
    TRUE(atf_session_problem_count(reader) == 0);
    SAYS(ATF_OK, atf_session_close(reader));
}

static void facts(const char *folder) {
    AtfSessionReader *reader = NULL;
    AtfSessionFacts facts;
    AtfThreadInfo info;
    SAYS(ATF_OK, atf_session_open(in(folder, "session"), 0, &reader));
    SAYS(ATF_OK, atf_session_facts(reader, &facts, sizeof facts));
    TRUE(facts.lost_events.count == 0 && facts.unwritten_events == 0 && facts.ended_by == NULL);
    TRUE(facts.has_clock_error == 0 && facts.clock_error_ns == 0 && facts.has_detail_fields == 1);
    SAYS(ATF_OK, atf_session_thread_info(reader, 0, &info, sizeof info));
    TRUE(info.is_cut == 0 && info.cut.to_ns == 0);
    SAYS(ATF_ERROR_ARGUMENT, atf_session_facts(reader, NULL, sizeof facts));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_facts(NULL, &facts, sizeof facts));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_facts(reader, &facts, 0));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_facts(reader, &facts, SIZE_MAX));
    SAYS(ATF_OK, atf_session_close(reader));

    TRUE(mkdir(in(folder, "facts"), 0700) == 0);
    FILE *manifest = fopen(in(folder, "facts/manifest.json"), "w");
    TRUE(manifest != NULL);
    if (manifest == NULL) return;
    fputs("{\"format_version\": \"2.0\", \"clock_type\": 0, \"time_start_ns\": 0, \"time_end_ns\": 0,"
          "\"lost_events\": {\"count\": 1, \"first_ns\": 2, \"last_ns\": 3}, \"unwritten_events\": 4, \"drops_events\": true,"
          "\"ended_by\": \"SIGSEGV\", \"clock_error_ns\": 0, \"threads\": [{\"id\": 5,"
          "\"has_detail\": false, \"cut\": {\"from_ns\": 6, \"to_ns\": 7, \"calls\": 8, \"returns\": 9}}]}",
          manifest);
    fclose(manifest);
    SAYS(ATF_OK, atf_session_open(in(folder, "facts"), 0, &reader));
    SAYS(ATF_OK, atf_session_facts(reader, &facts, sizeof facts));
    TRUE(facts.lost_events.count == 1 && facts.lost_events.first_ns == 2);
    TRUE(facts.lost_events.last_ns == 3 && facts.unwritten_events == 4 && facts.drops_events == 1);
    TRUE(facts.has_clock_error == 1 && facts.clock_error_ns == 0 && facts.has_detail_fields == 0);
    TRUE(facts.ended_by != NULL && strcmp(facts.ended_by, "SIGSEGV") == 0);
    SAYS(ATF_OK, atf_session_thread_info(reader, 0, &info, sizeof info));
    TRUE(info.id == 5 && info.is_cut == 1 && info.cut.from_ns == 6 && info.cut.to_ns == 7);
    TRUE(info.cut.calls == 8 && info.cut.returns == 9);
    SAYS(ATF_OK, atf_session_close(reader));
}

static void reading(const char *folder, const char *sample) {
    AtfSessionReader *session = NULL;
    AtfThreadReader *thread = NULL;
    AtfIndexReader *index = NULL;
    AtfDetailReader *detail = NULL;
    AtfMerge *merge = NULL;
    AtfEvent events[4];
    AtfDetailEvent detail_event;
    AtfChecksum checksum;
    DetailFunctionPayload payload;
    uint8_t stack[65535];
    size_t count = 9;
    SAYS(ATF_ERROR_NOT_FOUND, atf_session_open(in(folder, "nowhere"), 0, &session));
    SAYS(ATF_ERROR_ARGUMENT, atf_session_open(sample, 4, &session));
    atf_set_manifest_limit(10);
    SAYS(ATF_OK, atf_session_open(sample, 0, &session));
    TRUE(atf_session_symbol_count(session) == 0 && atf_session_problem_count(session) == 1);
    TRUE(strstr(atf_session_problem(session, 0), "manifest limit of 10") != NULL);
    TRUE(atf_session_thread_count(session) > 0);
    SAYS(ATF_OK, atf_session_close(session));
    atf_set_manifest_limit(64u << 20);
    SAYS(ATF_OK, atf_session_open(sample, 0, &session));
    SAYS(ATF_NONE, atf_session_open_thread(session, 99, &thread));
    SAYS(ATF_OK, atf_session_open_thread(session, 0, &thread));
    SAYS(ATF_OK, atf_thread_index(thread, &index));
    SAYS(ATF_OK, atf_thread_detail(thread, &detail));
    SAYS(ATF_OK, atf_merge_open(session, 0, UINT64_MAX, &merge));
    /* Handles can be closed in any order. */
    SAYS(ATF_OK, atf_thread_close(thread));
    SAYS(ATF_OK, atf_session_close(session));
    TRUE(atf_index_event_count(index) == 900);
    SAYS(ATF_NONE, atf_index_get(index, 900, events));
    SAYS(ATF_NONE, atf_index_get(index, UINT64_MAX, events));
    SAYS(ATF_OK, atf_index_read(index, 898, events, 4, &count));
    TRUE(count == 2 && events[1].index_seq == 899);
    SAYS(ATF_NONE, atf_index_read(index, 900, events, 4, &count));
    TRUE(count == 0);
    SAYS(ATF_ERROR_ARGUMENT, atf_index_read(index, 0, events, SIZE_MAX, &count));
    SAYS(ATF_ERROR_ARGUMENT, atf_index_read(index, 0, NULL, 1, &count));
    SAYS(ATF_OK, atf_index_checksum(index, &checksum));
    /* Existing tracers write 0, which means no checksum. */
    TRUE(checksum == ATF_CHECKSUM_ABSENT);
    SAYS(ATF_OK, atf_detail_get(detail, 0, &detail_event));
    SAYS(ATF_OK, atf_detail_payload(detail, 0, UINT64_MAX, stack, sizeof stack, &count));
    TRUE(count == 0);
    SAYS(ATF_OK, atf_detail_payload(detail, 0, 0, stack, sizeof stack, &count));
    TRUE(count == detail_event.payload_size);
    SAYS(ATF_ERROR_ARGUMENT, atf_detail_payload(detail, 0, 0, NULL, SIZE_MAX, &count));
    SAYS(ATF_OK, atf_detail_function_payload(detail, 0, &payload, stack, sizeof stack));
    uint64_t stack_size = atf_detail_function_payload_get_stack_size(&payload);
    TRUE(detail_event.payload_size == 100 + stack_size);
    if (stack_size != 0) {
        SAYS(ATF_ERROR_BUFFER, atf_detail_function_payload(detail, 0, &payload, stack, 0));
    }
    SAYS(ATF_NONE, atf_detail_get(detail, UINT64_MAX, &detail_event));
    SAYS(ATF_ERROR_HANDLE, atf_detail_close((AtfDetailReader *)index));
    SAYS(ATF_OK, atf_detail_close(detail));
    SAYS(ATF_OK, atf_index_close(index));
    uint64_t merged = 0;
    while (atf_merge_next(merge, events, 4, &count) == ATF_OK) merged += count;
    TRUE(merged == 2000);
    SAYS(ATF_NONE, atf_merge_next(merge, events, 4, &count));
    SAYS(ATF_OK, atf_merge_close(merge));
    SAYS(ATF_ERROR_HANDLE, atf_merge_next(merge, events, 4, &count));

    SAYS(ATF_ERROR_FORMAT, atf_index_open_bytes("ATI2", 4, &index));
    TRUE(index == NULL && atf_last_error_offset() == 4);
    SAYS(ATF_ERROR_ARGUMENT, atf_index_open_bytes("ATI2", SIZE_MAX, &index));
    SAYS(ATF_ERROR_ARGUMENT, atf_index_open_bytes(NULL, 1, &index));
    SAYS(ATF_ERROR_FORMAT, atf_index_open_bytes(NULL, 0, &index));
}

static void recovering(const char *folder, const char *sample) {
    char out[4096];
    char *report = (char *)1;
    AtfRecoverOptions options = ATF_RECOVER_OPTIONS_INIT;
    snprintf(out, sizeof out, "%s", in(folder, "recovered"));
    options.symbols_path = "/nowhere/manifest.json";
    SAYS(ATF_ERROR_NOT_FOUND, atf_recover(sample, out, &options, &report));
    TRUE(report == NULL);
    options.symbols_path = NULL;
    options.salvage = 1;
    SAYS(ATF_OK, atf_recover(sample, out, &options, &report));
    TRUE(report != NULL && report[0] == '{');
    atf_string_free(report);
    SAYS(ATF_ERROR_EXISTS, atf_recover(sample, out, &options, &report));
    TRUE(report == NULL);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    null_everywhere();
    wrong_order(argv[1]);
    options_and_paths(argv[1]);
    sessions(argv[1]);
    facts(argv[1]);
    reading(argv[1], argv[2]);
    recovering(argv[1], argv[2]);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
