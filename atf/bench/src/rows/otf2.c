/*
 * Writes the events of index files as an OTF2 archive, or reads such an archive in time order.
 * Prints the CPU time in nanoseconds, not counting the time for reading the index files.
 *
 *   otf2 write ARCHIVE INDEX_FILE...
 *   otf2 read ARCHIVE THREADS EVENTS
 */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "atf_v1.h"

static void check(int ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "otf2: %s failed\n", what);
        exit(1);
    }
}

#define CHECK(call) check((call) == OTF2_SUCCESS, #call)

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns the events of a finalized index file, and their number. */
static const IndexEvent *load(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    check(file != NULL && fseek(file, 0, SEEK_END) == 0, path);
    size_t size = (size_t)ftell(file) - 2 * 64;
    void *events = malloc(size);
    check(fseek(file, 64, SEEK_SET) == 0 && fread(events, 1, size, file) == size, path);
    fclose(file);
    *count = size / sizeof(IndexEvent);
    return events;
}

static OTF2_FlushType flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                            bool is_final) {
    (void)data, (void)type, (void)location, (void)caller, (void)is_final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp flushed(void *data, OTF2_FileType type, OTF2_LocationRef location) {
    (void)data, (void)type, (void)location;
    return 0;
}

static void write_definitions(OTF2_Archive *archive, uint32_t threads, uint32_t regions,
                              uint64_t events) {
    OTF2_GlobalDefWriter *writer = OTF2_Archive_GetGlobalDefWriter(archive);
    CHECK(OTF2_GlobalDefWriter_WriteClockProperties(writer, 1000000000, 0, UINT64_MAX / 2,
                                                    OTF2_UNDEFINED_TIMESTAMP));
    CHECK(OTF2_GlobalDefWriter_WriteString(writer, 0, "name"));
    CHECK(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, 0, 0,
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    CHECK(OTF2_GlobalDefWriter_WriteLocationGroup(writer, 0, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                  OTF2_UNDEFINED_LOCATION_GROUP));
    for (uint32_t region = 0; region < regions; region++)
        CHECK(OTF2_GlobalDefWriter_WriteRegion(writer, region, 0, 0, 0, OTF2_REGION_ROLE_FUNCTION,
                                               OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, 0, 0, 0));
    for (uint32_t thread = 0; thread < threads; thread++)
        CHECK(OTF2_GlobalDefWriter_WriteLocation(writer, thread, 0,
                                                 OTF2_LOCATION_TYPE_CPU_THREAD, events, 0));
}

static void write_archive(const char *folder, uint32_t threads, char **files) {
    const IndexEvent **events = calloc(threads, sizeof *events);
    size_t *counts = calloc(threads, sizeof *counts);
    uint32_t regions = 0;
    for (uint32_t thread = 0; thread < threads; thread++) {
        events[thread] = load(files[thread], &counts[thread]);
        for (size_t i = 0; i < counts[thread]; i++)
            if ((uint32_t)events[thread][i].function_id >= regions)
                regions = (uint32_t)events[thread][i].function_id + 1;
    }
    uint64_t start = cpu_ns();
    OTF2_Archive *archive = OTF2_Archive_Open(folder, "trace", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                                              OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    check(archive != NULL, "OTF2_Archive_Open");
    OTF2_FlushCallbacks callbacks = {flush, flushed};
    CHECK(OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL));
    CHECK(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    CHECK(OTF2_Archive_OpenEvtFiles(archive));
    for (uint32_t thread = 0; thread < threads; thread++) {
        OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive, thread);
        for (size_t i = 0; i < counts[thread]; i++) {
            const IndexEvent *event = &events[thread][i];
            if (event->event_kind == ATF_EVENT_KIND_CALL)
                OTF2_EvtWriter_Enter(writer, NULL, event->timestamp_ns, (uint32_t)event->function_id);
            else
                OTF2_EvtWriter_Leave(writer, NULL, event->timestamp_ns, (uint32_t)event->function_id);
        }
        CHECK(OTF2_Archive_CloseEvtWriter(archive, writer));
    }
    CHECK(OTF2_Archive_CloseEvtFiles(archive));
    CHECK(OTF2_Archive_OpenDefFiles(archive));
    for (uint32_t thread = 0; thread < threads; thread++) {
        OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(archive, thread);
        CHECK(OTF2_Archive_CloseDefWriter(archive, writer));
    }
    CHECK(OTF2_Archive_CloseDefFiles(archive));
    write_definitions(archive, threads, regions, counts[0]);
    CHECK(OTF2_Archive_Close(archive));
    printf("%llu\n", (unsigned long long)(cpu_ns() - start));
}

struct sums {
    uint64_t count, times;
};

static OTF2_CallbackCode seen(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
                              OTF2_AttributeList *attributes, OTF2_RegionRef region) {
    struct sums *sums = data;
    (void)attributes;
    sums->count++;
    sums->times ^= time ^ location ^ region;
    return OTF2_CALLBACK_SUCCESS;
}

static void read_archive(const char *folder, uint32_t threads, uint64_t events) {
    char path[4096];
    snprintf(path, sizeof path, "%s/trace.otf2", folder);
    uint64_t start = cpu_ns(), read = 0;
    OTF2_Reader *reader = OTF2_Reader_Open(path);
    check(reader != NULL, "OTF2_Reader_Open");
    CHECK(OTF2_Reader_SetSerialCollectiveCallbacks(reader));
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reader);
    CHECK(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read));
    for (uint32_t thread = 0; thread < threads; thread++)
        CHECK(OTF2_Reader_SelectLocation(reader, thread));
    CHECK(OTF2_Reader_OpenEvtFiles(reader));
    for (uint32_t thread = 0; thread < threads; thread++)
        check(OTF2_Reader_GetEvtReader(reader, thread) != NULL, "OTF2_Reader_GetEvtReader");
    OTF2_GlobalEvtReader *all = OTF2_Reader_GetGlobalEvtReader(reader);
    OTF2_GlobalEvtReaderCallbacks *callbacks = OTF2_GlobalEvtReaderCallbacks_New();
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(callbacks, seen);
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(callbacks, seen);
    struct sums sums = {0, 0};
    CHECK(OTF2_Reader_RegisterGlobalEvtCallbacks(reader, all, callbacks, &sums));
    CHECK(OTF2_Reader_ReadAllGlobalEvents(reader, all, &read));
    check(sums.count == events, "reading each event");
    CHECK(OTF2_Reader_CloseGlobalEvtReader(reader, all));
    CHECK(OTF2_Reader_CloseEvtFiles(reader));
    CHECK(OTF2_Reader_Close(reader));
    printf("%llu %llu\n", (unsigned long long)(cpu_ns() - start), (unsigned long long)sums.times);
}

int main(int argc, char **argv) {
    if (argc > 3 && strcmp(argv[1], "write") == 0)
        write_archive(argv[2], (uint32_t)(argc - 3), argv + 3);
    else if (argc == 5 && strcmp(argv[1], "read") == 0)
        read_archive(argv[2], (uint32_t)atoi(argv[3]), strtoull(argv[4], NULL, 10));
    else
        return 2;
    return 0;
}
