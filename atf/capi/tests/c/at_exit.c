/*
 * Ends a program whose recording is still running or being stopped:
 * at_exit OUT stop|lose|late|stopping|cancelled|child|namesake.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "atf.h"
#include "atf_record.h"
#include "namesake.h"

/* Enough events that stopping takes longer than the rest of the program's exit. */
#define MANY 400000

static AtfRecording *recording;

/* Runs after the library's own function, which was registered later. */
static void late(void) {
    AtfRecordSummary summary;
    if (atf_recording_stop(recording, &summary, sizeof summary) != ATF_OK) _exit(3);
    if (summary.event_count != 3 || summary.finalized != 1) _exit(4);
    if (atf_recording_stop(recording, NULL, 0) != ATF_ERROR_STATE) _exit(5);
}

static void *stop(void *unused) {
    if (atf_recording_stop(recording, NULL, 0) != ATF_OK) _exit(6);
    return unused;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int is_namesake = strcmp(argv[2], "namesake") == 0;
    if (is_namesake) pretend_id();
    AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
    /* Nothing is drained before the program exits. */
    options.interval_ns = UINT64_C(3600000000000);
    options.ring_events = MANY;
    if (strcmp(argv[2], "lose") == 0) options.at_exit = ATF_AT_EXIT_LOSE;
    if (strcmp(argv[2], "late") == 0 && atexit(late) != 0) return 2;
    AtfSessionWriter *session;
    if (atf_session_writer_create(argv[1], NULL, &session) != ATF_OK) return 2;
    if (atf_recording_start(session, &options, &recording) != ATF_OK) return 2;
    for (uint64_t time = 1; time <= 3; ++time) {
        if (atf_recording_record(recording, time, 7, 1, 0, NULL) != ATF_OK) return 2;
    }
    if (strcmp(argv[2], "stopping") == 0) {
        pthread_t thread;
        for (uint64_t time = 4; time <= MANY; ++time) {
            if (atf_recording_record(recording, time, 7, 1, 0, NULL) != ATF_OK) return 2;
        }
        if (pthread_create(&thread, NULL, stop, NULL) != 0) return 2;
        while (atf_recording_flush(recording, 0) != ATF_ERROR_STATE) {}
    }
    /* This must not take effect while the recording is stopped. */
    if (strcmp(argv[2], "cancelled") == 0) pthread_cancel(pthread_self());
    if (is_namesake || strcmp(argv[2], "child") == 0) {
        pid_t child = fork();
        if (child == 0) exit(0); /* Must change nothing, and must not wait. */
        int status = 0;
        if (waitpid(child, &status, 0) != child || status != 0) return 2;
        if (atf_recording_record(recording, 4, 7, 2, 0, NULL) != ATF_OK) return 2;
    }
    return 0;
}
