/*
 * Records itself: four threads that never wait for the disk.
 *     cc record.c $(pkg-config --cflags --libs adatrace-static) -pthread && ./a.out FOLDER [CALLS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "atf_record.h"

#define THREADS 4

static AtfRecording *recording;
static uint64_t calls = 1000;

/*
 * Plays the part of a tracer's hook. A thread's first event registers the thread. Lost events
 * are counted.
 */
static void hook(uint64_t function, uint32_t kind) {
    atf_recording_record(recording, ada_get_timestamp_ns(), function, kind, 1, NULL);
}

static void *run(void *argument) {
    for (uint64_t n = 0; n < calls; n++) {
        uint64_t function = (uint64_t)1 << 32 | n % 7;
        hook(function, ATF_EVENT_KIND_CALL);
        hook(function, ATF_EVENT_KIND_RETURN);
    }
    return argument;
}

static int failed(void) {
    fprintf(stderr, "%s\n", atf_last_error_message());
    return 1;
}

int main(int argc, char **argv) {
    AtfSessionWriter *session = NULL;
    AtfRecordSummary summary;
    AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
    pthread_t threads[THREADS];
    if (argc < 2) {
        fprintf(stderr, "record FOLDER [CALLS]\n");
        return 2;
    }
    if (argc > 2) calls = strtoull(argv[2], NULL, 10);
    options.overflow = ATF_OVERFLOW_BLOCK;
    const AtfSymbol symbol = { (uint64_t)1 << 32, "run", { 0, 0 } };
    if (atf_session_writer_create_in(argv[1], NULL, &session) != ATF_OK ||
        atf_session_writer_set_symbols(session, &symbol, 1) != ATF_OK ||
        atf_recording_start(session, &options, &recording) != ATF_OK) {
        return failed();
    }
    for (int n = 0; n < THREADS; n++) {
        if (pthread_create(&threads[n], NULL, run, NULL) != 0) return 1;
    }
    for (int n = 0; n < THREADS; n++) pthread_join(threads[n], NULL);
    if (atf_recording_stop(recording, &summary, sizeof summary) != ATF_OK) return failed();
    printf("%llu events, %llu lost\n%s\n", (unsigned long long)summary.event_count,
           (unsigned long long)summary.lost_events, atf_session_writer_path(session));
    atf_recording_close(recording);
    atf_session_writer_close(session);
    return 0;
}
