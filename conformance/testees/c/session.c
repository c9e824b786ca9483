/* Reads a session, which is a folder with thread folders and a manifest.json. */
#define _POSIX_C_SOURCE 200809L

#include "reader.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    uint32_t id;
    char *folder;
    bool has_index, has_detail;
    /* Symlinks are not followed because they may lead out of the session. */
    bool is_detail_linked;
    Index index;
    Detail detail;
} Thread;

/* An event in the merged order of all threads. */
typedef struct {
    uint64_t time;
    uint32_t thread;
    uint64_t seq;
} Moment;

/* ---- Folders ---- */

static char *join(const char *folder, const char *name) {
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = need(malloc(size));
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* Returns whether a name is `prefix` and a decimal 32-bit number, and sets the number. */
static bool is_numbered(const char *name, const char *prefix, uint32_t *number) {
    size_t size = strlen(prefix);
    if (strncmp(name, prefix, size) != 0 || name[size] == 0) return false;
    uint64_t value = 0;
    for (const char *digit = name + size; *digit != 0; digit++) {
        if (*digit < '0' || *digit > '9') return false;
        value = value * 10 + (uint64_t)(*digit - '0');
        if (value > UINT32_MAX) return false;
    }
    *number = (uint32_t)value;
    return true;
}

static int by_id(const void *left, const void *right) {
    const Thread *one = left, *other = right;
    if (one->id != other->id) return one->id < other->id ? -1 : 1;
    return strcmp(one->folder, other->folder);
}

/* Lists the entries of a folder whose names are a prefix and a number, in ascending order. The
 * names come from the folder, never from the manifest. */
static Thread *numbered(const char *folder, const char *prefix, size_t *count) {
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        perror(folder);
        exit(3);
    }
    Thread *found = NULL;
    uint32_t id;
    *count = 0;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (!is_numbered(entry->d_name, prefix, &id)) continue;
        found = need(realloc(found, (*count + 1) * sizeof *found));
        found[(*count)++] = (Thread){.id = id, .folder = join(folder, entry->d_name)};
    }
    closedir(entries);
    if (*count > 1) qsort(found, *count, sizeof *found, by_id);
    return found;
}

static bool is_folder(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* ---- Links between the two files ---- */

/* Returns whether an event has a link. Sets the target, and whether it links back. */
static bool is_linked(const Thread *thread, uint64_t seq, uint64_t *to, bool *leads_back) {
    if (index_is_hole(&thread->index, seq) || !index_link(&thread->index, seq, to)) return false;
    *leads_back = *to < thread->detail.count && detail_link(&thread->detail, *to) == seq;
    return true;
}

/* Returns whether a detail event's index event links back to it. */
static bool is_at_home(const Thread *thread, uint64_t seq) {
    uint64_t from = detail_link(&thread->detail, seq), to;
    bool leads_back;
    return from < thread->index.count && is_linked(thread, from, &to, &leads_back) && to == seq;
}

/* A detail file of the other wire version cannot belong to this thread. */
static void refuse_other_wire(Thread *thread) {
    const Index *index = &thread->index;
    Detail *detail = &thread->detail;
    if (!thread->has_index || index->verdict == REJECT) return;
    if (!thread->has_detail || detail->verdict == REJECT || detail->wire == index->wire) return;
    detail->verdict = REJECT;
    detail->count = 0;
}

/* ---- Threads ---- */

static void open_thread(Thread *thread) {
    if (!is_folder(thread->folder)) return;
    char *index = join(thread->folder, "index.atf"), *detail = join(thread->folder, "detail.atf");
    File file;
    thread->has_index = load(index, &file);
    if (thread->has_index) thread->index = open_index(file);
    thread->has_detail = load(detail, &file);
    if (thread->has_detail) thread->detail = open_detail(file);
    thread->is_detail_linked = is_symlink(detail);
    free(index);
    free(detail);
    refuse_other_wire(thread);
}

static bool is_read(const Thread *thread) {
    return thread->has_index && thread->index.verdict != REJECT;
}

static bool is_whole(const Thread *thread) {
    return thread->has_index && thread->index.verdict == ACCEPT && !thread->is_detail_linked &&
           (!thread->has_detail || thread->detail.verdict == ACCEPT);
}

static void print_thread(const Thread *thread) {
    uint64_t dangling = 0, orphans = 0, to;
    bool leads_back;
    for (uint64_t seq = 0; seq < thread->index.count; seq++) {
        dangling += is_linked(thread, seq, &to, &leads_back) && !leads_back;
    }
    for (uint64_t seq = 0; seq < thread->detail.count; seq++) {
        orphans += !is_at_home(thread, seq);
    }
    printf("{\"thread_id\": %" PRIu32 ", \"index\": ", thread->id);
    if (thread->has_index) {
        print_index(&thread->index);
    } else {
        printf("null");
    }
    printf(", \"detail\": ");
    if (thread->has_detail) {
        print_detail(&thread->detail);
    } else {
        printf("null");
    }
    printf(", \"derived\": {\"dangling_links\": \"%" PRIu64 "\", \"orphan_details\": \"%" PRIu64
           "\"}}",
           dangling, orphans);
}

static void close_thread(Thread *thread) {
    if (thread->has_index) free((void *)thread->index.file.bytes);
    if (thread->has_detail) free((void *)thread->detail.file.bytes);
    close_detail(&thread->detail);
    free(thread->folder);
}

/* ---- All threads ---- */

static int by_time(const void *left, const void *right) {
    const Moment *one = left, *other = right;
    if (one->time != other->time) return one->time < other->time ? -1 : 1;
    if (one->thread != other->thread) return one->thread < other->thread ? -1 : 1;
    return (one->seq > other->seq) - (one->seq < other->seq);
}

/* Collects all events in merged order. Holes are left out because they have no time. */
static Moment *merge(const Thread *threads, size_t count, uint64_t events, size_t *merged) {
    Moment *moments = need(calloc(events + 1, sizeof *moments));
    *merged = 0;
    for (const Thread *thread = threads; thread < threads + count; thread++) {
        for (uint64_t seq = 0; seq < thread->index.count; seq++) {
            if (index_is_hole(&thread->index, seq)) continue;
            moments[(*merged)++] = (Moment){index_time(&thread->index, seq), thread->id, seq};
        }
    }
    if (*merged > 1) qsort(moments, *merged, sizeof *moments, by_time);
    return moments;
}

static void print_time(const char *name, const Moment *moment) {
    if (moment == NULL) {
        printf("\"%s\": null, ", name);
    } else {
        printf("\"%s\": \"%" PRIu64 "\", ", name, moment->time);
    }
}

static void print_derived(const Thread *threads, size_t count, const char *manifest) {
    uint64_t events = 0, details = 0;
    for (size_t k = 0; k < count; k++) {
        events += threads[k].index.count;
        details += threads[k].detail.count;
    }
    size_t merged;
    Moment *moments = merge(threads, count, events, &merged);
    printf("\"derived\": {\"manifest\": \"%s\", \"event_count\": \"%" PRIu64
           "\", \"detail_count\": \"%" PRIu64 "\", ",
           manifest, events, details);
    print_time("time_start_ns", merged > 0 ? &moments[0] : NULL);
    print_time("time_end_ns", merged > 0 ? &moments[merged - 1] : NULL);
    printf("\"merged\": [");
    for (size_t k = 0; k < merged; k++) {
        printf("%s[%" PRIu32 ", \"%" PRIu64 "\"]", k > 0 ? ", " : "", moments[k].thread,
               moments[k].seq);
    }
    printf("]}}");
    free(moments);
}

static Verdict judge(const Thread *threads, size_t count, const char *manifest) {
    bool is_any_read = count == 0, are_whole = strcmp(manifest, "ignored") != 0;
    for (size_t k = 0; k < count; k++) {
        is_any_read = is_any_read || is_read(&threads[k]);
        are_whole = are_whole && is_whole(&threads[k]);
    }
    if (!is_any_read) return REJECT;
    return are_whole ? ACCEPT : RECOVER;
}

static Verdict read_folder(const char *folder, Thread *threads, size_t count) {
    char *path = join(folder, "manifest.json");
    const char *manifest = manifest_state(path);
    free(path);
    for (size_t k = 0; k < count; k++) {
        open_thread(&threads[k]);
    }
    Verdict verdict = judge(threads, count, manifest);
    printf("{\"kind\": \"session\", \"verdict\": \"%s\", \"threads\": [", verdict_name(verdict));
    for (size_t k = 0; k < count; k++) {
        fputs(k > 0 ? ", " : "", stdout);
        print_thread(&threads[k]);
    }
    printf("], ");
    print_derived(threads, count, manifest);
    return verdict;
}

static void close_threads(Thread *threads, size_t count) {
    for (size_t k = 0; k < count; k++) {
        close_thread(&threads[k]);
    }
    free(threads);
}

Verdict read_session(const char *folder) {
    size_t count, process_count;
    Thread *threads = numbered(folder, "thread_", &count);
    Thread *processes = numbered(folder, "pid_", &process_count);
    char *path = join(folder, "manifest.json");
    bool is_session = count > 0 || strcmp(manifest_state(path), "absent") != 0;
    free(path);
    /* If the folder contains only the folder of a process, read that one. */
    if (!is_session && process_count == 1 && is_folder(processes[0].folder)) {
        close_threads(threads, count);
        folder = processes[0].folder;
        threads = numbered(folder, "thread_", &count);
    }
    Verdict verdict = read_folder(folder, threads, count);
    close_threads(threads, count);
    close_threads(processes, process_count);
    return verdict;
}
