/**
 * The C API of atf, which reads and writes ATF v2 (ADA Trace Format) function traces. C11, C++17.
 *
 * Includes atf_v1.h, the file records of wire version 1; atf_wire.h has both wire versions. Include
 * this header as <atf/atf.h> or as <atf.h>. Link with libadatrace: pkg-config adatrace or CMake's
 * adatrace::adatrace. To link statically, use pkg-config adatrace-static or
 * adatrace::adatrace_static.
 *
 * A tracer calls these functions in order: atf_session_writer_create_in,
 * atf_session_writer_set_symbols, atf_session_writer_write_manifest; for each thread
 * atf_session_writer_thread, atf_writer_write, atf_writer_close; then atf_session_writer_finish and
 * atf_session_writer_close. With atf_record.h, threads record without waiting for a disk.
 *
 * Terms: an offset is in bytes from the start of a file, a size in bytes, a count in elements; a
 * seq is a position counted from 0. All times are in nanoseconds.
 *
 * Errors. A function that can fail returns AtfStatus, or a value described in its comment.
 * atf_last_error_* describe the most recent failure on the calling thread. No function ends the
 * program: a bug in the library is reported as ATF_ERROR_PANIC. The only exception: if the
 * system cannot provide even a few bytes of memory, such as those of a path or an error's message,
 * Rust's runtime or the C library ends the program. If a large buffer or a ring does not fit, that
 * is an error, and calls that need no more memory, such as those that write an event without a
 * detail, still work.
 *
 * Handles. Functions that create a handle set it to NULL on failure. Each handle is freed by its
 * own close function, which accepts NULL; for NULL, every other function returns
 * ATF_ERROR_ARGUMENT. For a handle of another kind, and for any of the last 1024 closed handles,
 * all functions return ATF_ERROR_HANDLE. Never pass any other invalid pointer.
 *
 * Threads. Different handles can be used on different threads at once. Use a writer or an AtfMerge
 * on one thread at a time; any number of threads can use a reader or an AtfSessionWriter at once.
 * Close a handle only when no thread uses it. After fork, the child must not use its parent's
 * writers. No function is a cancellation point: a thread that is cancelled (pthread_cancel) during
 * a call ends at its next cancellation point after the call. A thread with asynchronous
 * cancellation must not call any function.
 *
 * Strings are NUL-terminated const char *. A path may contain any bytes on Unix and is UTF-8 on
 * Windows. Later versions extend structs passed with their size (sizeof, as compiled into the
 * caller) at the end, and all others but AtfLoss in their reserved members. Set reserved members to
 * 0 in structs that you pass, preferably with an initializer: any other value causes
 * ATF_ERROR_ARGUMENT, except in AtfMediaTime, where it is ignored.
 *
 * Sources (the format's documents), cited in brackets:
 *     S0: ATF Index File Format (BH-002)
 *     S1: ADA Trace Format V2 (ATF v2)
 *     S2: ATF Format Specification
 *     S3: M1_E7_I1 Technical Design: ATF V2 Writer, which declares five of this header's functions
 *     S4: ATF Detail File Format (BH-003)
 */
#ifndef ATF_H
#define ATF_H

#include <stddef.h>
#include <stdint.h>

#include "ada_timing.h"
#include "atf_v1.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors ---- */

/** The result of a function: 0 on success, else the reason for the failure. May gain values. */
typedef enum AtfStatus {
    /** Success. */
    ATF_OK = 0,
    /**
     * There is nothing to return: no event at this position, or no detail for this event. Not an
     * error.
     */
    ATF_NONE = 1,
    /** An argument is NULL, out of range or an invalid pointer. */
    ATF_ERROR_ARGUMENT = 2,
    /** The pointer is not a handle of this kind, or the handle is already closed. */
    ATF_ERROR_HANDLE = 3,
    /**
     * The call is not allowed in this state: already finalized, still being written, before details
     * that were reserved are written or dropped, or in a forked child.
     */
    ATF_ERROR_STATE = 4,
    /** The operating system reported an error: see atf_last_error_os_code. */
    ATF_ERROR_IO = 5,
    /** The file is malformed: see atf_last_error_field and atf_last_error_offset. */
    ATF_ERROR_FORMAT = 6,
    /**
     * The event is rejected: its time goes backwards, its kind is unknown, or a number is too
     * large.
     */
    ATF_ERROR_REFUSED = 7,
    /** The link does not match the counters, or is dangling. */
    ATF_ERROR_LINK = 8,
    /** The file is full, or a result does not fit its type. */
    ATF_ERROR_LIMIT = 9,
    /** The file, folder or thread to create already exists. */
    ATF_ERROR_EXISTS = 10,
    /** There is no such file, folder or thread. */
    ATF_ERROR_NOT_FOUND = 11,
    /** The caller's buffer is too small. */
    ATF_ERROR_BUFFER = 12,
    /** A bug in the library; the handle can only be closed. */
    ATF_ERROR_PANIC = 13,
    /** There are no more events, but some that were written are missing or changed. */
    ATF_ERROR_DAMAGED = 14,
    /** Reserved details were never written. */
    ATF_ERROR_LOST = 15,
    /**
     * Returned by the functions of atf_record.h: neither the event nor its detail is recorded.
     * ATF_LOST_* are not errors: the losses are counted, and atf_last_error_* do not change.
     */
    ATF_LOST_EVENT = 16,
    /** The event is recorded, but not its detail. */
    ATF_LOST_DETAIL = 17,
    /** Like ATF_LOST_EVENT: the event's time goes backwards or its kind is unknown. */
    ATF_LOST_REFUSED = 18,
    /** The deadline passed before the call was done. Not an error. */
    ATF_TIMEOUT = 19
} AtfStatus;

/** The value for errors that have no offset in a file. */
#define ATF_NO_OFFSET UINT64_MAX

/** The name of a status, for example "ATF_OK"; never NULL. */
const char *atf_status_name(int status);

/** The status of the last failure on this thread; ATF_OK if nothing failed. */
AtfStatus atf_last_error_status(void);

/** The last failure on this thread as text, with file, field, reason and offset; never NULL. */
const char *atf_last_error_message(void);

/** The file or folder of the last failure, or "". */
const char *atf_last_error_path(void);

/** The field of the last failure, for example "header.event_size", or "". */
const char *atf_last_error_field(void);

/**
 * The id of the rule that the file of the last failure breaks, as reported by `atf check`: for
 * example "ATF-IFTR-001", or "".
 */
const char *atf_last_error_rule(void);

/** The offset in the file of the last failure, or ATF_NO_OFFSET. */
uint64_t atf_last_error_offset(void);

/** The operating system's error code (errno) of the last failure, or 0. */
int atf_last_error_os_code(void);

/* ---- Clock: ada_timing.h has ada_timing_init and ada_get_timestamp_ns ---- */

/** The clock_type of the clock of ada_get_timestamp_ns, as stored in headers: ATF_CLOCK_*. */
uint8_t atf_clock_type(void);

/** A time in a sound or screen recording: value / timescale seconds. */
typedef struct AtfMediaTime {
    int64_t value;
    /** Units per second; greater than 0. */
    int32_t timescale;
    /** Ignored when read; written as 0. */
    uint32_t reserved;
} AtfMediaTime;

/** The same moment on two clocks: the trace's and the recording's. [S0 S1] */
typedef struct AtfTimingAnchor {
    /** The result of ada_get_timestamp_ns() at that moment. */
    uint64_t host_time_ns;
    /** The recording's clock at that moment. */
    AtfMediaTime media_time;
} AtfTimingAnchor;

/**
 * Converts a timestamp to the recording's time, in the anchor's timescale, rounded to nearest.
 * ATF_ERROR_LIMIT: the result does not fit, or the timescale is not greater than 0.
 */
AtfStatus atf_anchor_to_media(const AtfTimingAnchor *anchor, uint64_t host_time_ns,
                              AtfMediaTime *media_time);

/** Converts a recording time, in any timescale, to a timestamp. Fails like atf_anchor_to_media. */
AtfStatus atf_anchor_to_host_ns(const AtfTimingAnchor *anchor, AtfMediaTime media_time,
                                uint64_t *host_time_ns);

/** Computes how much faster the recording's clock ran from anchor to later, in parts per 10^9. */
AtfStatus atf_anchor_drift_ppb(const AtfTimingAnchor *anchor, const AtfTimingAnchor *later,
                               int64_t *drift_ppb);

/* ---- Versions ---- */

/** The version of this header. Before 1.0.0, a new minor version is incompatible. */
#define ATF_VERSION "0.1.0"

/** The version of the linked library, in the same form. */
const char *atf_version(void);

/* ---- Writing a thread ---- */

/** Writes thread_N/index.atf and, once there is a detail, thread_N/detail.atf. */
typedef struct AtfThreadWriter AtfThreadWriter;

/** The operating system decides when data reaches the disk. */
#define ATF_DURABILITY_NONE 0u
/** A finalized file survives power loss. */
#define ATF_DURABILITY_FINALIZE 1u
/** Everything flushed survives power loss. */
#define ATF_DURABILITY_EACH_FLUSH 2u

/** How files are written. A value of 0 selects a member's default. */
typedef struct AtfWriteOptions {
    /** sizeof(AtfWriteOptions). */
    uint32_t struct_size;
    /** The wire version, 1 or 2; default 1. */
    uint8_t wire;
    /** ATF_ARCH_*; default: this machine's. */
    uint8_t arch;
    /** ATF_OS_*; default: this machine's. */
    uint8_t os;
    /** ATF_CLOCK_*; default: the clock of ada_get_timestamp_ns. */
    uint8_t clock_type;
    /** ATF_DURABILITY_*. */
    uint8_t durability;
    /**
     * 1: an event survives SIGKILL once the function that writes it has returned. On a file system
     * that copies on write, such as btrfs, a full disk can then end the process with SIGBUS.
     */
    uint8_t survive_kill;
    /** 1: events whose time goes backwards or whose kind is unknown are written, not rejected. */
    uint8_t verbatim;
    /** Must be 0. */
    uint8_t reserved[5];
    /**
     * Size of each file's buffer in bytes: default 128 KiB, at least 4 KiB, at most 1 GiB, or 16
     * MiB with survive_kill.
     */
    uint64_t buffer_size;
} AtfWriteOptions;

/** AtfWriteOptions with all defaults. */
#define ATF_WRITE_OPTIONS_INIT \
    { (uint32_t)sizeof(AtfWriteOptions), 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0, 0, 0 }, 0 }

/** The 64-bit value for "no detail"; S3's functions use UINT32_MAX. */
#define ATF_NO_DETAIL UINT64_MAX

/** Registers and stack at an event, or any other payload for it. */
typedef struct AtfDetail {
    /** ATF_DETAIL_EVENT_*. */
    uint16_t event_type;
    /** Flags; the format's documents define none. */
    uint16_t flags;
    /** Must be 0. */
    uint32_t reserved;
    /**
     * The payload: for a call or a return a DetailFunctionPayload, followed by stack_size bytes.
     * Fill it with atf_detail_function_payload_set_*, which work on every machine. Any other bytes
     * are allowed too.
     */
    const void *payload;
    /** Size of the payload in bytes. */
    size_t payload_size;
    /** Must be 0. */
    uint64_t reserved2[2];
} AtfDetail;

/** An index event and its detail event. */
typedef struct AtfLink {
    uint64_t index_seq;
    uint64_t detail_seq;
    /** 0; for later versions. */
    uint64_t reserved[2];
} AtfLink;

/** The contents of a thread's finalized files. */
typedef struct AtfThreadSummary {
    uint64_t event_count;
    uint64_t detail_count;
    /** The first event's timestamp; 0 without events. */
    uint64_t time_start_ns;
    /** The last event's timestamp; 0 without events. */
    uint64_t time_end_ns;
    uint32_t thread_id;
    uint32_t reserved;
    /** Details that were reserved, but were dropped or never written. Their data is lost. */
    uint64_t dropped_details;
} AtfThreadSummary;

/**
 * Creates session_dir/thread_<thread_id>/ and a writer for it. options may be NULL.
 * ATF_ERROR_EXISTS: the folder has an index.atf, a detail.atf or a ring.atf.
 */
AtfStatus atf_writer_open(const char *session_dir, uint32_t thread_id,
                          const AtfWriteOptions *options, AtfThreadWriter **writer);

/**
 * Writes an event without details. Timestamps must not decrease; event_kind is ATF_EVENT_KIND_*.
 * call_depth is 1 for the outermost call, and a return has the depth of its call. Other depths are
 * written unchanged, because a tracer may attach in the middle of a call (atf-conformance check
 * gives the advice ATF-IEVT-004). index_seq may be NULL. After ATF_ERROR_REFUSED, more events can
 * be written; after ATF_ERROR_IO every later call fails too.
 */
AtfStatus atf_writer_write(AtfThreadWriter *writer, uint64_t timestamp_ns, uint64_t function_id,
                           uint32_t event_kind, uint32_t call_depth, uint64_t *index_seq);

/** Writes an event and its detail: both or neither. link may be NULL. */
AtfStatus atf_writer_write_with_detail(AtfThreadWriter *writer, uint64_t timestamp_ns,
                                       uint64_t function_id, uint32_t event_kind,
                                       uint32_t call_depth, const AtfDetail *detail,
                                       AtfLink *link);

/**
 * Writes an event and reserves its detail, for tracers that write the two separately. detail_seq is
 * ATF_NO_DETAIL or the result of atf_writer_next_detail_seq; any other value causes ATF_ERROR_LINK.
 * index_seq may be NULL.
 */
AtfStatus atf_writer_write_index(AtfThreadWriter *writer, uint64_t timestamp_ns,
                                 uint64_t function_id, uint32_t event_kind, uint32_t call_depth,
                                 uint64_t detail_seq, uint64_t *index_seq);

/**
 * Writes the oldest reserved detail. index_seq and timestamp_ns must match its event, else
 * ATF_ERROR_LINK. detail_seq may be NULL.
 */
AtfStatus atf_writer_write_detail(AtfThreadWriter *writer, uint64_t index_seq,
                                  uint64_t timestamp_ns, const AtfDetail *detail,
                                  uint64_t *detail_seq);

/**
 * Drops a reserved detail, for example because a ring was full. Later details are not affected.
 * detail_seq is the number under which the detail was reserved; to skip the next detail, pass the
 * result of atf_writer_next_detail_seq. The event's link is removed. If the event has already been
 * flushed, its detail is written without a payload instead. ATF_ERROR_LINK: no such detail is
 * reserved.
 */
AtfStatus atf_writer_drop_detail(AtfThreadWriter *writer, uint64_t detail_seq);

/** The position of the next index event; UINT64_MAX if writer is invalid. */
uint64_t atf_writer_next_index_seq(const AtfThreadWriter *writer);

/**
 * The number under which to reserve the next detail: the number of details before it, including
 * dropped ones. UINT64_MAX if writer is invalid.
 */
uint64_t atf_writer_next_detail_seq(const AtfThreadWriter *writer);

/** Passes all events to the operating system. */
AtfStatus atf_writer_flush(AtfThreadWriter *writer);

/**
 * Finalizes the files; summary may be NULL. ATF_ERROR_STATE: they are already finalized. Details
 * that were reserved but never written are dropped: the summary counts them in dropped_details, and
 * the warning callback receives ATF_ERROR_LOST. This call still returns ATF_OK, but afterwards
 * atf_writer_error returns ATF_ERROR_LOST unless something failed earlier.
 */
AtfStatus atf_writer_finish(AtfThreadWriter *writer, AtfThreadSummary *summary,
                            size_t summary_size);

/** 1 if the files are finalized, else 0. */
int atf_writer_is_finalized(const AtfThreadWriter *writer);

/** The status of this writer's first failure; ATF_OK if nothing failed. */
AtfStatus atf_writer_error(const AtfThreadWriter *writer);

/** The message of this writer's first failure, or ""; valid until the writer is closed. */
const char *atf_writer_error_message(const AtfThreadWriter *writer);

/**
 * Finalizes the files if they are not finalized yet, and frees the writer, whichever function
 * created it; NULL is allowed. A failure is not returned but reported by atf_last_error_* and the
 * warning callback; to get it as a status, call atf_writer_finish first. (atf_session_writer_close
 * does not finalize.) [S3]
 */
void atf_writer_close(AtfThreadWriter *writer);

/** Frees a writer without finalizing its files, which remain and can be recovered. */
AtfStatus atf_writer_abandon(AtfThreadWriter *writer);

/* ---- Writing a thread with the functions of the writer's design, S3 ---- */
/*
 * S3's functions take the same handles as the functions above. atf_writer_close is the fifth of
 * them. Their failures are kept (atf_writer_error) and reported as warnings.
 */

/** Receives a warning. message is valid during the call. */
typedef void (*AtfWarning)(void *user, AtfStatus status, const char *message);

/**
 * Sets the program-wide warning callback, called when one of S3's functions fails and when reserved
 * details are lost; NULL for none. The callback runs on the failing thread, at the end of the
 * failing call, with no lock held and the thread's cancellation disabled. It may call any function,
 * but must not close the writer whose call failed. It must not throw or longjmp. For each writer
 * only the first failure of each status is reported; atf_writer_finalize or atf_writer_close
 * reports the number of other failures, across all statuses.
 */
void atf_writer_set_warning_callback(AtfWarning callback, void *user);

/**
 * Sets the options for all later calls to atf_writer_create in the program; NULL for the defaults.
 * The clock_type argument of atf_writer_create overrides the one in options. Use this function to
 * set survive_kill and durability for S3's functions.
 */
AtfStatus atf_writer_set_default_options(const AtfWriteOptions *options);

/**
 * Returns a writer for session_dir/thread_<thread_id>/, or NULL on failure. It writes wire version
 * 1 unless atf_writer_set_default_options chose another. clock_type is written as is, even if it is
 * unknown. [S3]
 */
AtfThreadWriter *atf_writer_create(const char *session_dir, uint32_t thread_id,
                                   uint8_t clock_type);

/**
 * Writes an index event and returns its index_seq, or UINT32_MAX on an error. detail_seq is
 * UINT32_MAX for no detail, or the number of details so far, including dropped ones
 * (atf_writer_drop_detail). Any other value is rejected. [S3]
 */
uint32_t atf_write_index_event(AtfThreadWriter *writer, uint64_t timestamp_ns,
                               uint64_t function_id, uint32_t event_kind, uint32_t call_depth,
                               uint32_t detail_seq);

/**
 * Writes the detail of index event index_seq. Details must be written in the order in which they
 * were reserved: any that were reserved earlier but not yet written are dropped, with a warning.
 * payload is followed by stack_size bytes, at most 256. The detail's event_type follows from the
 * event's kind: FUNCTION_CALL for a call, else FUNCTION_RETURN. [S3]
 */
void atf_write_detail_event(AtfThreadWriter *writer, uint32_t index_seq, uint64_t timestamp_ns,
                            const DetailFunctionPayload *payload);

/** Calls atf_writer_finish and returns nothing. [S3] */
void atf_writer_finalize(AtfThreadWriter *writer);

/* ---- Writing a session ---- */

/** Writes a session: a folder of threads and its manifest.json. */
typedef struct AtfSessionWriter AtfSessionWriter;

/** An executable or a library. */
typedef struct AtfModule {
    /** The upper 32 bits of the function_id of the module's functions. */
    uint32_t module_id;
    /**
     * 1 if the lower 32 bits of its functions' ids are offsets from base_address, so that names can
     * be found in the module's file after the run; else 0.
     */
    uint32_t function_offsets;
    uint64_t base_address;
    /** The module's size in memory in bytes. */
    uint64_t size;
    /** The path from which the module was loaded; may be NULL. */
    const char *path;
    /** The module's build id; may be NULL. */
    const char *uuid;
    /** Must be 0. */
    uint64_t reserved2[2];
} AtfModule;

/** The name of a function. */
typedef struct AtfSymbol {
    /** As in the events: the module in the upper 32 bits, the symbol in the lower 32 bits. */
    uint64_t function_id;
    /**
     * NULL or "": no name; readers show the module and the symbol's number. Bytes that are not
     * UTF-8 become U+FFFD.
     */
    const char *name;
    /** Must be 0. */
    uint64_t reserved[2];
} AtfSymbol;

/** Events or details of a thread that the tracer lost. */
typedef struct AtfLoss {
    /** The number of lost events or details; 0 for none. */
    uint64_t count;
    /** The timestamps of the first and the last lost event or detail. */
    uint64_t first_ns;
    uint64_t last_ns;
} AtfLoss;

/** Totals over the threads of a session. */
typedef struct AtfSessionTotals {
    /** From a writer: threads written. From a reader: threads that could be opened. */
    uint64_t threads;
    /** From a writer: threads finalized. From a reader: threads that could not be opened. */
    uint64_t finalized_or_unreadable;
    uint64_t event_count;
    uint64_t detail_count;
    /** The earliest first timestamp; 0 without events. */
    uint64_t time_start_ns;
    /** The latest last timestamp; 0 without events. */
    uint64_t time_end_ns;
} AtfSessionTotals;

/**
 * Creates a session in folder; options may be NULL. ATF_ERROR_EXISTS: folder has a manifest or
 * threads.
 */
AtfStatus atf_session_writer_create(const char *folder, const AtfWriteOptions *options,
                                    AtfSessionWriter **session);

/**
 * Creates a session in root/session_YYYYMMDD_HHMMSS/pid_N, named after the current time (UTC) and
 * this process's id.
 */
AtfStatus atf_session_writer_create_in(const char *root, const AtfWriteOptions *options,
                                       AtfSessionWriter **session);

/** The session's folder, or ""; valid until the session is closed. */
const char *atf_session_writer_path(const AtfSessionWriter *session);

/**
 * Creates a writer for a thread, independent of the others. ATF_ERROR_EXISTS: the thread already
 * has a writer. If the manifest has already been written, it is rewritten to include this thread.
 */
AtfStatus atf_session_writer_thread(const AtfSessionWriter *session, uint32_t thread_id,
                                    AtfThreadWriter **writer);

/** Sets the manifest's executables and libraries, replacing earlier ones. */
AtfStatus atf_session_writer_set_modules(const AtfSessionWriter *session,
                                         const AtfModule *modules, size_t count);

/** Sets the manifest's function names, replacing earlier ones. */
AtfStatus atf_session_writer_set_symbols(const AtfSessionWriter *session,
                                         const AtfSymbol *symbols, size_t count);

/**
 * Adds a function's name to the manifest, on any thread, for tracers that discover functions one
 * by one. If a function has several names, readers use the first one.
 */
AtfStatus atf_session_writer_add_symbol(const AtfSessionWriter *session,
                                        const AtfSymbol *symbol);

/**
 * Sets a thread's name in the manifest; NULL or "" for none. The thread's writer may be created
 * later; nothing is written for a thread that never gets one. Bytes that are not UTF-8 become
 * U+FFFD.
 */
AtfStatus atf_session_writer_set_thread_name(const AtfSessionWriter *session, uint32_t thread_id,
                                             const char *name);

/**
 * States in the manifest that details contain the fields of their calls: a JSON object of at most
 * 4,096 bytes in UTF-8, without control characters, in each payload.
 */
AtfStatus atf_session_writer_set_detail_fields(const AtfSessionWriter *session);

/**
 * Sets how many of a thread's events the tracer lost, and how many details of recorded events,
 * replacing earlier numbers; NULL for none. The thread's writer may be created later.
 * Call this before atf_session_writer_finish.
 */
AtfStatus atf_session_writer_set_losses(const AtfSessionWriter *session, uint32_t thread_id,
                                        const AtfLoss *events, const AtfLoss *details);

/**
 * Adds an anchor to the manifest. ATF_ERROR_ARGUMENT: its timescale is not greater than 0.
 * ATF_ERROR_STATE: the session is finished, or its recording has stopped.
 */
AtfStatus atf_session_writer_add_timing_anchor(const AtfSessionWriter *session,
                                               const AtfTimingAnchor *anchor);

/**
 * Writes the current manifest, so that it survives a crash. Call this after setting modules and
 * symbols and before opening threads. From then on, opening a thread rewrites the manifest. Later
 * settings are written by the next call, by opening the next thread, or by
 * atf_session_writer_finish. ATF_ERROR_LIMIT: the manifest would be larger than 64 MiB. It was
 * written without its symbols or, if it would still be too large, not at all.
 */
AtfStatus atf_session_writer_write_manifest(const AtfSessionWriter *session);

/**
 * Writes the final manifest; totals may be NULL. ATF_ERROR_STATE: the session is already finished,
 * or threads are still being written. ATF_ERROR_LIMIT: as for atf_session_writer_write_manifest;
 * remove some of the contents and try again.
 */
AtfStatus atf_session_writer_finish(const AtfSessionWriter *session, AtfSessionTotals *totals,
                                    size_t totals_size);

/**
 * Frees a session's writer without writing its manifest (atf_session_writer_finish does that). Its
 * threads' writers remain usable. (Unlike this function, atf_writer_close finalizes.)
 */
AtfStatus atf_session_writer_close(AtfSessionWriter *session);

/* ---- Reading ---- */

/** Reads an index.atf of either wire version. */
typedef struct AtfIndexReader AtfIndexReader;
/** Reads a detail.atf of either wire version. */
typedef struct AtfDetailReader AtfDetailReader;
/** Reads both files of a thread. */
typedef struct AtfThreadReader AtfThreadReader;
/** Reads a session. */
typedef struct AtfSessionReader AtfSessionReader;

/**
 * Maps files. This is faster for random access. The files must not change or shrink while a reader
 * is open: a file that shrinks kills the process with SIGBUS.
 */
#define ATF_OPEN_MAPPED 1u
/** Follows symlinks inside a session, wherever they lead. */
#define ATF_OPEN_FOLLOW_LINKS 2u

/** The call_depth of events of wire version 2, which does not record it. */
#define ATF_NO_DEPTH UINT32_MAX

/** An event of index.atf. */
typedef struct AtfEvent {
    uint64_t timestamp_ns;
    uint64_t function_id;
    uint64_t index_seq;
    /** The position of its detail, or ATF_NO_DETAIL. */
    uint64_t detail_seq;
    /** The thread recorded in the event. */
    uint32_t thread_id;
    /** In a session, the id in the folder's name; otherwise, the thread id in the header. */
    uint32_t thread;
    /** ATF_EVENT_KIND_*; other values may occur. */
    uint32_t event_kind;
    /** The depth that the tracer recorded, or ATF_NO_DEPTH. */
    uint32_t call_depth;
    /** In a merge of a trace, the position of the event's session; otherwise 0. */
    uint32_t session;
    /** 0; for later versions. */
    uint32_t reserved[3];
} AtfEvent;

/** An event of detail.atf, without its payload. */
typedef struct AtfDetailEvent {
    uint64_t timestamp_ns;
    uint64_t detail_seq;
    uint64_t index_seq;
    uint64_t offset;
    uint64_t payload_size;
    uint32_t thread_id;
    /** ATF_DETAIL_EVENT_*; other values may occur. */
    uint16_t event_type;
    uint16_t flags;
    /** 0; for later versions. */
    uint64_t reserved[2];
} AtfDetailEvent;

/** How a file ends. */
typedef enum AtfCompleteness {
    /** The footer is verified, and the header was updated. */
    ATF_FINALIZED = 0,
    /** The footer is verified, but the header was not updated. All events are present. */
    ATF_HEADER_NOT_UPDATED = 1,
    /** There is no footer: the writer stopped early, or the file is truncated. */
    ATF_UNFINALIZED = 2,
    /** The footer contradicts the file. */
    ATF_DAMAGED_FOOTER = 3
} AtfCompleteness;

/** Where the number of events comes from. */
typedef enum AtfCountSource {
    ATF_COUNT_FOOTER = 0,
    /** The position of a damaged footer. */
    ATF_COUNT_FOOTER_POSITION = 1,
    ATF_COUNT_FILE_SIZE = 2,
    /** A walk over the events, using their sizes. */
    ATF_COUNT_FRAMING = 3
} AtfCountSource;

/** The state of the footer's checksum. */
typedef enum AtfChecksum {
    /** There is no verified footer to compare with. */
    ATF_CHECKSUM_NOT_CHECKED = 0,
    /** The footer's checksum is 0, which means that none was computed. */
    ATF_CHECKSUM_ABSENT = 1,
    ATF_CHECKSUM_GOOD = 2,
    ATF_CHECKSUM_BAD = 3,
    /**
     * The checksum is an IEEE CRC-32 instead of a CRC-32C: the events are intact, but the
     * polynomial is wrong.
     */
    ATF_CHECKSUM_IEEE = 4,
    /** There is a checksum, but it has not been compared with the events yet. */
    ATF_CHECKSUM_UNKNOWN = 5
} AtfChecksum;

/** Header fields, layout and completeness of a file. */
typedef struct AtfFileInfo {
    /** Events that can be read. */
    uint64_t event_count;
    uint64_t file_size;
    uint64_t events_offset;
    /** The offset after the last event. */
    uint64_t events_end;
    /** The offset of the verified footer, or 0. */
    uint64_t footer_offset;
    uint64_t bytes_after_footer;
    /** Bytes after the last complete event that belong to no event. */
    uint64_t trailing_bytes;
    /** Zero bytes at the end of the file. */
    uint64_t zero_tail_bytes;
    /** The thread id in the header. */
    uint32_t thread_id;
    /** ATF_INDEX_FLAG_*. */
    uint32_t flags;
    /** 1 or 2. */
    uint8_t wire;
    uint8_t arch;
    uint8_t os;
    /** The clock, ATF_CLOCK_*; 0 for a detail.atf, which does not record it. */
    uint8_t clock_type;
    /** AtfCompleteness. */
    uint8_t completeness;
    /** AtfCountSource. */
    uint8_t count_source;
    /** AtfChecksum, as far as known. */
    uint8_t checksum;
    uint8_t reserved[1];
} AtfFileInfo;

/** Opens an index.atf. flags: ATF_OPEN_*, or 0. */
AtfStatus atf_index_open(const char *path, uint32_t flags, AtfIndexReader **reader);

/** Opens an index.atf from bytes, which are copied. */
AtfStatus atf_index_open_bytes(const void *data, size_t size, AtfIndexReader **reader);

/** Describes the file. info_size is sizeof *info. */
AtfStatus atf_index_info(const AtfIndexReader *reader, AtfFileInfo *info, size_t info_size);

/** The number of events that can be read; 0 if reader is invalid. */
uint64_t atf_index_event_count(const AtfIndexReader *reader);

/** Reads event index_seq; ATF_NONE after the last one. */
AtfStatus atf_index_get(const AtfIndexReader *reader, uint64_t index_seq, AtfEvent *event);

/**
 * Reads up to capacity events, starting with event first_seq. After the last one: ATF_NONE, or
 * ATF_ERROR_DAMAGED if there are problems (atf_index_problem). Large batches are fast. On an error
 * the first *count events are valid.
 */
AtfStatus atf_index_read(const AtfIndexReader *reader, uint64_t first_seq, AtfEvent *events,
                         size_t capacity, size_t *count);

/** The timestamps of the first and the last event; ATF_NONE without events. */
AtfStatus atf_index_time_range(const AtfIndexReader *reader, uint64_t *time_start_ns,
                               uint64_t *time_end_ns);

/** Reads all events and compares them with the checksum. A mismatch is not an error. */
AtfStatus atf_index_checksum(const AtfIndexReader *reader, AtfChecksum *checksum);

/**
 * The number of problems with the events; for a thread's reader, also with its details and links.
 * The first call reads all events.
 */
size_t atf_index_problem_count(const AtfIndexReader *reader);

/**
 * A problem as text, with the id of the broken rule at the end ("[ATF-IFTR-001]"), or NULL; valid
 * until the reader is closed.
 */
const char *atf_index_problem(const AtfIndexReader *reader, size_t position);

AtfStatus atf_index_close(AtfIndexReader *reader);

/** Opens a detail.atf and reads all of it once. flags: ATF_OPEN_*, or 0. */
AtfStatus atf_detail_open(const char *path, uint32_t flags, AtfDetailReader **reader);

/** Opens a detail.atf from bytes, which are copied. */
AtfStatus atf_detail_open_bytes(const void *data, size_t size, AtfDetailReader **reader);

/** Describes the file. info_size is sizeof *info. */
AtfStatus atf_detail_info(const AtfDetailReader *reader, AtfFileInfo *info, size_t info_size);

/** The number of events that can be read; 0 if reader is invalid. */
uint64_t atf_detail_event_count(const AtfDetailReader *reader);

/** Reads event detail_seq. After the last one: ATF_NONE, or ATF_ERROR_DAMAGED as for an index. */
AtfStatus atf_detail_get(const AtfDetailReader *reader, uint64_t detail_seq,
                         AtfDetailEvent *event);

/**
 * Copies at most capacity bytes of an event's payload, beginning at byte start; *size is set to the
 * number copied.
 */
AtfStatus atf_detail_payload(const AtfDetailReader *reader, uint64_t detail_seq, uint64_t start,
                             void *buffer, size_t capacity, size_t *size);

/**
 * Reads the payload of a call or a return; its stack_size bytes go to stack. ATF_NONE: the payload
 * has a different layout. ATF_ERROR_BUFFER: the stack is larger than stack_capacity; 65535 is
 * always enough.
 */
AtfStatus atf_detail_function_payload(const AtfDetailReader *reader, uint64_t detail_seq,
                                      DetailFunctionPayload *payload, uint8_t *stack,
                                      size_t stack_capacity);

/** Reads all events and compares them with the checksum. A mismatch is not an error. */
AtfStatus atf_detail_checksum(const AtfDetailReader *reader, AtfChecksum *checksum);

/** The number of problems with the events. */
size_t atf_detail_problem_count(const AtfDetailReader *reader);

/** A problem as text, or NULL; valid until the reader is closed. */
const char *atf_detail_problem(const AtfDetailReader *reader, size_t position);

AtfStatus atf_detail_close(AtfDetailReader *reader);

/** Opens a thread's folder. An unreadable detail.atf does not prevent reading the index. */
AtfStatus atf_thread_open(const char *folder, uint32_t flags, AtfThreadReader **reader);

/**
 * Returns a reader for the thread's index.atf: a separate handle that you close separately, at any
 * time.
 */
AtfStatus atf_thread_index(const AtfThreadReader *thread, AtfIndexReader **reader);

/**
 * Returns a reader for the thread's detail.atf in the same way. ATF_NONE: there is no such file.
 */
AtfStatus atf_thread_detail(const AtfThreadReader *thread, AtfDetailReader **reader);

/**
 * The detail that index event index_seq links to. ATF_NONE: the event has no link. ATF_ERROR_LINK:
 * the link is dangling.
 */
AtfStatus atf_thread_detail_of(const AtfThreadReader *thread, uint64_t index_seq,
                               AtfDetailEvent *detail);

/**
 * The index event that detail detail_seq links to. ATF_NONE: there is no such detail.
 * ATF_ERROR_LINK: the link is dangling.
 */
AtfStatus atf_thread_event_of(const AtfThreadReader *thread, uint64_t detail_seq, AtfEvent *event);

AtfStatus atf_thread_close(AtfThreadReader *thread);

/** The kind of file at the path of a thread's folder. */
typedef enum AtfPresence {
    ATF_PRESENCE_FOLDER = 0,
    /** A symlink, which is followed only with ATF_OPEN_FOLLOW_LINKS. */
    ATF_PRESENCE_SYMBOLIC_LINK = 1,
    ATF_PRESENCE_NOT_A_FOLDER = 2,
    /** Nothing is there: only the manifest lists the thread. */
    ATF_PRESENCE_MISSING = 3
} AtfPresence;

/** The part of a longer trace that a thread was cut to, for example by atf cut. */
typedef struct AtfCut {
    /** The start and the end of the part, both included. */
    uint64_t from_ns;
    uint64_t to_ns;
    /** How many of the first events repeat calls that were open at the start. */
    uint64_t calls;
    /** How many of the last events are added returns of calls that were open at the end. */
    uint64_t returns;
} AtfCut;

/** A thread of a session. */
typedef struct AtfThreadInfo {
    /** The folder; valid until the session is closed. */
    const char *path;
    /** The id in the folder's name. */
    uint32_t id;
    /** AtfPresence. */
    uint8_t presence;
    /** 1 if the manifest lists the thread. */
    uint8_t is_listed;
    uint8_t reserved[2];
    /** The thread's name in the manifest, or NULL; valid until the session is closed. */
    const char *name;
    /** The tracer's losses, according to the manifest. */
    AtfLoss lost_events;
    AtfLoss lost_details;
    /** The part of a longer trace that the thread was cut to; zeros if is_cut is 0. */
    AtfCut cut;
    /** 1 if the thread was cut; else 0. */
    uint8_t is_cut;
    uint8_t reserved2[7];
} AtfThreadInfo;

/** Facts about the entire recording, from the manifest. */
typedef struct AtfSessionFacts {
    /** The tracer's losses that belong to no listed thread. */
    AtfLoss lost_events;
    /**
     * How many events may be missing at the end of each thread, because the tracer is still running
     * or was killed.
     */
    uint64_t unwritten_events;
    /**
     * The largest measured difference between timestamps and the clock, if has_clock_error is 1.
     */
    uint64_t clock_error_ns;
    /**
     * The signal that ended the process, such as "SIGSEGV", or NULL; valid until the session is
     * closed.
     */
    const char *ended_by;
    /**
     * 1 if timestamps were read from a different clock and compared with the clock of clock_type.
     */
    uint8_t has_clock_error;
    /**
     * 1 if details contain the fields of their calls: a JSON object in UTF-8, in each payload that
     * does not have the shape of a function payload.
     */
    uint8_t has_detail_fields;
    /**
     * 1 if the tracer drops events that do not fit in its memory: unless unwritten_events is 0, the
     * losses do not include the most recently dropped events.
     */
    uint8_t drops_events;
    uint8_t reserved[5];
} AtfSessionFacts;

/**
 * Sets the size limit of manifest.json for all sessions that the program opens from now on;
 * default 64 MiB. A larger manifest counts as unreadable: events can be read, names cannot, and
 * atf_session_problem reports why. A manifest can take up to 40 times its size in memory; if the
 * system refuses that much, it also counts as unreadable.
 */
void atf_set_manifest_limit(uint64_t bytes);

/**
 * Opens a session's folder, but not its threads. The manifest may be missing. A folder with one
 * session below it, at any depth, is opened as that session; if there are several, the error's
 * message lists them.
 */
AtfStatus atf_session_open(const char *folder, uint32_t flags, AtfSessionReader **session);

/** The number of threads with a folder or a manifest entry; 0 if session is invalid. */
size_t atf_session_thread_count(const AtfSessionReader *session);

/** Describes the thread at a position, in ascending order of id; ATF_NONE after the last one. */
AtfStatus atf_session_thread_info(const AtfSessionReader *session, size_t position,
                                  AtfThreadInfo *info, size_t info_size);

/** Opens the thread at a position. Problems in one thread do not affect the others. */
AtfStatus atf_session_open_thread(const AtfSessionReader *session, size_t position,
                                  AtfThreadReader **reader);

/** Opens the threads one after another and computes their totals. */
AtfStatus atf_session_summary(const AtfSessionReader *session, AtfSessionTotals *totals,
                              size_t totals_size);

/** Reads the manifest's facts about the entire recording; zeros without a manifest. */
AtfStatus atf_session_facts(const AtfSessionReader *session, AtfSessionFacts *facts, size_t facts_size);

/** The number of modules in the manifest. */
size_t atf_session_module_count(const AtfSessionReader *session);

/**
 * Reads the module at a position; ATF_NONE after the last one. Its strings are valid until the
 * session is closed. Numbers missing from the manifest are 0.
 */
AtfStatus atf_session_module(const AtfSessionReader *session, size_t position, AtfModule *module);

/** The number of timing anchors in the manifest. */
size_t atf_session_timing_anchor_count(const AtfSessionReader *session);

/** Reads the timing anchor at a position; ATF_NONE after the last one. */
AtfStatus atf_session_timing_anchor(const AtfSessionReader *session, size_t position,
                                    AtfTimingAnchor *anchor);

/** The number of symbols in the manifest. */
size_t atf_session_symbol_count(const AtfSessionReader *session);

/** Reads the symbol at a position; its name is valid until the session is closed. */
AtfStatus atf_session_symbol(const AtfSessionReader *session, size_t position,
                             AtfSymbol *symbol);

/** The name of a function, or NULL; valid until the session is closed. */
const char *atf_session_function_name(const AtfSessionReader *session, uint64_t function_id);

/** The number of problems with the session itself: its manifest, and folders that were not read. */
uint64_t atf_session_problem_count(const AtfSessionReader *session);

/**
 * A problem as text, or NULL; valid until the session is closed. Only the first 100 problems of the
 * manifest are kept.
 */
const char *atf_session_problem(const AtfSessionReader *session, size_t position);

/** Frees a session. Its merges and its threads' readers remain usable. */
AtfStatus atf_session_close(AtfSessionReader *session);

/* ---- All threads merged by time ---- */

/**
 * Events of all threads, ordered by timestamp, then thread; events of one thread stay in the order
 * of its file. Where a thread's timestamps decrease, its next event comes as soon as every other
 * thread's next event is later, so the merge's timestamps decrease there too. In a gap, where bytes
 * were lost, events are decoded from zeros: their timestamp is 0. atf_merge_problem reports gaps.
 */
typedef struct AtfMerge AtfMerge;

/** Opens a merge of the events from time_start_ns to time_end_ns; 0 and UINT64_MAX for all. */
AtfStatus atf_merge_open(const AtfSessionReader *session, uint64_t time_start_ns,
                         uint64_t time_end_ns, AtfMerge **merge);

/**
 * Reads the next events, up to capacity. After the last one: ATF_NONE, or ATF_ERROR_DAMAGED if
 * there are problems (atf_merge_problem). If a thread cannot be read any further, its events end
 * there; the other threads continue.
 */
AtfStatus atf_merge_next(AtfMerge *merge, AtfEvent *events, size_t capacity, size_t *count);

/**
 * The number of threads whose events were not compared with their checksum, because a merge of a
 * time range reads only part of each thread. After the last event of a full merge, it is 0.
 */
size_t atf_merge_unverified_count(const AtfMerge *merge);

/** The number of problems found so far; complete after the last event. */
size_t atf_merge_problem_count(const AtfMerge *merge);

/** A problem as text, or NULL; valid until the merge is closed. */
const char *atf_merge_problem(const AtfMerge *merge, size_t position);

AtfStatus atf_merge_close(AtfMerge *merge);

/* ---- All sessions and threads at a path ---- */

/** The sessions and threads at a path. */
typedef struct AtfTrace AtfTrace;

/**
 * Opens an index.atf, a thread's folder, a session, or all sessions below a folder, such as the
 * processes and segments of a recording. Does not open the threads of sessions.
 */
AtfStatus atf_trace_open(const char *path, AtfTrace **trace);

/**
 * The number of sessions; 0 if trace is invalid. An index.atf has none, and a thread's folder has
 * one if it is in a session.
 */
size_t atf_trace_session_count(const AtfTrace *trace);

/** Opens the session at a position; ATF_NONE after the last one. Close it as well. */
AtfStatus atf_trace_session(const AtfTrace *trace, size_t position, AtfSessionReader **session);

/**
 * Opens a merge of the events of all threads from time_start_ns to time_end_ns; 0 and UINT64_MAX
 * for all. Events with equal timestamps are ordered by process, then thread, then segment. All
 * processes must have recorded on one machine, because timestamps from different clocks cannot be
 * ordered.
 */
AtfStatus atf_trace_merge(const AtfTrace *trace, uint64_t time_start_ns, uint64_t time_end_ns,
                          AtfMerge **merge);

/** Frees a trace. Its sessions and merges remain usable. */
AtfStatus atf_trace_close(AtfTrace *trace);

/* ---- Recovering ---- */

/** How a session is recovered. A value of 0 selects a member's default. */
typedef struct AtfRecoverOptions {
    /** sizeof(AtfRecoverOptions). */
    uint32_t struct_size;
    /** 1: also searches past gaps and damaged regions. */
    uint8_t salvage;
    /** ATF_DURABILITY_*. */
    uint8_t durability;
    uint8_t reserved[2];
    /** The manifest.json of another run to take modules and symbols from; may be NULL. */
    const char *symbols_path;
} AtfRecoverOptions;

/** AtfRecoverOptions with all defaults. */
#define ATF_RECOVER_OPTIONS_INIT \
    { (uint32_t)sizeof(AtfRecoverOptions), 0, 0, { 0, 0 }, NULL }

/**
 * Recovers a crashed or damaged session into out, which must not exist. path is never modified.
 * options may be NULL. report may be NULL; it receives JSON text that lists what was kept, set
 * aside and dropped. Free it with atf_string_free.
 */
AtfStatus atf_recover(const char *path, const char *out, const AtfRecoverOptions *options,
                      char **report);

/** Frees a string returned by atf_recover; NULL is allowed. */
void atf_string_free(char *string);

#ifdef __cplusplus
}
#endif

#endif
