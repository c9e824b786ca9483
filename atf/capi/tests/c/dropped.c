/*
 * A tracer that uses S3's functions, and the clock under its name in S1. Details are lost as if a
 * ring were full, both with and without the call that drops a detail. Uses survive_kill, and
 * prints the warnings.
 */
#include <ada_timing.h>

#include <atf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "expect.h"

static AtfThreadWriter *in_use = NULL;

static void on_warning(void *user, AtfStatus status, const char *message) {
    const char *place = strstr(message, "thread_");
    printf("%s %s: %s\n", (const char *)user, atf_status_name(status), place ? place : message);
    /*
     * No lock is held and no handle is in use, so the callback can call the library, even for this
     * writer.
     */
    if (in_use) {
        TRUE(atf_writer_error(in_use) != ATF_OK);
        TRUE(atf_writer_next_index_seq(in_use) > 0);
    }
    TRUE(atf_writer_create(NULL, 0, 3) == NULL || status == ATF_ERROR_ARGUMENT);
}

static void quiet(void *user, AtfStatus status, const char *message) {
    (void)status;
    (void)message;
    ++*(unsigned *)user;
}

static void write_index(AtfThreadWriter *writer, uint64_t time, uint32_t seq, uint32_t detail_seq) {
    TRUE(atf_write_index_event(writer, time + seq, 42, ATF_EVENT_KIND_CALL, 1, detail_seq) == seq);
}

static void write_detail(AtfThreadWriter *writer, uint64_t time, uint32_t seq) {
    DetailFunctionPayload payload;
    memset(&payload, 0, sizeof payload);
    atf_detail_function_payload_set_function_id(&payload, 42);
    atf_write_detail_event(writer, seq, time + seq, &payload);
}

/* Reserves details 0 to 3 and drops detail 1. */
static void told(const char *folder, uint64_t time) {
    AtfThreadSummary summary;
    AtfThreadWriter *writer = atf_writer_create(folder, 0, atf_clock_type());
    for (uint32_t seq = 0; seq < 4; seq++) write_index(writer, time, seq, seq);
    write_detail(writer, time, 0);
    TRUE(atf_writer_drop_detail(writer, 1) == ATF_OK);
    write_detail(writer, time, 2);
    write_detail(writer, time, 3);
    /* The number of the dropped detail is not reused. */
    write_index(writer, time, 4, 4);
    write_detail(writer, time, 4);
    TRUE(atf_writer_error(writer) == ATF_OK);
    TRUE(atf_writer_finish(writer, &summary, sizeof summary) == ATF_OK);
    TRUE(summary.event_count == 5 && summary.detail_count == 4 && summary.dropped_details == 1);
    TRUE(atf_writer_error(writer) == ATF_OK);
    atf_writer_close(writer);
}

/* Uses only S3's five functions. Detail 1 and the last detail are never written. */
static void untold(const char *folder, uint64_t time) {
    AtfThreadWriter *writer = atf_writer_create(folder, 1, atf_clock_type());
    in_use = writer;
    for (uint32_t seq = 0; seq < 4; seq++) write_index(writer, time, seq, seq);
    write_detail(writer, time, 0);
    write_detail(writer, time, 2);
    TRUE(atf_writer_next_detail_seq(writer) == 4);
    /* A detail for a nonexistent event is an error and causes no detail to be dropped. */
    write_detail(writer, time, 9);
    TRUE(atf_last_error_status() == ATF_ERROR_LINK);
    atf_writer_finalize(writer);
    TRUE(atf_writer_is_finalized(writer) == 1);
    TRUE(atf_writer_error(writer) == ATF_ERROR_LOST);
    atf_writer_close(writer);
    in_use = NULL;
}

/* A program that ignores errors gets one warning per kind of failure, not per event. */
static void repeated(const char *folder, uint64_t time) {
    unsigned count = 0;
    AtfThreadWriter *writer = atf_writer_create(folder, 2, atf_clock_type());
    atf_writer_set_warning_callback(quiet, &count);
    write_index(writer, time, 0, UINT32_MAX);
    for (int event = 0; event < 1000; event++) {
        TRUE(atf_write_index_event(writer, time - 1, 42, 1, 1, UINT32_MAX) == UINT32_MAX);
        TRUE(atf_write_index_event(NULL, time, 42, 1, 1, UINT32_MAX) == UINT32_MAX);
    }
    TRUE(count == 2);
    TRUE(atf_writer_create(folder, 2, 3) == NULL && atf_writer_create(folder, 2, 3) == NULL);
    TRUE(count == 4);
    atf_writer_close(writer);
    TRUE(count == 5);
    atf_writer_set_warning_callback(NULL, NULL);
    TRUE(atf_writer_create(folder, 2, 3) == NULL);
    TRUE(count == 5);
}

static void keep(void *user, AtfStatus status, const char *message) {
    (void)message;
    *(AtfStatus *)user = status;
}

/* The disk is full after 4 KiB: the warning arrives while the thread is still writing. */
static void full(const char *folder, uint64_t time) {
    AtfStatus status = ATF_OK;
    struct rlimit limit;
    AtfThreadWriter *writer = atf_writer_create(folder, 4, atf_clock_type());
    signal(SIGXFSZ, SIG_IGN);
    TRUE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = 4096;
    TRUE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    atf_writer_set_warning_callback(keep, &status);
    for (uint32_t seq = 0; seq < 1000000 && status == ATF_OK; seq++)
        atf_write_index_event(writer, time + seq, 42, ATF_EVENT_KIND_CALL, 1, UINT32_MAX);
    TRUE(status == ATF_ERROR_IO);
    atf_writer_set_warning_callback(NULL, NULL);
    atf_writer_close(writer);
}

int main(int argc, char **argv) {
    char ring[4096];
    AtfWriteOptions options = ATF_WRITE_OPTIONS_INIT;
    if (argc < 2) return 2;
    ada_timing_init();
    uint64_t time = ada_get_timestamp_ns();
    atf_writer_set_warning_callback(on_warning, (void *)"warned:");
    options.durability = 9;
    TRUE(atf_writer_set_default_options(&options) == ATF_ERROR_ARGUMENT);
    options.durability = ATF_DURABILITY_FINALIZE;
    options.survive_kill = 1;
    TRUE(atf_writer_set_default_options(&options) == ATF_OK);
    AtfThreadWriter *writer = atf_writer_create(argv[1], 3, atf_clock_type());
    snprintf(ring, sizeof ring, "%s/thread_3/ring.atf", argv[1]);
    FILE *file = fopen(ring, "rb");
    TRUE(file != NULL);
    if (file) fclose(file);
    atf_writer_close(writer);
    told(argv[1], time);
    TRUE(atf_writer_set_default_options(NULL) == ATF_OK);
    untold(argv[1], time);
    repeated(argv[1], time);
    fflush(stdout);
    full(argv[1], time);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
