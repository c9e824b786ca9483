/*
 * Four threads write or record events until they are killed. RETURNED is a file of 256 bytes, in
 * which each thread counts its returned calls. With `block` and `drop`, they record through small
 * rings with that policy, and without details.
 *     tracer FOLDER RETURNED SURVIVE_KILL BUFFER_SIZE write|record|block|drop
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "atf_record.h"

#define THREADS 4

typedef struct Thread {
    /* Either this member or the recorder is set. */
    AtfThreadWriter *writer;
    AtfRecorder *recorder;
    _Atomic uint64_t *returned;
    uint32_t id;
    bool has_small_ring;
} Thread;

static void expect(AtfStatus status) {
    if (status != ATF_OK) {
        fprintf(stderr, "%s: %s\n", atf_status_name(status), atf_last_error_message());
        exit(1);
    }
}

/* Writes a call or its return; every third event has registers and up to 99 bytes of stack. */
static void write_event(const Thread *thread, uint64_t seq) {
    uint64_t time = ada_get_timestamp_ns(), function = (uint64_t)thread->id << 32 | seq / 2;
    uint32_t kind = seq % 2 ? ATF_EVENT_KIND_RETURN : ATF_EVENT_KIND_CALL;
    if (thread->has_small_ring) {
        AtfStatus status = atf_recorder_record(thread->recorder, time, function, kind, 1, NULL);
        if (status != ATF_LOST_EVENT) expect(status);
        return;
    }
    if (seq % 3) {
        expect(thread->writer
                   ? atf_writer_write(thread->writer, time, function, kind, 1, NULL)
                   : atf_recorder_record(thread->recorder, time, function, kind, 1, NULL));
        return;
    }
    struct { DetailFunctionPayload registers; uint8_t stack[100]; } payload = { { 0 }, { 0 } };
    memset(payload.stack, (int)(seq % 256), sizeof payload.stack);
    atf_detail_function_payload_set_function_id(&payload.registers, function);
    atf_detail_function_payload_set_x_regs(&payload.registers, 0, seq);
    atf_detail_function_payload_set_stack_size(&payload.registers, (uint16_t)(seq % 100));
    AtfDetail detail = { seq % 2 ? ATF_DETAIL_EVENT_FUNCTION_RETURN : ATF_DETAIL_EVENT_FUNCTION_CALL,
                         0, 0, &payload, sizeof payload.registers + seq % 100, { 0, 0 } };
    expect(thread->writer
               ? atf_writer_write_with_detail(thread->writer, time, function, kind, 1, &detail, NULL)
               : atf_recorder_record_with_detail(thread->recorder, time, function, kind, 1, &detail,
                                                 NULL));
}

static void *run(void *argument) {
    Thread *thread = argument;
    for (uint64_t seq = 0;; seq++) {
        write_event(thread, seq);
        atomic_store_explicit(thread->returned, seq + 1, memory_order_release);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    /* In case the test ends before it kills this program. */
    alarm(60);
    int file = open(argv[2], O_RDWR);
    char *returned = mmap(NULL, 64 * THREADS, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (returned == MAP_FAILED) return 2;
    AtfWriteOptions options = ATF_WRITE_OPTIONS_INIT;
    options.survive_kill = argv[3][0] == '1';
    options.buffer_size = strtoull(argv[4], NULL, 10);
    AtfSessionWriter *session;
    expect(atf_session_writer_create(argv[1], &options, &session));
    const AtfSymbol symbol = { 1, "a name", { 0, 0 } };
    expect(atf_session_writer_set_symbols(session, &symbol, 1));
    expect(atf_session_writer_write_manifest(session));
    AtfRecordOptions rings = ATF_RECORD_OPTIONS_INIT;
    rings.ring_events = 1024;
    rings.overflow = strcmp(argv[5], "block") == 0 ? ATF_OVERFLOW_BLOCK : ATF_OVERFLOW_DROP_NEWEST;
    bool is_recorded = strcmp(argv[5], "record") == 0, is_written = strcmp(argv[5], "write") == 0;
    AtfRecording *recording = NULL;
    if (!is_written) expect(atf_recording_start(session, is_recorded ? NULL : &rings, &recording));
    pthread_t handles[THREADS];
    Thread threads[THREADS];
    for (uint32_t id = 0; id < THREADS; id++) {
        threads[id] = (Thread){ NULL, NULL, (_Atomic uint64_t *)(returned + 64 * id), id,
                                !is_written && !is_recorded };
        expect(recording ? atf_recording_thread(recording, NULL, &threads[id].recorder)
                         : atf_session_writer_thread(session, id, &threads[id].writer));
    }
    for (uint32_t id = 0; id < THREADS; id++) {
        if (pthread_create(&handles[id], NULL, run, &threads[id]) != 0) return 2;
    }
    return pthread_join(handles[0], NULL);
}
