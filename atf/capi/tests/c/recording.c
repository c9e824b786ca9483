/*
 * Records from several threads and reads the sessions back. Tests overflow policies, misuse, signals,
 * cancellation and forks. Arguments: an empty folder for the sessions; any second argument skips the forks.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "atf_record.h"
#include "expect.h"
#include "namesake.h"

#define THREADS 4
#define EVENTS 6000u
/* Long enough for any machine: only a failing test waits this long. */
#define DEADLINE_NS (60ull * 1000 * 1000 * 1000)

static const char *folder;

static AtfSessionWriter *session_in(const char *name, int survive_kill) {
    char path[4096];
    AtfSessionWriter *session = NULL;
    AtfWriteOptions options = ATF_WRITE_OPTIONS_INIT;
    options.survive_kill = (uint8_t)survive_kill;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    SAYS(ATF_OK, atf_session_writer_create(path, &options, &session));
    return session;
}

static AtfSessionReader *opened(const char *name) {
    char path[4096];
    AtfSessionReader *session = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    SAYS(ATF_OK, atf_session_open(path, 0, &session));
    return session;
}

static AtfRecording *start(const AtfSessionWriter *session, const AtfRecordOptions *options) {
    AtfRecording *recording = NULL;
    SAYS(ATF_OK, atf_recording_start(session, options, &recording));
    return recording;
}

/* Stops the recording, closes both handles, and returns the summary. */
static AtfRecordSummary stop(AtfRecording *recording, AtfSessionWriter *session) {
    AtfRecordSummary summary;
    memset(&summary, 0xff, sizeof summary);
    SAYS(ATF_OK, atf_recording_stop(recording, &summary, sizeof summary));
    SAYS(ATF_OK, atf_recording_close(recording));
    SAYS(ATF_OK, atf_session_writer_close(session));
    return summary;
}

static AtfDetail detail_of(const void *payload, size_t size) {
    AtfDetail detail = { ATF_DETAIL_EVENT_FUNCTION_CALL, 0, 0, payload, size, { 0, 0 } };
    return detail;
}

/* ---- Threads ---- */

typedef struct Traced {
    const AtfRecording *recording;
    AtfRecorder *recorder;
} Traced;

/* Records calls and returns. Every third event has a detail that contains the event's number. */
static void *trace(void *argument) {
    const Traced *traced = argument;
    uint64_t details = 0;
    for (uint64_t n = 0; n < EVENTS; n++) {
        uint64_t seq = 77, function = (uint64_t)7 << 32 | n / 2;
        uint32_t kind = n % 2 ? ATF_EVENT_KIND_RETURN : ATF_EVENT_KIND_CALL;
        if (n % 3) {
            SAYS(ATF_OK, traced->recorder ? atf_recorder_record(traced->recorder, 10 + n, function,
                                                                kind, 1, &seq)
                                          : atf_recording_record(traced->recording, 10 + n, function,
                                                                 kind, 1, &seq));
            TRUE(seq == n);
            continue;
        }
        DetailFunctionPayload payload;
        AtfLink link;
        memset(&payload, 0, sizeof payload);
        atf_detail_function_payload_set_function_id(&payload, function);
        atf_detail_function_payload_set_x_regs(&payload, 0, n);
        AtfDetail detail = detail_of(&payload, sizeof payload);
        if (n % 2) detail.event_type = ATF_DETAIL_EVENT_FUNCTION_RETURN;
        SAYS(ATF_OK, traced->recorder
                         ? atf_recorder_record_with_detail(traced->recorder, 10 + n, function, kind,
                                                           1, &detail, &link)
                         : atf_recording_record_with_detail(traced->recording, 10 + n, function, kind,
                                                            1, &detail, &link));
        TRUE(link.index_seq == n && link.detail_seq == details && link.reserved[0] == 0);
        details++;
    }
    SAYS(ATF_OK, atf_recorder_close(traced->recorder));
    return NULL;
}

/* Compares a session's threads with the recorded events. */
static void read_back(const char *name) {
    AtfSessionReader *session = opened(name);
    size_t names = 0;
    TRUE(atf_session_thread_count(session) == THREADS);
    TRUE(atf_session_problem_count(session) == 0);
    TRUE(strcmp(atf_session_function_name(session, 5), "five") == 0);
    for (size_t position = 0; position < THREADS; position++) {
        AtfThreadInfo info;
        AtfThreadReader *thread = NULL;
        AtfIndexReader *index = NULL;
        AtfDetailReader *detail = NULL;
        SAYS(ATF_OK, atf_session_thread_info(session, position, &info, sizeof info));
        names += info.name != NULL && strcmp(info.name, "render") == 0;
        TRUE(info.is_listed && info.lost_events.count == 0 && info.lost_details.count == 0);
        SAYS(ATF_OK, atf_session_open_thread(session, position, &thread));
        SAYS(ATF_OK, atf_thread_index(thread, &index));
        SAYS(ATF_OK, atf_thread_detail(thread, &detail));
        TRUE(atf_index_event_count(index) == EVENTS);
        for (uint64_t n = 0; n < EVENTS; n++) {
            AtfEvent event;
            AtfDetailEvent forward;
            DetailFunctionPayload payload;
            SAYS(ATF_OK, atf_index_get(index, n, &event));
            TRUE(event.timestamp_ns == 10 + n && event.function_id == ((uint64_t)7 << 32 | n / 2));
            SAYS(n % 3 ? ATF_NONE : ATF_OK, atf_thread_detail_of(thread, n, &forward));
            if (n % 3 == 0) {
                SAYS(ATF_OK, atf_detail_function_payload(detail, n / 3, &payload, NULL, 0));
                TRUE(atf_detail_function_payload_get_x_regs(&payload, 0) == n);
            }
        }
        SAYS(ATF_OK, atf_detail_close(detail));
        SAYS(ATF_OK, atf_index_close(index));
        SAYS(ATF_OK, atf_thread_close(thread));
    }
    TRUE(names == THREADS / 2);
    SAYS(ATF_OK, atf_session_close(session));
}

/* Registers half of the threads explicitly and half with their first event. */
static void threads(const char *name, int survive_kill) {
    pthread_t ids[THREADS];
    Traced traced[THREADS];
    AtfSessionWriter *session = session_in(name, survive_kill);
    AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
    options.overflow = ATF_OVERFLOW_BLOCK;
    options.ring_events = 64;
    options.ring_payload_size = 1000;
    AtfRecording *recording = start(session, &options);
    /* The session's own functions still work. */
    const AtfSymbol symbol = { 5, "five", { 0, 0 } };
    SAYS(ATF_OK, atf_session_writer_set_symbols(session, &symbol, 1));
    for (int n = 0; n < THREADS; n++) {
        traced[n].recording = recording;
        traced[n].recorder = NULL;
        if (n % 2) {
            SAYS(ATF_OK, atf_recording_thread(recording, "render", &traced[n].recorder));
            TRUE(atf_recorder_thread_id(traced[n].recorder) < THREADS);
        }
        TRUE(pthread_create(&ids[n], NULL, trace, &traced[n]) == 0);
    }
    for (int n = 0; n < THREADS; n++) pthread_join(ids[n], NULL);
    SAYS(ATF_OK, atf_recording_flush(recording, DEADLINE_NS));
    AtfRecordSummary summary = stop(recording, session);
    TRUE(summary.threads == THREADS && summary.finalized == THREADS);
    TRUE(summary.event_count == THREADS * EVENTS && summary.detail_count == THREADS * EVENTS / 3);
    TRUE(summary.time_start_ns == 10 && summary.time_end_ns == 9 + EVENTS);
    TRUE(summary.lost_events == 0 && summary.lost_details == 0);
    read_back(name);
}

/* ---- Full rings ---- */

static const char bytes[2000];

/*
 * Starts a recording and registers a thread with a ring of 4 events and 1000 bytes. The drain sleeps
 * until the recording stops.
 */
static AtfRecording *asleep(const AtfSessionWriter *session, uint8_t overflow,
                            AtfRecorder **recorder) {
    AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
    options.overflow = overflow;
    options.ring_events = 4;
    options.ring_payload_size = 1000;
    options.interval_ns = DEADLINE_NS;
    AtfRecording *recording = start(session, &options);
    SAYS(ATF_OK, atf_recording_thread(recording, NULL, recorder));
    /* The pass that registers a thread also drains it. Wait for the next pass. */
    SAYS(ATF_OK, atf_recording_flush(recording, DEADLINE_NS));
    return recording;
}

static void drop_detail(void) {
    AtfSessionWriter *session = session_in("drop_detail", 0);
    AtfRecorder *recorder = NULL;
    AtfRecording *recording = asleep(session, ATF_OVERFLOW_DROP_DETAIL, &recorder);
    AtfDetail detail = detail_of(bytes, 600);
    AtfLink link = { 77, 77, { 0, 0 } };
    SAYS(ATF_ERROR_ARGUMENT, atf_recording_thread(NULL, NULL, &(AtfRecorder *){ NULL }));
    for (uint64_t n = 0; n < 10; n++) {
        int expected = n == 0 ? ATF_OK : n < 4 ? ATF_LOST_DETAIL : ATF_LOST_EVENT;
        SAYS(expected, atf_recorder_record_with_detail(recorder, n, 1, 1, 1, &detail, &link));
        TRUE(link.index_seq == 0 && link.detail_seq == 0);
    }
    SAYS(ATF_LOST_REFUSED, atf_recorder_record(recorder, 2, 1, 1, 1, NULL));
    SAYS(ATF_LOST_REFUSED, atf_recorder_record(recorder, 20, 1, 9, 1, NULL));
    SAYS(ATF_OK, atf_recorder_lose_event(recorder, 30));
    /* A loss is not an error. */
    SAYS(ATF_ERROR_ARGUMENT, atf_last_error_status());
    TRUE(!atf_recorder_is_abandoned(recorder));
    AtfRecordSummary summary = stop(recording, session);
    TRUE(summary.event_count == 4 && summary.detail_count == 1);
    TRUE(summary.lost_events == 9 && summary.lost_details == 3);
    /* A recorder outlives its recording. */
    TRUE(atf_recorder_is_abandoned(recorder));
    SAYS(ATF_LOST_EVENT, atf_recorder_record(recorder, 40, 1, 1, 1, NULL));
    SAYS(ATF_OK, atf_recorder_close(recorder));

    AtfSessionReader *reader = opened("drop_detail");
    AtfThreadInfo info;
    SAYS(ATF_OK, atf_session_thread_info(reader, 0, &info, sizeof info));
    TRUE(info.lost_events.count == 9 && info.lost_events.first_ns == 2);
    TRUE(info.lost_events.last_ns == 30);
    TRUE(info.lost_details.count == 3 && info.lost_details.last_ns == 3);
    SAYS(ATF_OK, atf_session_close(reader));
}

static void drop_newest(void) {
    AtfSessionWriter *session = session_in("drop_newest", 0);
    AtfRecorder *recorder = NULL;
    AtfRecording *recording = asleep(session, ATF_OVERFLOW_DROP_NEWEST, &recorder);
    AtfDetail detail = detail_of(bytes, 600);
    SAYS(ATF_OK, atf_recorder_record_with_detail(recorder, 1, 1, 1, 1, &detail, NULL));
    SAYS(ATF_LOST_EVENT, atf_recorder_record_with_detail(recorder, 2, 1, 1, 1, &detail, NULL));
    for (uint64_t n = 3; n < 6; n++) SAYS(ATF_OK, atf_recorder_record(recorder, n, 1, 1, 1, NULL));
    SAYS(ATF_LOST_EVENT, atf_recorder_record(recorder, 6, 1, 1, 1, NULL));
    SAYS(ATF_OK, atf_recorder_close(recorder));
    AtfRecordSummary summary = stop(recording, session);
    TRUE(summary.event_count == 4 && summary.detail_count == 1);
    TRUE(summary.lost_events == 2 && summary.lost_details == 0);
}

/* Full-size rings of 2048 events take 64 KiB, and the smallest rings take 8 KiB. */
static void little_memory(void) {
    AtfSessionWriter *session = session_in("little_memory", 0);
    AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
    options.ring_events = 2048;
    options.ring_payload_size = ATF_NO_PAYLOADS;
    options.ring_memory = 80u << 10;
    AtfRecording *recording = start(session, &options);
    AtfRecorder *recorders[7] = { NULL }, *refused = NULL;
    /* One ring of 1024 events fits, and so do six of 256. */
    for (int n = 0; n < 7; n++) SAYS(ATF_OK, atf_recording_thread(recording, NULL, &recorders[n]));
    SAYS(ATF_ERROR_LIMIT, atf_recording_thread(recording, NULL, &refused));
    TRUE(strstr(atf_last_error_message(), "ring_memory: the limit of 81920 is reached") != NULL);
    for (int n = 0; n < 7; n++) SAYS(ATF_OK, atf_recorder_close(recorders[n]));
    AtfRecordSummary summary = stop(recording, session);
    TRUE(summary.threads == 7 && summary.smaller_rings == 7);
}

/* ---- Clocks ---- */

/* Returns the measured error of the timestamps, or -1 if they are from the system's clock. */
static int64_t clock_error(const char *name) {
    AtfSessionReader *reader = opened(name);
    AtfSessionFacts facts;
    SAYS(ATF_OK, atf_session_facts(reader, &facts, sizeof facts));
    SAYS(ATF_OK, atf_session_close(reader));
    return facts.has_clock_error ? (int64_t)facts.clock_error_ns : -1;
}

static void clocks(void) {
    TRUE(atf_recording_now_ns(NULL) == 0);
    for (uint8_t clock = ATF_RECORD_CLOCK_SYSTEM; clock <= ATF_RECORD_CLOCK_COUNTER; clock++) {
        const char *name = clock ? "counter" : "system";
        AtfSessionWriter *session = session_in(name, 0);
        AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
        options.clock = clock;
        if (clock && !atf_counter_clock_is_available()) {
            AtfRecording *none = NULL;
            SAYS(ATF_ERROR_ARGUMENT, atf_recording_start(session, &options, &none));
            SAYS(ATF_OK, atf_session_writer_close(session));
            break;
        }
        AtfRecording *recording = start(session, &options);
        const uint64_t before = ada_get_timestamp_ns();
        const uint64_t now = atf_recording_now_ns(recording);
        const uint64_t after = ada_get_timestamp_ns();
        SAYS(ATF_OK, atf_recording_record(recording, now, 1, 1, 1, NULL));
        stop(recording, session);
        const int64_t error = clock_error(name);
        TRUE((error >= 0) == (clock == ATF_RECORD_CLOCK_COUNTER));
        /* The error is measured only occasionally, so allow for a larger one. */
        const uint64_t most = error < 0 ? 0 : (uint64_t)error + 1000000;
        TRUE(before <= now + most && now <= after + most);
    }
}

/* ---- Windows ---- */

static AtfRecording *triggered;

static void on_trigger(int number) {
    (void)number;
    TRUE(atf_recording_trigger(triggered, NULL) == ATF_OK);
    TRUE(atf_recording_wait_for_triggers(triggered, DEADLINE_NS) == ATF_OK);
}

/*
 * Records three events around a signal that is a trigger: the first is too early for the window,
 * and the last too late.
 */
static void window(const char *name, unsigned kind) {
    AtfSessionWriter *session = session_in(name, 0);
    AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
    options.window = (uint8_t)kind;
    options.pre_roll_ns = DEADLINE_NS;
    triggered = start(session, &options);
    AtfDetail detail = detail_of(bytes, 8);
    uint64_t now = ada_get_timestamp_ns(), past = now > 2 * DEADLINE_NS ? now - 2 * DEADLINE_NS : 0;
    SAYS(ATF_OK, atf_recording_record_with_detail(triggered, past, 1, 1, 1, &detail, NULL));
    SAYS(ATF_OK, atf_recording_record_with_detail(triggered, now, 1, 1, 1, &detail, NULL));
    signal(SIGUSR1, on_trigger);
    raise(SIGUSR1);
    uint64_t later = ada_get_timestamp_ns() + DEADLINE_NS;
    SAYS(ATF_OK, atf_recording_record(triggered, later, 1, 1, 1, NULL));
    if (kind == ATF_WINDOW_ALL) SAYS(ATF_OK, atf_recording_trigger_at(triggered, later));
    SAYS(ATF_OK, atf_recording_set_window_open(triggered, 1));
    SAYS(ATF_OK, atf_recording_set_window_open(triggered, 0));
    TRUE(stop(triggered, session).lost_details == 0);
}

static void on_end(int number) {
    if (atf_recording_trigger_last(triggered, NULL) != ATF_OK) _exit(1);
    if (atf_recording_wait_for_triggers(triggered, DEADLINE_NS) != ATF_OK) _exit(2);
    signal(number, SIG_DFL);
    raise(number);
}

/* Checks that the last events are written before a signal ends the process. */
static void last_trigger(void) {
    pid_t child = fork();
    if (child == 0) {
        AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
        options.window = ATF_WINDOW_ALL;
        options.pre_roll_ns = DEADLINE_NS;
        triggered = start(session_in("last", 0), &options);
        SAYS(ATF_OK, atf_recording_record(triggered, ada_get_timestamp_ns(), 1, 1, 1, NULL));
        signal(SIGTERM, on_end);
        raise(SIGTERM);
        _exit(3);
    }
    int status = 0;
    TRUE(waitpid(child, &status, 0) == child);
    TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void no_window(void) {
    AtfRecording *recording = NULL;
    AtfSessionWriter *session = session_in("no_window", 1);
    AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
    options.window = ATF_WINDOW_DETAILS;
    SAYS(ATF_ERROR_ARGUMENT, atf_recording_start(session, &options, &recording));
    TRUE(strstr(atf_last_error_message(), "window") != NULL);
    recording = start(session, NULL);
    SAYS(ATF_OK, atf_recording_trigger(recording, NULL));
    SAYS(ATF_OK, atf_recording_set_window_open(recording, 1));
    stop(recording, session);
}

/* ---- Segments ---- */

static void segments(void) {
    AtfSessionWriter *session = session_in("segments", 0);
    AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
    options.segment_size = 10 * 32;
    options.segment_keep = 100;
    AtfRecording *recording = start(session, &options);
    for (uint64_t n = 0; n < 20; n++) {
        SAYS(ATF_OK, atf_recording_record(recording, n, 1, ATF_EVENT_KIND_CALL, 1, NULL));
        SAYS(ATF_OK, atf_recording_flush(recording, DEADLINE_NS));
    }
    SAYS(ATF_OK, atf_recording_record(recording, 20, 1, ATF_EVENT_KIND_CALL, 1, NULL));
    AtfRecordSummary summary = stop(recording, session);
    TRUE(summary.segments == 3 && summary.event_count == 21);
}

/* ---- Wrong calls ---- */

/* As in misuse.c. */
static void null_everywhere(void) {
    AtfRecording *recording = (AtfRecording *)1;
    AtfRecorder *recorder = (AtfRecorder *)1;
    AtfDetail detail = detail_of(bytes, 1);
    SAYS(ATF_ERROR_ARGUMENT, atf_recording_start(NULL, NULL, &recording));
    TRUE(recording == NULL);
    SAYS(ATF_ERROR_ARGUMENT, atf_recording_thread(NULL, NULL, &recorder));
    TRUE(recorder == NULL);
    SAYS(ATF_ERROR_ARGUMENT, atf_recorder_record_with_detail(NULL, 1, 1, 1, 1, &detail, NULL));
    TRUE(atf_recorder_thread_id(NULL) == UINT32_MAX);
    TRUE(atf_recorder_is_abandoned(NULL) == 0);
}

/* Checks that no recording starts with this value of one option. */
#define REFUSED(option, value)                                                                   \
    do {                                                                                         \
        options.option = value;                                                                  \
        SAYS(ATF_ERROR_ARGUMENT, atf_recording_start(session, &options, &recording));            \
        options = defaults;                                                                      \
    } while (0)

static void options_of(AtfSessionWriter *session) {
    AtfRecording *recording = NULL;
    const AtfRecordOptions defaults = ATF_RECORD_OPTIONS_INIT;
    AtfRecordOptions options = defaults;
    REFUSED(overflow, 3);
    REFUSED(clock, 2);
    REFUSED(window, 3);
    REFUSED(pre_roll_ns, 1);
    REFUSED(segment_keep, 1);
    options.window = ATF_WINDOW_ALL;
    REFUSED(trigger_on_stop, 2);
    REFUSED(ring_events, (1u << 25) + 1);
    TRUE(strstr(atf_last_error_message(), "events") != NULL);
    REFUSED(ring_payload_size, (1u << 30) + 1);
    REFUSED(reserved[6], 1);
    REFUSED(struct_size, 0);
    TRUE(recording == NULL);
}

static void wrong_order(void) {
    AtfSessionWriter *session = session_in("wrong_order", 0);
    AtfRecording *recording = NULL, *second = NULL;
    AtfRecorder *recorder = NULL, *other = NULL;
    AtfRecordSummary summary;
    uint64_t seq = 77;
    options_of(session);
    /* After the failed starts in options_of, the session can still be recorded. */
    AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
    options.max_threads = 1;
    recording = start(session, &options);
    SAYS(ATF_ERROR_STATE, atf_recording_start(session, NULL, &second));
    TRUE(second == NULL);
    SAYS(ATF_ERROR_ARGUMENT, atf_recording_thread(recording, NULL, NULL));
    SAYS(ATF_OK, atf_recording_thread(recording, "", &recorder));
    SAYS(ATF_ERROR_LIMIT, atf_recording_thread(recording, NULL, &other));
    TRUE(other == NULL);
    SAYS(ATF_OK, atf_recorder_record(recorder, 1, 1, 1, 1, &seq));
    TRUE(seq == 0);
    SAYS(ATF_ERROR_ARGUMENT, atf_recorder_record_with_detail(recorder, 2, 1, 1, 1, NULL, NULL));
    AtfDetail detail = detail_of(NULL, 5);
    SAYS(ATF_ERROR_ARGUMENT, atf_recorder_record_with_detail(recorder, 2, 1, 1, 1, &detail, NULL));
    detail.payload_size = 0;
    detail.reserved = 1;
    SAYS(ATF_ERROR_ARGUMENT, atf_recording_record_with_detail(recording, 2, 1, 1, 1, &detail, NULL));
    SAYS(ATF_ERROR_HANDLE, atf_recorder_record((AtfRecorder *)recording, 2, 1, 1, 1, NULL));
    SAYS(ATF_ERROR_HANDLE, atf_recording_stop((AtfRecording *)recorder, NULL, 0));
    SAYS(ATF_ERROR_HANDLE, atf_recording_start((AtfSessionWriter *)recording, NULL, &second));
    SAYS(ATF_OK, atf_recorder_close(recorder));
    SAYS(ATF_ERROR_HANDLE, atf_recorder_close(recorder));
    SAYS(ATF_ERROR_HANDLE, atf_recorder_record(recorder, 3, 1, 1, 1, NULL));
    SAYS(ATF_ERROR_HANDLE, atf_recorder_lose_event(recorder, 3));
    /* The thread frees its slot once its files are finalized. */
    SAYS(ATF_OK, atf_recording_flush(recording, DEADLINE_NS));
    SAYS(ATF_OK, atf_recording_thread(recording, NULL, &other));
    TRUE(atf_recorder_thread_id(other) == 1);

    SAYS(ATF_ERROR_ARGUMENT, atf_recording_stop(recording, &summary, 0));
    SAYS(ATF_OK, atf_recording_stop(recording, &summary, sizeof summary));
    TRUE(summary.threads == 2 && summary.event_count == 1);
    SAYS(ATF_ERROR_STATE, atf_recording_stop(recording, &summary, sizeof summary));
    SAYS(ATF_ERROR_STATE, atf_recording_flush(recording, DEADLINE_NS));
    SAYS(ATF_ERROR_STATE, atf_recording_thread(recording, NULL, &recorder));
    SAYS(ATF_LOST_EVENT, atf_recording_record(recording, 3, 1, 1, 1, NULL));
    SAYS(ATF_LOST_EVENT, atf_recorder_record(other, 3, 1, 1, 1, NULL));
    SAYS(ATF_ERROR_STATE, atf_session_writer_finish(session, NULL, 0));
    SAYS(ATF_ERROR_STATE, atf_recording_start(session, NULL, &second));
    SAYS(ATF_OK, atf_recording_close(recording));
    SAYS(ATF_ERROR_HANDLE, atf_recording_close(recording));
    SAYS(ATF_ERROR_HANDLE, atf_recording_record(recording, 3, 1, 1, 1, NULL));
    SAYS(ATF_OK, atf_recorder_close(other));
    SAYS(ATF_OK, atf_session_writer_close(session));
}

/* Closing a recording without stopping it finalizes it, even after the session's handle is closed. */
static void closed(void) {
    AtfSessionWriter *session = session_in("closed", 0);
    AtfRecording *recording = start(session, NULL);
    SAYS(ATF_OK, atf_session_writer_close(session));
    SAYS(ATF_OK, atf_recording_record(recording, 1, 1, ATF_EVENT_KIND_CALL, 1, NULL));
    SAYS(ATF_OK, atf_recording_close(recording));
}

/* Checks that every call that can return errors returns the recording's first error. */
static void failing(void) {
    char path[4096];
    AtfSessionWriter *session = session_in("failing", 0);
    AtfRecording *recording = start(session, NULL);
    snprintf(path, sizeof path, "%s/failing/thread_0", folder);
    FILE *obstacle = fopen(path, "w");
    TRUE(obstacle != NULL && fclose(obstacle) == 0);
    SAYS(ATF_LOST_EVENT, atf_recording_record(recording, 1, 1, 1, 1, NULL));
    int status = (int)atf_recording_flush(recording, DEADLINE_NS);
    TRUE(status == ATF_ERROR_EXISTS || status == ATF_ERROR_IO);
    TRUE(strstr(atf_last_error_path(), "thread_0") != NULL);
    SAYS(status, atf_recording_close(recording));
    SAYS(ATF_OK, atf_session_writer_close(session));
    remove(path);
}

/* ---- Signals ---- */

static const AtfRecording *interrupted;
static const AtfRecorder *busy;
static volatile sig_atomic_t signals, recorded, lost, other;

static void on_signal(int number) {
    (void)number;
    for (int n = 0; n < 2; n++) {
        uint64_t time = ada_get_timestamp_ns();
        int status = n ? (int)atf_recorder_record(busy, time, 2, 1, 1, NULL)
                       : (int)atf_recording_record(interrupted, time, 2, 1, 1, NULL);
        if (status == ATF_OK) recorded++;
        else if (status == ATF_LOST_EVENT) lost++;
        else other++;
    }
    signals++;
}

static void interrupt(void) {
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    AtfSessionWriter *session = session_in("signals", 0);
    AtfRecorder *recorder = NULL;
    AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
    options.ring_events = 1u << 20;
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    AtfRecording *recording = start(session, &options);
    SAYS(ATF_OK, atf_recording_thread(recording, NULL, &recorder));
    SAYS(ATF_OK, atf_recording_record(recording, 1, 1, 1, 1, NULL));
    interrupted = recording;
    busy = recorder;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    uint64_t ok = 1, refused = 0;
    /* Repeat until a handler has interrupted a call. */
    while (signals < 100 || (lost == 0 && signals < 10000)) {
        for (int n = 0; n < 2; n++) {
            uint64_t time = ada_get_timestamp_ns();
            int status = n ? (int)atf_recorder_record(recorder, time, 1, 1, 1, NULL)
                           : (int)atf_recording_record(recording, time, 1, 1, 1, NULL);
            /* The handler ran after the clock was read, or a slow drain left the ring full. */
            if (status == ATF_LOST_REFUSED || status == ATF_LOST_EVENT) refused++;
            else if (status == ATF_OK) ok++;
            else TRUE(!"another status");
        }
    }
    setitimer(ITIMER_REAL, &never, NULL);
    /* A later alarm ends this program. */
    signal(SIGALRM, SIG_DFL);
    SAYS(ATF_OK, atf_recorder_close(recorder));
    AtfRecordSummary summary = stop(recording, session);
    TRUE(other == 0 && lost > 0 && recorded + lost == 2 * signals);
    TRUE(summary.event_count == ok + (uint64_t)recorded);
    TRUE(summary.lost_events == refused + (uint64_t)lost);
}

/* ---- Cancellation ---- */

/* More events than fit into a buffer or a ring. */
#define MANY 20000u

static void on_warning(void *user, AtfStatus status, const char *message) {
    (void)user;
    TRUE(status == ATF_ERROR_ARGUMENT && write(STDOUT_FILENO, message, 0) == 0);
}

static void record_write_and_read(void) {
    char path[4096], other[4096];
    AtfDetail detail = detail_of(bytes, 8);
    for (int survive_kill = 0; survive_kill < 2; survive_kill++) {
        const char *name = survive_kill ? "cancelled_direct" : "cancelled";
        AtfSessionWriter *session = session_in(name, survive_kill);
        AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
        AtfRecorder *recorder = NULL;
        options.overflow = ATF_OVERFLOW_BLOCK;
        options.ring_events = 256;
        AtfRecording *recording = start(session, &options);
        SAYS(ATF_OK, atf_recording_thread(recording, NULL, &recorder));
        for (uint64_t n = 0; n < MANY; n++) {
            SAYS(ATF_OK, atf_recording_record(recording, n, 1, 1, 1, NULL));
            SAYS(ATF_OK, atf_recorder_record(recorder, n, 1, 1, 1, NULL));
        }
        SAYS(ATF_OK, atf_recording_record_with_detail(recording, MANY, 1, 1, 1, &detail, NULL));
        SAYS(ATF_OK, atf_recording_flush(recording, DEADLINE_NS));
        SAYS(ATF_OK, atf_recorder_close(recorder));
        TRUE(stop(recording, session).event_count == 2 * MANY + 1);
    }
    AtfSessionWriter *writer = session_in("cancelled_writer", 0);
    AtfThreadWriter *thread = NULL;
    SAYS(ATF_OK, atf_session_writer_thread(writer, 0, &thread));
    for (uint64_t n = 0; n < MANY; n++) SAYS(ATF_OK, atf_writer_write(thread, n, 1, 1, 1, NULL));
    SAYS(ATF_OK, atf_writer_write_with_detail(thread, MANY, 1, 1, 1, &detail, NULL));
    atf_writer_close(thread);
    SAYS(ATF_OK, atf_session_writer_finish(writer, NULL, 0));
    SAYS(ATF_OK, atf_session_writer_close(writer));
    atf_writer_set_warning_callback(on_warning, NULL);
    TRUE(atf_write_index_event(NULL, 1, 1, 1, 1, UINT32_MAX) == UINT32_MAX);
    atf_writer_set_warning_callback(NULL, NULL);

    AtfSessionReader *session = NULL;
    AtfMerge *merge = NULL;
    AtfEvent event;
    size_t events = 0, count = 0;
    snprintf(path, sizeof path, "%s/cancelled_writer", folder);
    snprintf(other, sizeof other, "%s/cancelled_recovered", folder);
    SAYS(ATF_OK, atf_session_open(path, 0, &session));
    SAYS(ATF_OK, atf_merge_open(session, 0, UINT64_MAX, &merge));
    while (atf_merge_next(merge, &event, 1, &count) == ATF_OK) events += count;
    TRUE(events == MANY + 1);
    SAYS(ATF_OK, atf_merge_close(merge));
    SAYS(ATF_OK, atf_session_close(session));
    SAYS(ATF_OK, atf_recover(path, other, NULL, NULL));

    AtfThreadReader *reader = NULL;
    AtfDetailReader *details = NULL;
    AtfDetailEvent linked;
    strcat(path, "/thread_0");
    SAYS(ATF_OK, atf_thread_open(path, 0, &reader));
    SAYS(ATF_OK, atf_thread_detail_of(reader, MANY, &linked));
    SAYS(ATF_OK, atf_thread_event_of(reader, 0, &event));
    SAYS(ATF_OK, atf_thread_detail(reader, &details));
    SAYS(ATF_NONE, atf_detail_get(details, 1, &linked));
    SAYS(ATF_OK, atf_detail_close(details));
    SAYS(ATF_OK, atf_thread_close(reader));
}

/* A cancelled thread, which must end only at its own cancellation point. */
static void *cancelled(void *is_done) {
    pthread_cancel(pthread_self());
    record_write_and_read();
    *(int *)is_done = 1;
    pthread_testcancel();
    return NULL;
}

static void cancellation(void) {
    int is_done = 0;
    void *result = NULL;
    pthread_t thread;
    TRUE(pthread_create(&thread, NULL, cancelled, &is_done) == 0);
    TRUE(pthread_join(thread, &result) == 0);
    TRUE(result == PTHREAD_CANCELED && is_done == 1);
}

/* ---- Forks ---- */

static void forks(const char *name, int survive_kill) {
    AtfSessionWriter *session = session_in(name, survive_kill);
    AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
    options.overflow = ATF_OVERFLOW_BLOCK;
    options.ring_events = 8;
    AtfRecording *recording = start(session, &options);
    AtfRecorder *recorder = NULL;
    SAYS(ATF_OK, atf_recording_thread(recording, NULL, &recorder));
    for (uint64_t n = 0; n < 20; n++) {
        SAYS(ATF_OK, atf_recorder_record(recorder, n, 1, 1, 1, NULL));
        SAYS(ATF_OK, atf_recording_record(recording, n, 1, 1, 1, NULL));
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        AtfRecorder *another = NULL;
        AtfRecordSummary summary;
        wrong = 0;
        /* No drain serves the trigger. Only a failing test waits this long. */
        alarm(60);
        SAYS(ATF_OK, atf_recording_trigger(recording, NULL));
        SAYS(ATF_TIMEOUT, atf_recording_wait_for_triggers(recording, UINT64_MAX));
        /* A full ring does not block. Without a ring, nothing is recorded. */
        int status = ATF_OK;
        for (uint64_t n = 20; n < 40; n++) {
            status = (int)atf_recorder_record(recorder, n, 1, 1, 1, NULL);
        }
        SAYS(ATF_LOST_EVENT, status);
        if (survive_kill) SAYS(ATF_LOST_EVENT, atf_recording_record(recording, 40, 1, 1, 1, NULL));
        SAYS(ATF_ERROR_STATE, atf_recording_thread(recording, NULL, &another));
        SAYS(ATF_ERROR_STATE, atf_recording_flush(recording, DEADLINE_NS));
        SAYS(ATF_ERROR_STATE, atf_recording_stop(recording, &summary, sizeof summary));
        SAYS(ATF_ERROR_STATE, atf_recording_close(recording));
        SAYS(ATF_OK, atf_recorder_close(recorder));
        /* This also destroys its thread-local variables. */
        exit(wrong != 0);
    }
    int status = -1;
    TRUE(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    for (uint64_t n = 20; n < 40; n++) {
        SAYS(ATF_OK, atf_recorder_record(recorder, n, 1, 1, 1, NULL));
        SAYS(ATF_OK, atf_recording_record(recording, n, 1, 1, 1, NULL));
    }
    SAYS(ATF_OK, atf_recorder_close(recorder));
    AtfRecordSummary summary = stop(recording, session);
    TRUE(summary.event_count == 80 && summary.lost_events == 0 && summary.finalized == 2);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    folder = argv[1];
    null_everywhere();
    threads("rings", 0);
    threads("direct", 1);
    drop_detail();
    drop_newest();
    little_memory();
    clocks();
    window("details", ATF_WINDOW_DETAILS);
    window("flight", ATF_WINDOW_ALL);
    no_window();
    segments();
    wrong_order();
    closed();
    failing();
    interrupt();
    cancellation();
    if (argc == 2) {
        forks("forks", 0);
        forks("forks_direct", 1);
        last_trigger();
        pretend_id();
        forks("namesakes", 0);
        forks("namesakes_direct", 1);
    }
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
