/* Makes children of this program report its process id, as in another PID namespace. */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static pid_t pretended_id = 0;

/* Replaces the C library's function, also for the library under test. */
pid_t getpid(void) { return pretended_id ? pretended_id : (pid_t)syscall(SYS_getpid); }

/*
 * From now on, all processes appear to have the same id, if the system provides another way for the
 * library to distinguish them.
 */
static void pretend_id(void) {
#ifdef MADV_WIPEONFORK
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, size, MADV_WIPEONFORK) == 0) pretended_id = 4242;
    munmap(page, size);
#endif
}
