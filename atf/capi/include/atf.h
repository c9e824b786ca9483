/**
 * The C API of atf, which reads and writes ATF v2 (ADA Trace Format) function traces. C11, C++17.
 *
 * The records as they stand in the files are in atf_v1.h, which this header includes; atf_wire.h
 * has both wire versions. Include it as <atf/atf.h> or as <atf.h>. Link with libatf: pkg-config atf
 * or CMake's atf::atf; to have the library inside of the program, pkg-config atf-static or
 * atf::atf_static.
 *
 * A tracer's way: atf_session_writer_create_in, atf_session_writer_set_symbols,
 * atf_session_writer_write_manifest; for each thread atf_session_writer_thread, atf_writer_write,
 * atf_writer_close; in the end atf_session_writer_finish and atf_session_writer_close.
 *
 * Words: an offset is in bytes from the start of a file, a size in bytes, a count in elements, a
 * seq is a position counted from 0. All times are in nanoseconds.
 *
 * Errors. A function that can fail returns AtfStatus, or a value that its comment names. What
 * failed last on this thread tell atf_last_error_*; they hold until the next failure on the thread.
 * No function ends the program: a fault of the library is ATF_ERROR_PANIC.
 *
 * Handles. Functions that make one set it to NULL where they fail. Each is freed by its own close
 * function, which takes NULL; every other function answers NULL with ATF_ERROR_ARGUMENT. A handle
 * of another kind is ATF_ERROR_HANDLE, and so is a closed one as long as it is among the last 1024
 * that were closed; what else is no handle must not be passed.
 *
 * Threads. Different handles can be used on different threads at once. A writer and an AtfMerge
 * are used by one thread at a time; a reader and an AtfSessionWriter by any number at once, but
 * closed when nobody uses them. After fork, the child leaves its parent's writers alone.
 *
 * Strings are const char * that end with NUL. A path is any bytes on Unix, UTF-8 on Windows.
 * Structs grow in one of two ways: those that are passed with their size (sizeof, as the caller was
 * compiled) at the end, all others into their reserved members. Set these to 0 in what you pass, best by
 * an initializer: anything else is ATF_ERROR_ARGUMENT.
 *
 * Sources, the format's documents, cited in brackets:
 *     S0: ATF Index File Format (BH-002)
 *     S1: ADA Trace Format V2 (ATF v2)
 *     S2: ATF Format Specification
 *     S3: M1_E7_I1 Technical Design: ATF V2 Writer, which declares five functions of this header
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

/** What a function returns: 0 or what kept it from doing its work. Values may be added. */
typedef enum AtfStatus {
    /** Done. */
    ATF_OK = 0,
    /** Nothing is there: a position behind the last event, an event without a detail. No error. */
    ATF_NONE = 1,
    /** An argument is NULL, out of range or points nowhere. */
    ATF_ERROR_ARGUMENT = 2,
    /** Not a handle of this kind, or one that was closed. */
    ATF_ERROR_HANDLE = 3,
    /** Not at this time: finalized already, or something is still to be written. */
    ATF_ERROR_STATE = 4,
    /** The operating system refused: atf_last_error_os_code. */
    ATF_ERROR_IO = 5,
    /** The file is not what it should be: atf_last_error_field and atf_last_error_offset. */
    ATF_ERROR_FORMAT = 6,
    /** The event is refused: it goes back in time, is of unknown kind, or a number is too large. */
    ATF_ERROR_REFUSED = 7,
    /** The link disagrees with the counters. */
    ATF_ERROR_LINK = 8,
    /** The file is full, or a result larger than its type. */
    ATF_ERROR_LIMIT = 9,
    /** Something stands there already. */
    ATF_ERROR_EXISTS = 10,
    /** No such file, folder or thread. */
    ATF_ERROR_NOT_FOUND = 11,
    /** The caller's buffer is too small. */
    ATF_ERROR_BUFFER = 12,
    /** A fault of the library; the handle can only be closed. */
    ATF_ERROR_PANIC = 13,
    /** No more events, and those given are not all that were written, or not as they were. */
    ATF_ERROR_DAMAGED = 14,
    /** Something that was announced is not in the files: reserved details that never came. */
    ATF_ERROR_LOST = 15
} AtfStatus;

/** The place of an error that has none in a file. */
#define ATF_NO_OFFSET UINT64_MAX

/** The name of a status, for example "ATF_OK"; never NULL. */
const char *atf_status_name(int status);

/** The status of the last failure on this thread, ATF_OK where there was none. */
AtfStatus atf_last_error_status(void);

/** File, field, reason and offset of the last failure on this thread in words; never NULL. */
const char *atf_last_error_message(void);

/** The file or folder that it was about, or "". */
const char *atf_last_error_path(void);

/** The field that it was about, for example "header.event_size", or "". */
const char *atf_last_error_field(void);

/** The place in the file that it was about, or ATF_NO_OFFSET. */
uint64_t atf_last_error_offset(void);

/** The operating system's number of it (errno), or 0. */
int atf_last_error_os_code(void);

/* ---- Clock: ada_timing.h has ada_timing_init and ada_get_timestamp_ns ---- */

/** The clock_type of headers for that clock: ATF_CLOCK_*. */
uint8_t atf_clock_type(void);

/** A time of a sound or screen recording: value / timescale seconds. */
typedef struct AtfMediaTime {
    int64_t value;
    /** Parts of a second; above 0. */
    int32_t timescale;
    /** Not looked at; written 0. */
    uint32_t reserved;
} AtfMediaTime;

/** One moment on two clocks: the trace's and the recording's. [S0 S1] */
typedef struct AtfTimingAnchor {
    /** ada_get_timestamp_ns() at the capture. */
    uint64_t host_time_ns;
    /** The recording's clock at the capture. */
    AtfMediaTime media_time;
} AtfTimingAnchor;

/**
 * The recording's time at a timestamp, in the anchor's timescale, rounded to the nearest.
 * ATF_ERROR_LIMIT: it does not fit, or the timescale is not above 0.
 */
AtfStatus atf_anchor_to_media(const AtfTimingAnchor *anchor, uint64_t host_time_ns,
                              AtfMediaTime *media_time);

/** The timestamp at a time of the recording, of any timescale. Errors as above. */
AtfStatus atf_anchor_to_host_ns(const AtfTimingAnchor *anchor, AtfMediaTime media_time,
                                uint64_t *host_time_ns);

/** How much faster the recording's clock ran from anchor to later, in parts of 10^9. */
AtfStatus atf_anchor_drift_ppb(const AtfTimingAnchor *anchor, const AtfTimingAnchor *later,
                               int64_t *drift_ppb);

/* ---- Versions ---- */

/** The version of this header. Before 1.0.0, versions with another second number are incompatible. */
#define ATF_VERSION "0.1.0"

/** The version of the library that is linked, in the same form. */
const char *atf_version(void);

/* ---- Writing a thread ---- */

/** Writes thread_N/index.atf, and thread_N/detail.atf from the first detail on. */
typedef struct AtfThreadWriter AtfThreadWriter;

/** The system writes to the disk when it likes. */
#define ATF_DURABILITY_NONE 0u
/** A finalized file survives a loss of power. */
#define ATF_DURABILITY_FINALIZE 1u
/** All that was flushed survives a loss of power. */
#define ATF_DURABILITY_EACH_FLUSH 2u

/** How files are written. 0 stands for the default of each member. */
typedef struct AtfWriteOptions {
    /** sizeof(AtfWriteOptions). */
    uint32_t struct_size;
    /** The wire version, 1 or 2; by default 1. */
    uint8_t wire;
    /** ATF_ARCH_*; by default this machine's. */
    uint8_t arch;
    /** ATF_OS_*; by default this machine's. */
    uint8_t os;
    /** ATF_CLOCK_*; by default that of ada_get_timestamp_ns. */
    uint8_t clock_type;
    /** ATF_DURABILITY_*. */
    uint8_t durability;
    /** 1: every event whose call has returned survives SIGKILL. */
    uint8_t survive_kill;
    /** 1: events that go back in time or are of unknown kind are written, not refused. */
    uint8_t verbatim;
    /** 0. */
    uint8_t reserved[5];
    /** Size of each file's buffer in bytes: by default 128 KiB, at least 4 KiB, at most 1 GiB. */
    uint64_t buffer_size;
} AtfWriteOptions;

/** AtfWriteOptions with all defaults. */
#define ATF_WRITE_OPTIONS_INIT \
    { (uint32_t)sizeof(AtfWriteOptions), 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0, 0, 0 }, 0 }

/** No detail, in 64 bits; S3's functions have UINT32_MAX. */
#define ATF_NO_DETAIL UINT64_MAX

/** Registers and stack at an event, or whatever else belongs to it. */
typedef struct AtfDetail {
    /** What it describes: ATF_DETAIL_EVENT_*. */
    uint16_t event_type;
    /** Flags; no source names one. */
    uint16_t flags;
    /** 0. */
    uint32_t reserved;
    /**
     * The payload: for a call or a return a DetailFunctionPayload, followed by stack_size bytes.
     * atf_detail_function_payload_set_* fill it right on every machine. Any bytes will do.
     */
    const void *payload;
    /** Size of the payload in bytes. */
    size_t payload_size;
    /** 0. */
    uint64_t reserved2[2];
} AtfDetail;

/** An index event and the detail event that belong together. */
typedef struct AtfLink {
    uint64_t index_seq;
    uint64_t detail_seq;
    /** 0, until a later version has more to say. */
    uint64_t reserved[2];
} AtfLink;

/** What a thread's files hold in the end. */
typedef struct AtfThreadSummary {
    uint64_t event_count;
    uint64_t detail_count;
    /** The first event's timestamp; 0 without events. */
    uint64_t time_start_ns;
    /** The last event's timestamp; 0 without events. */
    uint64_t time_end_ns;
    uint32_t thread_id;
    uint32_t reserved;
    /** Details that were reserved and then dropped, or never written. Their data is lost. */
    uint64_t dropped_details;
} AtfThreadSummary;

/**
 * Makes session_dir/thread_<thread_id>/ and a writer for it. options may be NULL.
 * ATF_ERROR_EXISTS: the folder has an index.atf or a detail.atf.
 */
AtfStatus atf_writer_open(const char *session_dir, uint32_t thread_id,
                          const AtfWriteOptions *options, AtfThreadWriter **writer);

/**
 * Writes an event without details; timestamps must not go back, event_kind is ATF_EVENT_KIND_*.
 * call_depth is 1 for the outermost call, and a return repeats its call's; other depths are written
 * as they are, as by a tracer that begins in the midst of calls (atf-conformance check: advice
 * ATF-IEVT-004). index_seq may be NULL.
 * After ATF_ERROR_REFUSED others may follow; after ATF_ERROR_IO every later call fails too.
 */
AtfStatus atf_writer_write(AtfThreadWriter *writer, uint64_t timestamp_ns, uint64_t function_id,
                           uint32_t event_kind, uint32_t call_depth, uint64_t *index_seq);

/** Writes an event with its details, both or neither. link may be NULL. */
AtfStatus atf_writer_write_with_detail(AtfThreadWriter *writer, uint64_t timestamp_ns,
                                       uint64_t function_id, uint32_t event_kind,
                                       uint32_t call_depth, const AtfDetail *detail,
                                       AtfLink *link);

/**
 * Writes an event and reserves its detail, for tracers that keep the two apart: detail_seq is
 * ATF_NO_DETAIL or atf_writer_next_detail_seq, all else is ATF_ERROR_LINK. index_seq may be NULL.
 */
AtfStatus atf_writer_write_index(AtfThreadWriter *writer, uint64_t timestamp_ns,
                                 uint64_t function_id, uint32_t event_kind, uint32_t call_depth,
                                 uint64_t detail_seq, uint64_t *index_seq);

/**
 * Writes the oldest detail that was reserved; index_seq and timestamp_ns must be those of its
 * event, else ATF_ERROR_LINK. detail_seq may be NULL.
 */
AtfStatus atf_writer_write_detail(AtfThreadWriter *writer, uint64_t index_seq,
                                  uint64_t timestamp_ns, const AtfDetail *detail,
                                  uint64_t *detail_seq);

/**
 * Gives up a reserved detail, for example because a ring was full. Later details are not affected.
 * detail_seq is the number that the detail was reserved with. With atf_writer_next_detail_seq's number, the
 * next detail is skipped. The event's link becomes none. If the event has already been flushed, its detail
 * is written without a payload instead. ATF_ERROR_LINK: no such detail is open.
 */
AtfStatus atf_writer_drop_detail(AtfThreadWriter *writer, uint64_t detail_seq);

/** The position that the next index event gets; UINT64_MAX where this is no writer. */
uint64_t atf_writer_next_index_seq(const AtfThreadWriter *writer);

/**
 * The number by which the next detail is reserved: of those before it, dropped ones included. UINT64_MAX
 * where this is no writer.
 */
uint64_t atf_writer_next_detail_seq(const AtfThreadWriter *writer);

/** Hands all events over to the operating system. */
AtfStatus atf_writer_flush(AtfThreadWriter *writer);

/**
 * Finalizes the files; summary may be NULL. ATF_ERROR_STATE: that was done before. Details that were
 * reserved and never written are dropped: the summary counts them in dropped_details, and the warning
 * callback gets ATF_ERROR_LOST. They are no failure of this call, which returns ATF_OK, but they are kept
 * in atf_writer_error if nothing failed before.
 */
AtfStatus atf_writer_finish(AtfThreadWriter *writer, AtfThreadSummary *summary,
                            size_t summary_size);

/** 1 where the files are finalized, else 0. */
int atf_writer_is_finalized(const AtfThreadWriter *writer);

/** The first failure of this writer, ATF_OK where there was none. */
AtfStatus atf_writer_error(const AtfThreadWriter *writer);

/** What it was, or ""; holds until the writer is closed. */
const char *atf_writer_error_message(const AtfThreadWriter *writer);

/**
 * Finalizes the files if that was not done, and frees the writer, however it was made; NULL is
 * allowed. What fails in it tells atf_last_error_*: who must know calls atf_writer_finish first.
 * (atf_session_writer_close finalizes nothing.) [S3]
 */
void atf_writer_close(AtfThreadWriter *writer);

/** Frees a writer without finalizing; what was written stays and can be recovered. */
AtfStatus atf_writer_abandon(AtfThreadWriter *writer);

/* ---- Writing a thread, with the functions of the writer's design, S3 ---- */
/*
 * They take the handles of the functions above, and the fifth of them is atf_writer_close. What fails in
 * them is kept (atf_writer_error) and is a warning.
 */

/** Takes a warning: message holds during the call. */
typedef void (*AtfWarning)(void *user, AtfStatus status, const char *message);

/**
 * Sets a function for the whole program, to be called when one of S3's functions fails and when reserved
 * details are lost; NULL for none. It runs on the thread that met the failure, at the end of the failing
 * call, and holds no lock. It may call any function, except that it must not close the writer that it is
 * called for. It must not throw or jump. For each writer only the first failure of each status is reported;
 * atf_writer_finalize or atf_writer_close reports how many more there were, of all statuses together.
 */
void atf_writer_set_warning_callback(AtfWarning callback, void *user);

/**
 * Sets the options of every writer that atf_writer_create makes from now on, in the whole program; NULL for
 * the defaults. The clock_type argument of atf_writer_create takes precedence over the one in options. A
 * single call is enough to give S3's functions survive_kill and a durability.
 */
AtfStatus atf_writer_set_default_options(const AtfWriteOptions *options);

/**
 * A writer for session_dir/thread_<thread_id>/, or NULL; in wire version 1 unless
 * atf_writer_set_default_options said otherwise. clock_type is written as it is, known or not. [S3]
 */
AtfThreadWriter *atf_writer_create(const char *session_dir, uint32_t thread_id,
                                   uint8_t clock_type);

/**
 * Writes an index event and returns its index_seq, UINT32_MAX on an error. detail_seq is UINT32_MAX for
 * none, or the number of details until now, dropped ones included (atf_writer_drop_detail); all else is
 * refused. [S3]
 */
uint32_t atf_write_index_event(AtfThreadWriter *writer, uint64_t timestamp_ns,
                               uint64_t function_id, uint32_t event_kind, uint32_t call_depth,
                               uint32_t detail_seq);

/**
 * Writes the detail of the index event at index_seq, in the order in which they were reserved: those that
 * were reserved before it and did not come are dropped, with a warning. payload is followed by stack_size bytes, at most 256; its event_type follows from the event's
 * kind: a call's is FUNCTION_CALL, all others' FUNCTION_RETURN. [S3]
 */
void atf_write_detail_event(AtfThreadWriter *writer, uint32_t index_seq, uint64_t timestamp_ns,
                            const DetailFunctionPayload *payload);

/** atf_writer_finish without an answer. [S3] */
void atf_writer_finalize(AtfThreadWriter *writer);

/* ---- Writing a session ---- */

/** Writes a folder of threads and its manifest.json. */
typedef struct AtfSessionWriter AtfSessionWriter;

/** An executable or a library. */
typedef struct AtfModule {
    /** The upper half of its functions' function_id. */
    uint32_t module_id;
    /** 0. */
    uint32_t reserved;
    uint64_t base_address;
    /** Size in memory in bytes. */
    uint64_t size;
    /** Where it was loaded from; may be NULL. */
    const char *path;
    /** Its build id; may be NULL. */
    const char *uuid;
    /** 0. */
    uint64_t reserved2[2];
} AtfModule;

/** The name of a function. */
typedef struct AtfSymbol {
    /** As in the events: module in the upper 32 bits, symbol in the lower. */
    uint64_t function_id;
    /** NULL or "": it has none, and readers show module and number. Bytes that are not UTF-8 become U+FFFD. */
    const char *name;
    /** 0. */
    uint64_t reserved[2];
} AtfSymbol;

/** The threads of a session, added up. */
typedef struct AtfSessionTotals {
    /** Threads written; of a reader, threads that could be opened. */
    uint64_t threads;
    /** Of a writer, threads finalized; of a reader, threads that could not be opened. */
    uint64_t finalized_or_unreadable;
    uint64_t event_count;
    uint64_t detail_count;
    /** The least first timestamp; 0 without events. */
    uint64_t time_start_ns;
    /** The greatest last timestamp; 0 without events. */
    uint64_t time_end_ns;
} AtfSessionTotals;

/** A session in this folder; options may be NULL. ATF_ERROR_EXISTS: it has a manifest. */
AtfStatus atf_session_writer_create(const char *folder, const AtfWriteOptions *options,
                                    AtfSessionWriter **session);

/** A session in root/session_YYYYMMDD_HHMMSS/pid_N of this moment (UTC) and process. */
AtfStatus atf_session_writer_create_in(const char *root, const AtfWriteOptions *options,
                                       AtfSessionWriter **session);

/** The session's folder, or ""; holds until the session is closed. */
const char *atf_session_writer_path(const AtfSessionWriter *session);

/**
 * A writer for a thread, independent of the others. ATF_ERROR_EXISTS: the thread has one. Where a
 * manifest was written, it is written again with this thread in it.
 */
AtfStatus atf_session_writer_thread(const AtfSessionWriter *session, uint32_t thread_id,
                                    AtfThreadWriter **writer);

/** Names the executables and libraries for the manifest, in place of those before. */
AtfStatus atf_session_writer_set_modules(const AtfSessionWriter *session,
                                         const AtfModule *modules, size_t count);

/** Names the functions for the manifest, in place of those before. */
AtfStatus atf_session_writer_set_symbols(const AtfSessionWriter *session,
                                         const AtfSymbol *symbols, size_t count);

/**
 * Writes the manifest as far as it is known now, so that it outlives a crash: call it when modules
 * and symbols are set, before threads are opened. From then on each thread that is opened writes it
 * again; names that are set later are in it after the next call, thread, or
 * atf_session_writer_finish.
 */
AtfStatus atf_session_writer_write_manifest(const AtfSessionWriter *session);

/**
 * Writes the manifest for good; totals may be NULL. ATF_ERROR_STATE: that was done, or threads are
 * still being written.
 */
AtfStatus atf_session_writer_finish(const AtfSessionWriter *session, AtfSessionTotals *totals,
                                    size_t totals_size);

/**
 * Frees a session's writer without writing its manifest, which atf_session_writer_finish does; its
 * threads' writers go on. (atf_writer_close, other than this, finalizes.)
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
 * Files are mapped: faster at random places. Nobody may change or shorten them while a reader is
 * open; a file that shrinks kills the process with SIGBUS.
 */
#define ATF_OPEN_MAPPED 1u
/** Symbolic links inside a session are followed, wherever they lead. */
#define ATF_OPEN_FOLLOW_LINKS 2u

/** The depth of wire version 2, which records none. */
#define ATF_NO_DEPTH UINT32_MAX

/** An event of index.atf. */
typedef struct AtfEvent {
    uint64_t timestamp_ns;
    uint64_t function_id;
    uint64_t index_seq;
    /** The position of its detail, or ATF_NO_DETAIL. */
    uint64_t detail_seq;
    /** The thread, as the event says it. */
    uint32_t thread_id;
    /** The id in the name of the thread's folder in a session; else the header's thread. */
    uint32_t thread;
    /** ATF_EVENT_KIND_*; others may occur. */
    uint32_t event_kind;
    /** As the tracer counted it, or ATF_NO_DEPTH. */
    uint32_t call_depth;
    /** 0, until a later version has more to say. */
    uint64_t reserved[2];
} AtfEvent;

/** An event of detail.atf, without its payload. */
typedef struct AtfDetailEvent {
    uint64_t timestamp_ns;
    uint64_t detail_seq;
    uint64_t index_seq;
    uint64_t offset;
    uint64_t payload_size;
    uint32_t thread_id;
    /** ATF_DETAIL_EVENT_*; others may occur. */
    uint16_t event_type;
    uint16_t flags;
    /** 0, until a later version has more to say. */
    uint64_t reserved[2];
} AtfDetailEvent;

/** How a file ends. */
typedef enum AtfCompleteness {
    /** A verified footer, and a header that was rewritten for it. */
    ATF_FINALIZED = 0,
    /** A verified footer under a header that was never rewritten; all events are there. */
    ATF_FOOTER_UNDER_PLACEHOLDER = 1,
    /** No footer: the writer or the file was cut off. */
    ATF_UNFINALIZED = 2,
    /** A footer that contradicts the file. */
    ATF_DAMAGED_FOOTER = 3
} AtfCompleteness;

/** What the number of events rests on. */
typedef enum AtfCountSource {
    ATF_COUNT_FOOTER = 0,
    /** The place of a damaged footer. */
    ATF_COUNT_FOOTER_POSITION = 1,
    ATF_COUNT_FILE_SIZE = 2,
    /** The events themselves, hopped from one to the next. */
    ATF_COUNT_FRAMING = 3
} AtfCountSource;

/** What the footer's checksum says of the events. */
typedef enum AtfChecksum {
    /** No verified footer. */
    ATF_CHECKSUM_NOT_CHECKED = 0,
    /** 0, which stands for none. */
    ATF_CHECKSUM_ABSENT = 1,
    ATF_CHECKSUM_GOOD = 2,
    ATF_CHECKSUM_BAD = 3,
    /** The IEEE CRC-32: the events are whole, the polynomial is wrong. */
    ATF_CHECKSUM_IEEE = 4,
    /** There is one, and nothing has compared it with the events yet. */
    ATF_CHECKSUM_UNKNOWN = 5
} AtfChecksum;

/** Header, end and completeness of a file. */
typedef struct AtfFileInfo {
    /** Events that can be read. */
    uint64_t event_count;
    uint64_t file_size;
    uint64_t events_offset;
    /** The offset behind the last event. */
    uint64_t events_end;
    /** Of the verified footer, or 0. */
    uint64_t footer_offset;
    uint64_t bytes_after_footer;
    /** Bytes behind the last whole event that belong to none. */
    uint64_t trailing_bytes;
    /** Bytes of zeros at the end. */
    uint64_t zero_tail_bytes;
    /** The header's thread. */
    uint32_t thread_id;
    /** ATF_INDEX_FLAG_*. */
    uint32_t flags;
    /** 1 or 2. */
    uint8_t wire;
    uint8_t arch;
    uint8_t os;
    /** 0 for a detail.atf, which does not say. */
    uint8_t clock_type;
    /** AtfCompleteness. */
    uint8_t completeness;
    /** AtfCountSource. */
    uint8_t count_source;
    /** AtfChecksum, as far as it is known. */
    uint8_t checksum;
    uint8_t reserved[1];
} AtfFileInfo;

/** Opens an index.atf. flags: ATF_OPEN_*, or 0. */
AtfStatus atf_index_open(const char *path, uint32_t flags, AtfIndexReader **reader);

/** Reads the bytes of an index.atf, which are copied. */
AtfStatus atf_index_open_bytes(const void *data, size_t size, AtfIndexReader **reader);

/** What is known of the file: info_size is sizeof *info. */
AtfStatus atf_index_info(const AtfIndexReader *reader, AtfFileInfo *info, size_t info_size);

/** The number of events that can be read; 0 where this is no reader. */
uint64_t atf_index_event_count(const AtfIndexReader *reader);

/** The event at a position; ATF_NONE behind the last one. */
AtfStatus atf_index_get(const AtfIndexReader *reader, uint64_t index_seq, AtfEvent *event);

/**
 * Events from a position on, as many as there are up to capacity. After the last one: ATF_NONE, or
 * ATF_ERROR_DAMAGED if atf_index_problem has something to say about those before it. Large batches
 * are fast. On an error *count are good.
 */
AtfStatus atf_index_read(const AtfIndexReader *reader, uint64_t first_seq, AtfEvent *events,
                         size_t capacity, size_t *count);

/** The timestamps of the first and the last event; ATF_NONE without events. */
AtfStatus atf_index_time_range(const AtfIndexReader *reader, uint64_t *time_start_ns,
                               uint64_t *time_end_ns);

/** Reads all events and compares them with the checksum. A bad one is no error. */
AtfStatus atf_index_checksum(const AtfIndexReader *reader, AtfChecksum *checksum);

/**
 * How many things are wrong with the events; for a thread's reader, also with its details and links.
 * Reads all events, once.
 */
size_t atf_index_problem_count(const AtfIndexReader *reader);

/** One of them in words, or NULL; holds until the reader is closed. */
const char *atf_index_problem(const AtfIndexReader *reader, size_t position);

AtfStatus atf_index_close(AtfIndexReader *reader);

/** Opens a detail.atf, in one pass over it. flags: ATF_OPEN_*, or 0. */
AtfStatus atf_detail_open(const char *path, uint32_t flags, AtfDetailReader **reader);

/** Reads the bytes of a detail.atf, which are copied. */
AtfStatus atf_detail_open_bytes(const void *data, size_t size, AtfDetailReader **reader);

/** What is known of the file: info_size is sizeof *info. */
AtfStatus atf_detail_info(const AtfDetailReader *reader, AtfFileInfo *info, size_t info_size);

/** The number of events that can be read; 0 where this is no reader. */
uint64_t atf_detail_event_count(const AtfDetailReader *reader);

/** The event at a position. After the last one: ATF_NONE, or ATF_ERROR_DAMAGED as of an index. */
AtfStatus atf_detail_get(const AtfDetailReader *reader, uint64_t detail_seq,
                         AtfDetailEvent *event);

/** Bytes of an event's payload from byte start of it on, at most capacity; *size says how many. */
AtfStatus atf_detail_payload(const AtfDetailReader *reader, uint64_t detail_seq, uint64_t start,
                             void *buffer, size_t capacity, size_t *size);

/**
 * The payload of a call or a return; its stack_size bytes go to stack. ATF_NONE: it has another
 * shape. ATF_ERROR_BUFFER: the stack has more than stack_capacity bytes; 65535 always do.
 */
AtfStatus atf_detail_function_payload(const AtfDetailReader *reader, uint64_t detail_seq,
                                      DetailFunctionPayload *payload, uint8_t *stack,
                                      size_t stack_capacity);

/** Reads all events and compares them with the checksum. A bad one is no error. */
AtfStatus atf_detail_checksum(const AtfDetailReader *reader, AtfChecksum *checksum);

/** How many things are wrong with the events. */
size_t atf_detail_problem_count(const AtfDetailReader *reader);

/** One of them in words, or NULL; holds until the reader is closed. */
const char *atf_detail_problem(const AtfDetailReader *reader, size_t position);

AtfStatus atf_detail_close(AtfDetailReader *reader);

/** Opens a thread's folder. A detail.atf that cannot be read does not keep the index from it. */
AtfStatus atf_thread_open(const char *folder, uint32_t flags, AtfThreadReader **reader);

/** The reader of its index.atf: a handle of its own, closed by itself, at any time. */
AtfStatus atf_thread_index(const AtfThreadReader *thread, AtfIndexReader **reader);

/** The reader of its detail.atf, likewise; ATF_NONE: there is no such file. */
AtfStatus atf_thread_detail(const AtfThreadReader *thread, AtfDetailReader **reader);

/**
 * The detail that the index event at a position links to. ATF_NONE: it links to none.
 * ATF_ERROR_LINK: the link is dangling.
 */
AtfStatus atf_thread_forward(const AtfThreadReader *thread, uint64_t index_seq,
                             AtfDetailEvent *detail);

/**
 * The index event that the detail at a position links to. ATF_NONE: there is no such detail.
 * ATF_ERROR_LINK: the link is dangling.
 */
AtfStatus atf_thread_backward(const AtfThreadReader *thread, uint64_t detail_seq,
                              AtfEvent *event);

AtfStatus atf_thread_close(AtfThreadReader *thread);

/** What stands at the place of a thread's folder. */
typedef enum AtfPresence {
    ATF_PRESENCE_FOLDER = 0,
    /** Not followed without ATF_OPEN_FOLLOW_LINKS. */
    ATF_PRESENCE_SYMBOLIC_LINK = 1,
    ATF_PRESENCE_NOT_A_FOLDER = 2,
    /** Only the manifest lists the thread. */
    ATF_PRESENCE_MISSING = 3
} AtfPresence;

/** What a session knows of a thread. */
typedef struct AtfThreadInfo {
    /** The folder; holds until the session is closed. */
    const char *path;
    /** The id in the folder's name. */
    uint32_t id;
    /** AtfPresence. */
    uint8_t presence;
    /** 1 where the manifest lists the thread. */
    uint8_t is_listed;
    uint8_t reserved[2];
} AtfThreadInfo;

/**
 * Bytes of the largest manifest.json that sessions opened from now on read, in all threads; by default
 * 256 MiB. A larger one counts as unreadable: the events are there, the names are not, and
 * atf_session_problem says why. Reading a manifest takes up to 64 times its size in memory.
 */
void atf_set_manifest_limit(uint64_t bytes);

/** Looks at a session's folder without opening its threads; works without a manifest too. */
AtfStatus atf_session_open(const char *folder, uint32_t flags, AtfSessionReader **session);

/** The number of threads, with a folder or listed; 0 where this is no session. */
size_t atf_session_thread_count(const AtfSessionReader *session);

/** The thread at a position, by ascending id; ATF_NONE behind the last one. */
AtfStatus atf_session_thread_info(const AtfSessionReader *session, size_t position,
                                  AtfThreadInfo *info, size_t info_size);

/** Opens the thread at a position; what is wrong with one does not concern the others. */
AtfStatus atf_session_open_thread(const AtfSessionReader *session, size_t position,
                                  AtfThreadReader **reader);

/** Opens one thread after the other and adds them up. */
AtfStatus atf_session_summary(const AtfSessionReader *session, AtfSessionTotals *totals,
                              size_t totals_size);

/** The number of symbols in the manifest. */
size_t atf_session_symbol_count(const AtfSessionReader *session);

/** The symbol at a position; its name holds until the session is closed. */
AtfStatus atf_session_symbol(const AtfSessionReader *session, size_t position,
                             AtfSymbol *symbol);

/** The name of a function, or NULL; holds until the session is closed. */
const char *atf_session_function_name(const AtfSessionReader *session, uint64_t function_id);

/** How many things are wrong with the session itself: its manifest, and folders not read. */
uint64_t atf_session_problem_count(const AtfSessionReader *session);

/** One of them in words (of the manifest's the first 100), or NULL; holds until the session is closed. */
const char *atf_session_problem(const AtfSessionReader *session, size_t position);

/** Frees a session; its threads' readers and merges go on. */
AtfStatus atf_session_close(AtfSessionReader *session);

/* ---- All threads in one order ---- */

/** Events of all threads by timestamp, where that is equal by thread, then by index_seq. */
typedef struct AtfMerge AtfMerge;

/** Begins with the first event of time_start_ns to time_end_ns; 0 and UINT64_MAX for all. */
AtfStatus atf_merge_open(const AtfSessionReader *session, uint64_t time_start_ns,
                         uint64_t time_end_ns, AtfMerge **merge);

/**
 * The next events, up to capacity. After the last one: ATF_NONE, or ATF_ERROR_DAMAGED if
 * atf_merge_problem has something to say about those before it. A thread that cannot be read
 * further ends; the others go on.
 */
AtfStatus atf_merge_next(AtfMerge *merge, AtfEvent *events, size_t capacity, size_t *count);

/**
 * Threads with a checksum that nothing has compared with their events: of a range of time only a
 * part of a thread is read. 0 after the last event of a merge of all.
 */
size_t atf_merge_unverified_count(const AtfMerge *merge);

/** How many things are wrong, for all that is known: all of it is after the last event. */
size_t atf_merge_problem_count(const AtfMerge *merge);

/** One of them in words, or NULL; holds until the merge is closed. */
const char *atf_merge_problem(const AtfMerge *merge, size_t position);

AtfStatus atf_merge_close(AtfMerge *merge);

/* ---- Recovering ---- */

/** How a session is recovered. 0 stands for the default of each member. */
typedef struct AtfRecoverOptions {
    /** sizeof(AtfRecoverOptions). */
    uint32_t struct_size;
    /** 1: looks behind holes and damage too. */
    uint8_t salvage;
    /** ATF_DURABILITY_*. */
    uint8_t durability;
    uint8_t reserved[2];
    /** The manifest.json of another run, to take modules and symbols from; may be NULL. */
    const char *symbols_path;
} AtfRecoverOptions;

/** AtfRecoverOptions with all defaults. */
#define ATF_RECOVER_OPTIONS_INIT \
    { (uint32_t)sizeof(AtfRecoverOptions), 0, 0, { 0, 0 }, NULL }

/**
 * Recovers a crashed or damaged session into out, which must not exist; path stays as it is.
 * options may be NULL. report, which may be NULL, gets what was kept, set aside and dropped as
 * JSON text: free it with atf_string_free.
 */
AtfStatus atf_recover(const char *path, const char *out, const AtfRecoverOptions *options,
                      char **report);

/** Frees a string that atf_recover made; NULL is allowed. */
void atf_string_free(char *string);

#ifdef __cplusplus
}
#endif

#endif
