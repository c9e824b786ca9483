/* A traced thread in C that makes one C API call per event. Called by capi.rs. */

#include "atf.h"

/* An event to replay; capi.rs declares the same struct. */
typedef struct Recorded {
    uint64_t timestamp_ns;
    uint64_t function_id;
    uint32_t event_kind;
    uint32_t call_depth;
} Recorded;

/*
 * Writes count events to session_dir/thread_0 by replaying the recorded events, lap_ns later in
 * each lap. Returns 0 on success.
 */
int bench_write_loop(const char *session_dir, const Recorded *recorded, size_t recorded_count,
                     uint64_t lap_ns, uint64_t count)
{
    AtfWriteOptions options = ATF_WRITE_OPTIONS_INIT;
    AtfThreadWriter *writer = NULL;
    uint64_t later_ns = 0;
    if (atf_writer_open(session_dir, 0, &options, &writer) != ATF_OK) {
        return 1;
    }
    while (count > 0) {
        for (size_t i = 0; i < recorded_count && count > 0; i++, count--) {
            const Recorded *event = &recorded[i];
            if (atf_writer_write(writer, event->timestamp_ns + later_ns, event->function_id,
                                 event->event_kind, event->call_depth, NULL) != ATF_OK) {
                return 1;
            }
        }
        later_ns += lap_ns;
    }
    if (atf_writer_finish(writer, NULL, 0) != ATF_OK) {
        return 1;
    }
    atf_writer_close(writer);
    return 0;
}

/* Does the same with S3's functions. */
int bench_s3_loop(const char *session_dir, const Recorded *recorded, size_t recorded_count,
                  uint64_t lap_ns, uint64_t count)
{
    AtfThreadWriter *writer = atf_writer_create(session_dir, 0, atf_clock_type());
    uint64_t later_ns = 0;
    while (count > 0) {
        for (size_t i = 0; i < recorded_count && count > 0; i++, count--) {
            const Recorded *event = &recorded[i];
            if (atf_write_index_event(writer, event->timestamp_ns + later_ns, event->function_id,
                                      event->event_kind, event->call_depth,
                                      UINT32_MAX) == UINT32_MAX) {
                return 1;
            }
        }
        later_ns += lap_ns;
    }
    atf_writer_finalize(writer);
    atf_writer_close(writer);
    return 0;
}
