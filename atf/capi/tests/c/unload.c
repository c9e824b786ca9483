/* Loads libadatrace and unloads it while it records: unload LIBRARY OUT. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "atf_record.h"

#define OK(call)                                                                                 \
    do {                                                                                         \
        if ((int)(call) != 0) {                                                                  \
            fprintf(stderr, "line %d: %s\n", __LINE__, #call);                                   \
            exit(1);                                                                             \
        }                                                                                        \
    } while (0)

/* Finds a function of the library. */
#define FIND(name) __typeof__(name) *const p_##name = (__typeof__(name) *)dlsym(library, #name)

int main(int argc, char **argv) {
    OK(argc != 3);
    void *library = dlopen(argv[1], RTLD_NOW);
    OK(library == NULL);
    FIND(atf_session_writer_create);
    FIND(atf_recording_start);
    FIND(atf_recording_thread);
    FIND(atf_recorder_record);
    FIND(atf_recording_stop);
    AtfSessionWriter *session = NULL;
    AtfRecording *recording = NULL;
    AtfRecorder *recorder = NULL;
    AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;
    options.at_exit = ATF_AT_EXIT_LOSE;
    OK(p_atf_session_writer_create(argv[2], NULL, &session));
    OK(p_atf_recording_start(session, &options, &recording));
    OK(p_atf_recording_thread(recording, NULL, &recorder));
    OK(p_atf_recorder_record(recorder, 1, 7, ATF_EVENT_KIND_CALL, 1, NULL));
    OK(dlclose(library));
    OK(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == NULL);
    OK(p_atf_recorder_record(recorder, 2, 7, ATF_EVENT_KIND_RETURN, 1, NULL));
    OK(p_atf_recording_stop(recording, NULL, 0));
    return 0;
}
