/*
 * A library that is recorded from its constructor to its destructor; without PLUGIN, a program
 * that loads and unloads it. Arguments: the library, an empty folder for the session.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "atf_record.h"

#define OK(call)                                                                                 \
    do {                                                                                         \
        if ((int)(call) != 0) {                                                                  \
            fprintf(stderr, "line %d: %s\n", __LINE__, #call);                                   \
            _exit(1);                                                                            \
        }                                                                                        \
    } while (0)

#ifdef PLUGIN
static AtfSessionWriter *session;
static AtfRecording *recording;
static AtfRecorder *recorder;

static void record(void) {
    OK(atf_recorder_record(recorder, ada_get_timestamp_ns(), 7, ATF_EVENT_KIND_CALL, 1, NULL));
}

void *hit(void *argument) {
    OK(atf_recording_record(recording, ada_get_timestamp_ns(), 8, ATF_EVENT_KIND_CALL, 1, NULL));
    return argument;
}

/* The loader's lock is held here and in the destructor. */
__attribute__((constructor)) static void begin(void) {
    OK(atf_session_writer_create(getenv("ATF_TEST_FOLDER"), NULL, &session));
    OK(atf_recording_start(session, NULL, &recording));
    OK(atf_recording_thread(recording, "loader", &recorder));
    record();
    OK(atf_recording_flush(recording, UINT64_MAX));
}

__attribute__((destructor)) static void end(void) {
    AtfRecordSummary summary;
    record();
    OK(atf_recorder_close(recorder));
    OK(atf_recording_stop(recording, &summary, sizeof summary));
    OK(atf_recording_close(recording));
    OK(atf_session_writer_close(session));
    printf("%d events\n", (int)summary.event_count);
    fflush(stdout);
}
#else
int main(int argc, char **argv) {
    pthread_t thread;
    /* Only a failing test waits this long. */
    alarm(60);
    OK(argc != 3 || setenv("ATF_TEST_FOLDER", argv[2], 1));
    void *library = dlopen(argv[1], RTLD_NOW);
    OK(library == NULL);
    void *(*hit)(void *) = (void *(*)(void *))dlsym(library, "hit");
    OK(pthread_create(&thread, NULL, hit, NULL));
    OK(pthread_join(thread, NULL));
    OK(dlclose(library));
    OK(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != NULL);
    return 0;
}
#endif
