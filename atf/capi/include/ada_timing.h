/**
 * The clock of traces, by the names and in the header that the format's documents give them. C11, C++17.
 *
 * Link with libatf. Include it as <ada_timing.h> or as <atf/ada_timing.h>; atf.h includes it.
 *
 * Source: S1, ADA Trace Format V2 (ATF v2), "Platform Timing API".
 */
#ifndef ADA_TIMING_H
#define ADA_TIMING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Asks the platform what a tick of its clock is. No call needs it. [S1] */
void ada_timing_init(void);

/**
 * Nanoseconds of the platform's continuous clock, which goes on while the machine sleeps; on any thread.
 * [S0 S1 S3]
 */
uint64_t ada_get_timestamp_ns(void);

#ifdef __cplusplus
}
#endif

#endif
