/**
 * The clock for traces, with the function and header names from the format's documents. C11, C++17.
 *
 * Link with libadatrace. Include this header as <ada_timing.h> or as <atf/ada_timing.h>; atf.h
 * includes it.
 *
 * Source: S1, ADA Trace Format V2 (ATF v2), "Platform Timing API".
 */
#ifndef ADA_TIMING_H
#define ADA_TIMING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Queries the clock's tick length. Optional: no other call needs it. [S1] */
void ada_timing_init(void);

/**
 * Returns the time in nanoseconds on the platform's continuous clock, which also runs while the
 * machine sleeps. Can be called on any thread. [S0 S1 S3]
 */
uint64_t ada_get_timestamp_ns(void);

#ifdef __cplusplus
}
#endif

#endif
