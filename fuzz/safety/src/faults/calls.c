/* Makes system calls fail on demand. Preloaded before libc with LD_PRELOAD.
 *
 * Opening a path that begins with /atf-faults/ is a command, not a file:
 *
 *   /atf-faults/call=17,errno=28,ever=1   call 17 and all later calls fail with this error
 *   /atf-faults/call=17,errno=0,ever=0    call 17 moves only one byte, if it reads or writes
 *   /atf-faults/space=4096,errno=28       writes fail with this error after this many bytes in total
 *   /atf-faults/bad=512,to=1024,file=/a   these bytes of the files whose path ends with /a cannot be read
 *   /atf-faults/log                       ends the faults and opens a file that lists the calls
 *
 * Calls are counted from 0, starting after a command. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int armed, error_number, for_ever;
static long fault_at, count, space, bad_from, bad_to;
static char bad_file[256];
static char log_text[1 << 20];
static size_t log_size;

#define REAL(result, name, ...) ((result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

/* Like `fails`, but the caller must ensure that no other thread counts a call meanwhile. */
static int fails_alone(const char *name, size_t *size) {
    long here = count++;
    int hit = fault_at >= 0 && (here == fault_at || (for_ever && here > fault_at));
    int is_write = strstr(name, "write") != NULL;
    int is_short = hit && error_number == 0;
    if (is_short) {
        if (size == NULL || *size < 2)
            hit = is_short = 0;
        else
            *size = 1;
    }
    if (!hit && is_write && size != NULL && space >= 0) {
        hit = *size > 0 && space == 0;
        if ((long)*size > space && !hit)
            *size = (size_t)space;
        if (!hit)
            space -= (long)*size;
    }
    if (log_size + 64 < sizeof log_text)
        log_size += (size_t)snprintf(log_text + log_size, 64, "%s%s\n", name,
                                     is_short ? " short" : hit ? " fails" : "");
    return hit && !is_short;
}

/* Returns whether this call fails. Reduces `size` for a short read or write. */
static int fails(const char *name, size_t *size) {
    static int is_busy;
    if (!armed)
        return 0;
    while (__atomic_exchange_n(&is_busy, 1, __ATOMIC_ACQUIRE))
        sched_yield();
    int failed = fails_alone(name, size);
    __atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
    if (failed)
        errno = error_number;
    return failed;
}

/* Returns whether a read begins in a bad sector. Shortens `size` to end before a bad sector. */
static int is_bad(int file, off64_t offset, size_t *size) {
    if (!armed || bad_to == 0 || offset >= bad_to || offset + (off64_t)*size <= bad_from)
        return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    size_t end = strlen(bad_file);
    if (length < (ssize_t)end || memcmp(path + length - end, bad_file, end) != 0)
        return 0;
    if (offset < bad_from) {
        *size = (size_t)(bad_from - offset);
        return 0;
    }
    if (log_size + 64 < sizeof log_text)
        log_size += (size_t)snprintf(log_text + log_size, 64, "bad sector\n");
    errno = EIO;
    return 1;
}

static long number(const char *text, const char *key, long otherwise) {
    const char *found = strstr(text, key);
    return found ? strtol(found + strlen(key), NULL, 10) : otherwise;
}

/* Runs a command. Returns a file to read, or -1. */
static int order(const char *text) {
    if (strcmp(text, "log") == 0) {
        armed = 0;
        int file = memfd_create("log", 0);
        if (file < 0 || REAL(ssize_t, "write", int, const void *, size_t)(file, log_text, log_size) < 0)
            return -1;
        REAL(off_t, "lseek64", int, off_t, int)(file, 0, SEEK_SET);
        return file;
    }
    fault_at = number(text, "call=", -1);
    error_number = (int)number(text, "errno=", 0);
    for_ever = (int)number(text, "ever=", 0);
    space = number(text, "space=", -1);
    bad_from = number(text, "bad=", 0);
    bad_to = number(text, "to=", 0);
    const char *file = strstr(text, "file=");
    snprintf(bad_file, sizeof bad_file, "%s", file ? file + strlen("file=") : "");
    count = 0;
    log_size = 0;
    armed = 1;
    errno = ENOENT;
    return -1;
}

int open64(const char *path, int flags, ...) {
    static const char orders[] = "/atf-faults/";
    if (strncmp(path, orders, sizeof orders - 1) == 0)
        return order(path + sizeof orders - 1);
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    if (fails((flags & O_CREAT) ? "create" : "open", NULL))
        return -1;
    return REAL(int, "open64", const char *, int, ...)(path, flags, mode);
}

/* Both names open files of any size. */
#define OPENAT(name)                                                                                           \
    int name(int folder, const char *path, int flags, ...) {                                                   \
        va_list more;                                                                                          \
        va_start(more, flags);                                                                                 \
        mode_t mode = va_arg(more, mode_t);                                                                    \
        va_end(more);                                                                                          \
        if (fails((flags & O_CREAT) ? "create" : "openat", NULL))                                              \
            return -1;                                                                                         \
        return REAL(int, #name, int, const char *, int, ...)(folder, path, flags, mode);                       \
    }
OPENAT(openat)
OPENAT(openat64)

/* Calls that return a number, or -1 on failure. */
#define CALL(result, name, parameters, arguments)                                                              \
    result name parameters {                                                                                   \
        if (fails(#name, NULL))                                                                                \
            return (result)-1;                                                                                 \
        return ((result(*) parameters)dlsym(RTLD_NEXT, #name))arguments;                                       \
    }
CALL(int, fstat64, (int file, struct stat64 *out), (file, out))
CALL(int, lstat64, (const char *path, struct stat64 *out), (path, out))
CALL(int, stat64, (const char *path, struct stat64 *out), (path, out))
CALL(int, fstatat64, (int at, const char *path, struct stat64 *out, int flags), (at, path, out, flags))
CALL(int, statx, (int at, const char *path, int flags, unsigned mask, struct statx *out), (at, path, flags, mask, out))
CALL(int, fsync, (int file), (file))
CALL(int, fdatasync, (int file), (file))
CALL(int, ftruncate64, (int file, off64_t size), (file, size))
CALL(off64_t, lseek64, (int file, off64_t offset, int from), (file, offset, from))
CALL(int, fallocate64, (int file, int mode, off64_t offset, off64_t size), (file, mode, offset, size))
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode))
CALL(int, chmod, (const char *path, mode_t mode), (path, mode))
CALL(int, chown, (const char *path, uid_t user, gid_t group), (path, user, group))
CALL(int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
CALL(int, fchmodat, (int at, const char *path, mode_t mode, int flags), (at, path, mode, flags))
CALL(int, rename, (const char *from, const char *to), (from, to))
CALL(int, renameat, (int from_at, const char *from, int to_at, const char *to), (from_at, from, to_at, to))
CALL(int, rmdir, (const char *path), (path))
CALL(int, unlink, (const char *path), (path))
CALL(int, unlinkat, (int at, const char *path, int flags), (at, path, flags))

/* Only files: without memory, the program itself would end. */
void *mmap64(void *at, size_t size, int protection, int flags, int file, off64_t offset) {
    if (file >= 0 && fails("mmap64", NULL))
        return MAP_FAILED;
    return REAL(void *, "mmap64", void *, size_t, int, int, int, off64_t)(at, size, protection, flags, file, offset);
}

static off64_t place(int file) { return REAL(off64_t, "lseek64", int, off64_t, int)(file, 0, SEEK_CUR); }

/* Calls that move bytes, possibly fewer than requested. */
#define MOVE(name, parameters, arguments, bad)                                                                 \
    ssize_t name parameters {                                                                                  \
        if (fails(#name, &size) || (bad))                                                                             \
            return -1;                                                                                         \
        return ((ssize_t(*) parameters)dlsym(RTLD_NEXT, #name))arguments;                                      \
    }
MOVE(read, (int file, void *bytes, size_t size), (file, bytes, size), is_bad(file, place(file), &size))
MOVE(write, (int file, const void *bytes, size_t size), (file, bytes, size), 0)
MOVE(pread64, (int file, void *bytes, size_t size, off64_t offset), (file, bytes, size, offset),
     is_bad(file, offset, &size))
MOVE(pwrite64, (int file, const void *bytes, size_t size, off64_t offset), (file, bytes, size, offset), 0)

/* Calls that return a pointer, or null on failure. */
#define POINT(result, name, parameters, arguments)                                                             \
    result name parameters {                                                                                   \
        if (fails(#name, NULL))                                                                                \
            return NULL;                                                                                       \
        return ((result(*) parameters)dlsym(RTLD_NEXT, #name))arguments;                                       \
    }
POINT(DIR *, opendir, (const char *path), (path))
POINT(DIR *, fdopendir, (int file), (file))
POINT(char *, realpath, (const char *path, char *out), (path, out))
POINT(struct dirent64 *, readdir64, (DIR * folder), (folder))
