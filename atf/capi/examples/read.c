/*
 * Prints the events of a session in time order, with the names in the manifest.
 *     cc read.c $(pkg-config --cflags --libs adatrace-static) && ./a.out SESSION [START_NS [END_NS]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "atf.h"

#define BATCH 1024

static const char *kind(uint32_t event_kind) {
    switch (event_kind) {
    case ATF_EVENT_KIND_CALL: return "call";
    case ATF_EVENT_KIND_RETURN: return "return";
    case ATF_EVENT_KIND_EXCEPTION: return "exception";
    default: return "unknown";
    }
}

int main(int argc, char **argv) {
    AtfSessionReader *session = NULL;
    AtfMerge *merge = NULL;
    static AtfEvent events[BATCH];
    size_t count = 0;
    uint64_t start = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t end = argc > 3 ? strtoull(argv[3], NULL, 10) : UINT64_MAX;
    if (argc < 2 || atf_session_open(argv[1], 0, &session) != ATF_OK ||
        atf_merge_open(session, start, end, &merge) != ATF_OK) {
        fprintf(stderr, "%s\n", argc < 2 ? "read SESSION [START [END]]" : atf_last_error_message());
        atf_session_close(session);
        return 2;
    }
    AtfStatus status;
    while ((status = atf_merge_next(merge, events, BATCH, &count)) == ATF_OK) {
        for (const AtfEvent *event = events; event < events + count; event++) {
            const char *name = atf_session_function_name(session, event->function_id);
            printf("%" PRIu64 " thread_%" PRIu32 "[%" PRIu64 "] %s 0x%" PRIx64 " %s\n",
                   event->timestamp_ns, event->thread, event->index_seq, kind(event->event_kind),
                   event->function_id, name ? name : "");
        }
    }
    size_t problems = atf_merge_problem_count(merge);
    for (size_t n = 0; n < problems; n++) {
        fprintf(stderr, "%s\n", atf_merge_problem(merge, n));
    }
    atf_merge_close(merge);
    atf_session_close(session);
    return status != ATF_NONE || problems != 0;
}
