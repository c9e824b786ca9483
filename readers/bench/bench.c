/* Compares the C header's accessors with hand-written loads: bench FILE ROUNDS. Prints both times in seconds per round,
 * then the sum of the timestamps, and the number of calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "atf_v1.h"

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    FILE *file = fopen(argv[1], "rb");
    int rounds = argc > 2 ? atoi(argv[2]) : 7;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file), count = (size - 128) / 32;
    unsigned char *bytes = malloc(size);
    rewind(file);
    if (fread(bytes, 1, size, file) != size) return 2;
    uint64_t sums[2], calls[2];
    for (int round = 0; round < rounds; round++) {
        uint64_t sum = 0, kinds[4] = {0};
        double start = now();
        for (size_t seq = 0; seq < count; seq++) {
            const unsigned char *event = bytes + 64 + 32 * seq;
            uint64_t time;
            uint32_t kind;
            memcpy(&time, event, 8);
            memcpy(&kind, event + 20, 4);
            sum += time;
            kinds[kind & 3]++;
        }
        printf("%.6f ", now() - start);
        sums[0] = sum;
        calls[0] = kinds[1];
        uint64_t sum2 = 0, kinds2[4] = {0};
        start = now();
        const IndexEvent *events = (const IndexEvent *)(const void *)(bytes + ATF_INDEX_HEADER_SIZE);
        for (size_t seq = 0; seq < count; seq++) {
            sum2 += atf_index_event_get_timestamp_ns(&events[seq]);
            kinds2[atf_index_event_get_event_kind(&events[seq]) & 3]++;
        }
        printf("%.6f\n", now() - start);
        sums[1] = sum2;
        calls[1] = kinds2[1];
    }
    if (sums[0] != sums[1] || calls[0] != calls[1]) return 1;
    printf("%llu %llu\n", (unsigned long long)sums[0], (unsigned long long)calls[0]);
    return 0;
}
