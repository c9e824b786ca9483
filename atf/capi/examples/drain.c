/*
 * Drains one thread's events to disk with the five functions of the writer's design (S3). Index and
 * detail events are written separately, linked by their sequence numbers.
 *     cc drain.c $(pkg-config --cflags --libs adatrace-static) && ./a.out SESSION_FOLDER
 */
#include <stdio.h>

#include "ada_timing.h"
#include "atf.h"

#define EVENTS 1000

typedef struct ThreadState {
    uint32_t index_count;
    uint32_t detail_count;
    AtfThreadWriter *writer;
} ThreadState;

/* Reserves both sequence numbers together, as a hook does. */
static int record_event(ThreadState *state, uint64_t time, uint32_t kind, int detail_enabled) {
    uint32_t index_seq = state->index_count++;
    uint32_t detail_seq = detail_enabled ? state->detail_count++ : UINT32_MAX;
    if (atf_write_index_event(state->writer, time, 42, kind, 1, detail_seq) != index_seq) {
        return 0;
    }
    if (detail_enabled) {
        struct {
            DetailFunctionPayload registers;
            uint8_t stack[256];
        } snapshot = { { 0 }, { 0 } };
        atf_detail_function_payload_set_function_id(&snapshot.registers, 42);
        atf_detail_function_payload_set_stack_size(&snapshot.registers, (uint16_t)(index_seq % 257));
        atf_write_detail_event(state->writer, index_seq, time, &snapshot.registers);
    }
    return 1;
}

/* "Log warning but don't crash" (S3). */
static void log_warning(void *user, AtfStatus status, const char *message) {
    (void)user;
    fprintf(stderr, "%s: %s\n", atf_status_name((int)status), message);
}

int main(int argc, char **argv) {
    ThreadState state = { 0, 0, NULL };
    if (argc < 2) {
        fprintf(stderr, "drain SESSION_FOLDER\n");
        return 2;
    }
    ada_timing_init();
    /* S3's functions do not take options or return errors, so set both up for the whole program. */
    AtfWriteOptions options = ATF_WRITE_OPTIONS_INIT;
    options.survive_kill = 1;
    atf_writer_set_default_options(&options);
    atf_writer_set_warning_callback(log_warning, NULL);
    state.writer = atf_writer_create(argv[1], 7, atf_clock_type());
    if (!state.writer) {
        return 1;
    }
    for (int event = 0; event < EVENTS; event++) {
        uint32_t kind = event % 2 ? ATF_EVENT_KIND_RETURN : ATF_EVENT_KIND_CALL;
        if (!record_event(&state, ada_get_timestamp_ns(), kind, event % 3 == 0)) {
            break;
        }
    }
    atf_writer_finalize(state.writer);
    AtfStatus status = atf_writer_error(state.writer);
    atf_writer_close(state.writer);
    printf("%u events, %u details\n", (unsigned)state.index_count, (unsigned)state.detail_count);
    return status != ATF_OK;
}
