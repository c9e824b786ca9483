// Prints `OFFSET NAME` for functions, with offsets computed the way a tracer in the process does.
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>

static uintptr_t base;

static int find(struct dl_phdr_info *info, size_t size, void *function) {
    (void)size;
    uintptr_t lowest = UINTPTR_MAX, highest = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD) continue;
        if (p->p_vaddr < lowest) lowest = p->p_vaddr;
        if (p->p_vaddr + p->p_memsz > highest) highest = p->p_vaddr + p->p_memsz;
    }
    base = info->dlpi_addr + (lowest & ~(uintptr_t)0xfff);
    uintptr_t address = (uintptr_t)function;
    return address >= base && address < info->dlpi_addr + highest;
}

void print_offset(const char *name, void *function) {
    if (dl_iterate_phdr(find, function)) printf("%lx %s\n", (uintptr_t)function - base, name);
}

__attribute__((noinline)) static int hidden(int x) { return x * 3; }
__attribute__((noinline)) int visible(int x) { return x * 5; }
__attribute__((weak)) int weakling(int x) { return x * 7; }
// Three names for one address. The global name without an underscore is shown.
int _strong(int x) __attribute__((alias("visible")));
int feeble(int x) __attribute__((weak, alias("visible")));
// This function has no size, so it extends to the next one.
__asm__(".text\n.globl sizeless\n.type sizeless,@function\nsizeless: nop; nop; nop; nop; ret\n"
        ".globl after\n.type after,@function\nafter: ret\n.size after,.-after\n");
void sizeless(void);

#define PRINT(function, shown) print_offset(shown, (void *)(uintptr_t)function)

#ifdef LIBRARY
void print_library(void) {
#else
void print_library(void) __attribute__((weak));
int main(int count, char **arguments) {
    (void)arguments;
    if (count > 9) return hidden(count);
    if (print_library) print_library();
    PRINT(main, "main");
#endif
    PRINT(hidden, "hidden");
    PRINT(visible, "visible");
    PRINT(weakling, "weakling");
    PRINT(((char *)(uintptr_t)visible + 1), "visible");
    PRINT(((char *)(uintptr_t)sizeless + 4), "sizeless");
#ifndef LIBRARY
    return 0;
#endif
}
