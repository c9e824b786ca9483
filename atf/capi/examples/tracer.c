/*
 * Traces itself: four threads write their calls and returns, every second call with its registers.
 * If it is killed at any time, the session can still be recovered, including its names.
 *     cc tracer.c $(pkg-config --cflags --libs adatrace-static) -pthread && ./a.out FOLDER [CALLS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "atf.h"

#define THREADS 4

typedef struct Work {
    AtfThreadWriter *writer;
    uint64_t calls;
} Work;

/* Writes a call with arguments in its registers, followed by 16 bytes of the stack. */
static AtfStatus call(AtfThreadWriter *writer, uint64_t function, uint32_t depth, uint64_t n) {
    struct {
        DetailFunctionPayload registers;
        uint8_t stack[16];
    } payload = { { 0 }, { 0 } };
    atf_detail_function_payload_set_function_id(&payload.registers, function);
    atf_detail_function_payload_set_x_regs(&payload.registers, 0, n);
    atf_detail_function_payload_set_stack_size(&payload.registers, sizeof payload.stack);
    AtfDetail detail = { ATF_DETAIL_EVENT_FUNCTION_CALL, 0, 0, &payload, sizeof payload, { 0, 0 } };
    return atf_writer_write_with_detail(writer, ada_get_timestamp_ns(), function,
                                        ATF_EVENT_KIND_CALL, depth, &detail, NULL);
}

static void *run(void *argument) {
    Work *work = argument;
    AtfThreadWriter *writer = work->writer;
    for (uint64_t n = 0; n < work->calls; n++) {
        uint64_t function = (uint64_t)1 << 32 | n % 7;
        if (n % 2) {
            atf_writer_write(writer, ada_get_timestamp_ns(), function, ATF_EVENT_KIND_CALL, 1, NULL);
        } else {
            call(writer, function, 1, n);
        }
        atf_writer_write(writer, ada_get_timestamp_ns(), function, ATF_EVENT_KIND_RETURN, 1, NULL);
    }
    atf_writer_finish(writer, NULL, 0);
    return NULL;
}

int main(int argc, char **argv) {
    AtfSessionWriter *session = NULL;
    AtfSessionTotals totals;
    pthread_t threads[THREADS];
    Work work[THREADS];
    AtfWriteOptions options = ATF_WRITE_OPTIONS_INIT;
    options.survive_kill = 1;
    if (argc < 2 || atf_session_writer_create_in(argv[1], &options, &session) != ATF_OK) {
        fprintf(stderr, "%s\n", argc < 2 ? "tracer FOLDER [CALLS]" : atf_last_error_message());
        return 2;
    }
    /*
     * Set the names first: once the manifest is written, they survive a crash, just like the
     * events.
     */
    const AtfSymbol symbol = { (uint64_t)1 << 32, "run", { 0, 0 } };
    const AtfModule module = { 1, 0, 0x400000, 0x1000, argv[0], NULL, { 0, 0 } };
    if (atf_session_writer_set_symbols(session, &symbol, 1) != ATF_OK ||
        atf_session_writer_set_modules(session, &module, 1) != ATF_OK ||
        atf_session_writer_write_manifest(session) != ATF_OK) {
        fprintf(stderr, "%s\n", atf_last_error_message());
        return 1;
    }
    for (uint32_t id = 0; id < THREADS; id++) {
        work[id].calls = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
        if (atf_session_writer_thread(session, id, &work[id].writer) != ATF_OK ||
            pthread_create(&threads[id], NULL, run, &work[id]) != 0) {
            fprintf(stderr, "thread %u: %s\n", (unsigned)id, atf_last_error_message());
            return 1;
        }
    }
    int status = 0;
    for (uint32_t id = 0; id < THREADS; id++) {
        pthread_join(threads[id], NULL);
        if (atf_writer_error(work[id].writer) != ATF_OK) {
            fprintf(stderr, "%s\n", atf_writer_error_message(work[id].writer));
            status = 1;
        }
        atf_writer_close(work[id].writer);
    }
    if (atf_session_writer_finish(session, &totals, sizeof totals) != ATF_OK) {
        fprintf(stderr, "%s\n", atf_last_error_message());
        return 1;
    }
    printf("%llu events, %llu details\n%s\n", (unsigned long long)totals.event_count,
           (unsigned long long)totals.detail_count, atf_session_writer_path(session));
    atf_session_writer_close(session);
    return status;
}
