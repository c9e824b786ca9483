/**
 * Records all threads of a program in one session. C11, C++17.
 *
 * Includes atf.h, whose rules for errors, handles, cancellation, strings and structs apply here
 * too. Include this header as <atf/atf_record.h> or as <atf_record.h>, and link with libadatrace.
 *
 * A tracer calls these functions in order: atf_session_writer_create_in,
 * atf_session_writer_set_symbols, atf_recording_start; on any thread, atf_recording_record for each
 * event; then atf_recording_stop, atf_recording_close and atf_session_writer_close.
 *
 * Each traced thread has a ring. Recording an event copies 32 bytes into the ring, without a system
 * call, a lock or an allocation. One thread of the library, the drain, moves the events from the
 * rings to the threads' files. When a ring is full, an event or its detail is lost, or the thread
 * waits: ATF_OVERFLOW_*. The manifest records how much each thread lost, and when.
 *
 * SIGKILL loses the contents of the rings. With the session's survive_kill there are no rings: each
 * call writes to the thread's files. This takes longer, but no event is lost once its call has
 * returned.
 *
 * Threads. Any number of threads may use an AtfRecording at once; an AtfRecorder is used by one
 * thread at a time.
 *
 * Signals. Signal handlers can record events. An event is lost (ATF_LOST_EVENT) if its handler
 * interrupted a recording call on the same thread. A thread's first event must not come from a
 * handler, since it registers the thread. A handler may also call atf_recording_trigger*,
 * atf_recording_wait_for_triggers, atf_recording_now_ns and atf_recorder_lose_event; all other
 * functions take locks, so a handler that calls them, for example to stop, may wait forever. If a
 * handler calls exit, the recording is stopped, unless the handler interrupted one of these
 * functions. The drain inherits the signal mask of the thread that starts the recording: to keep
 * signal handlers from running on the drain, block signals during that call.
 *
 * The program's start and end. A library's constructor may start a recording, and its destructor
 * may stop it, even if the library is loaded by dlopen. On Unix, exit and a return from main stop a
 * recording that is still running, unless at_exit is set; if the program then calls
 * atf_recording_stop, for example in a function passed to atexit, it receives the outcome. If
 * another thread is stopping the recording, they wait for it, for at most 10 seconds. abort,
 * exec and _exit lose the contents of the rings, as SIGKILL does. In a function passed to atexit,
 * the main thread's events in atf_recording_record are lost and counted, because the thread-local
 * variables are gone; atf_recorder_record works until the recording stops. While a recording with
 * ATF_AT_EXIT_LOSE is running, do not unload a library that is linked with libadatrace statically:
 * the drain runs its code. The shared library is never unloaded, except on macOS.
 *
 * Failed writes. If a thread's files cannot be written, for example on a full disk, the thread's
 * later events are lost and counted, the program continues, and atf_recording_flush and
 * atf_recording_stop return the error. If the manifest cannot be written either, its last version
 * remains, without the latest losses. If a session's folder is deleted, it is not created again:
 * new threads get no files.
 *
 * Windows. With the option window, details or all events are written only around triggers: from
 * pre_roll_ns before to post_roll_ns after each, on all threads. The rest is discarded and does not
 * count as lost. Timestamps must be those of ada_get_timestamp_ns. The rings hold events until they
 * are older than the pre-roll; a ring that is more than half full discards its oldest events early,
 * and any of them that a later trigger requests are counted as lost. With a pre-roll of UINT64_MAX,
 * triggers request only what the rings hold, and nothing discarded early counts as lost, except by
 * rings that ring_memory made smaller with ATF_WINDOW_ALL. With a window, the sequence numbers that
 * atf_recording_record and related functions return are not positions in the files: detail_seq, and
 * with ATF_WINDOW_ALL also index_seq, count everything recorded. With ATF_WINDOW_ALL, a thread's
 * files are created when a trigger first requests one of its events, when it ends after it lost
 * events, or when the recording stops before it ends; without any of these, a thread leaves no
 * files and does not count towards max_threads. Other ended threads count until the pre-roll has
 * passed. Events kept from ended threads take at most 512 MiB, unless there is only one such
 * thread, and at most 128 of the threads that have files keep events; beyond that, the oldest are
 * lost.
 *
 * Segments. With segment_size or segment_duration_ns, a recording continues in a new session when
 * the current one reaches that size or age, or contains as many events as its files can hold:
 * pid_42 is followed by pid_42_segment_000002, next to it. Each segment is a valid session with the
 * modules, symbols, names and anchors set for the first one. A call that is open when a segment
 * ends returns in a later segment.
 *
 * Forks. A forked child has the rings but no drain. Its events are lost, and recording them never
 * blocks. A child of vfork must not record. In the child, atf_recording_thread, _flush,
 * _set_window_open, _stop and _close return ATF_ERROR_STATE, but atf_recording_close still frees
 * the recording; atf_recording_wait_for_triggers never waits: it returns ATF_TIMEOUT unless all
 * triggers had been served before the fork. The child can start its own recording, in another
 * session.
 */
#ifndef ATF_RECORD_H
#define ATF_RECORD_H

#include "atf.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A session that is being recorded. */
typedef struct AtfRecording AtfRecording;
/** Records the events of one thread. */
typedef struct AtfRecorder AtfRecorder;

/* ---- The recording ---- */

/**
 * If the payload does not fit, or less than a quarter of ring_events is free, the event is recorded
 * without its detail. The default.
 */
#define ATF_OVERFLOW_DROP_DETAIL 0u
/** An event that does not fit is dropped with its detail. */
#define ATF_OVERFLOW_DROP_NEWEST 1u
/** The thread waits for space in the ring. A payload larger than ring_payload_size is dropped. */
#define ATF_OVERFLOW_BLOCK 2u

/** Everything is always recorded. The default. */
#define ATF_WINDOW_OFF 0u
/** Events are always recorded, but details only in windows around triggers. */
#define ATF_WINDOW_DETAILS 1u
/** Events and details are recorded only in windows around triggers, as in a flight recorder. */
#define ATF_WINDOW_ALL 2u

/** Timestamps are those of ada_get_timestamp_ns. The default. */
#define ATF_RECORD_CLOCK_SYSTEM 0u
/**
 * Timestamps are those of atf_recording_now_ns, read from the processor's time-stamp counter, which
 * takes less time. The drain compares the counter with the system's clock at least once per second
 * and corrects it; the manifest records the largest difference.
 */
#define ATF_RECORD_CLOCK_COUNTER 1u

/** exit, or a return from main, stops the recording. The default; only on Unix. */
#define ATF_AT_EXIT_STOP 0u
/** exit loses the contents of the rings, as SIGKILL does. */
#define ATF_AT_EXIT_LOSE 1u

/** The ring_payload_size of a tracer without details. */
#define ATF_NO_PAYLOADS UINT64_MAX

/** How a session is recorded. A value of 0 selects a member's default. */
typedef struct AtfRecordOptions {
    /** sizeof(AtfRecordOptions). */
    uint32_t struct_size;
    /** The policy for full rings: ATF_OVERFLOW_*. */
    uint8_t overflow;
    /** Which data is recorded only around triggers: ATF_WINDOW_*. */
    uint8_t window;
    /** 1 if stopping the recording is a trigger, else 0. */
    uint8_t trigger_on_stop;
    /** The clock that timestamps are read from: ATF_RECORD_CLOCK_*. */
    uint8_t clock;
    /** Events in each thread's ring, 32 bytes each: default 2^16, at most 2^25. */
    uint64_t ring_events;
    /**
     * Size in bytes of the payloads in each thread's ring: default 1 MiB, at most 1 GiB, or
     * ATF_NO_PAYLOADS.
     */
    uint64_t ring_payload_size;
    /** How long the drain sleeps when it finds all rings empty: default 1 ms. */
    uint64_t interval_ns;
    /**
     * How many threads may record at the same time: default 256. Each thread needs its ring, two
     * buffers (see AtfWriteOptions) and up to three open files.
     */
    uint64_t max_threads;
    /** How long before its trigger a window begins. */
    uint64_t pre_roll_ns;
    /** How long after its trigger a window ends. */
    uint64_t post_roll_ns;
    /**
     * The total size of events and details, in bytes, at which a segment ends; 0 for no limit. A
     * segment may exceed it by the contents of the rings.
     */
    uint64_t segment_size;
    /** The age at which a segment ends; 0 for no limit. */
    uint64_t segment_duration_ns;
    /** How many segments to keep, including the current one; older ones are deleted. 0 for all. */
    uint64_t segment_keep;
    /**
     * The total memory limit for the rings of all live threads, in bytes: default 2 GiB. Rings
     * of full size take up to half of it. Beyond that, a new ring is halved until it fits into the
     * rest of this half, or into one sixteenth of the limit divided by the number of threads, but
     * not below 256 events and 16 KiB of payloads. A thread whose ring still does not fit is not
     * recorded, and its events count as lost.
     */
    uint64_t ring_memory;
    /** What happens at the end of the process: ATF_AT_EXIT_*. */
    uint8_t at_exit;
    uint8_t reserved[7];
} AtfRecordOptions;

/** AtfRecordOptions with all defaults. */
#define ATF_RECORD_OPTIONS_INIT \
    { (uint32_t)sizeof(AtfRecordOptions), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 } }

/** The outcome of a recording. */
typedef struct AtfRecordSummary {
    /** Threads written. */
    uint64_t threads;
    /** Threads finalized. */
    uint64_t finalized;
    uint64_t event_count;
    uint64_t detail_count;
    /** The earliest first timestamp; 0 without events. */
    uint64_t time_start_ns;
    /** The latest last timestamp; 0 without events. */
    uint64_t time_end_ns;
    /** Events that were not recorded, with their details. */
    uint64_t lost_events;
    /** Details that were not recorded although their events were. */
    uint64_t lost_details;
    /**
     * The number of sessions written, which is 1 without segments. The counts above are totals over
     * all of them.
     */
    uint64_t segments;
    /** Threads whose rings were smaller than the options request, because of ring_memory. */
    uint64_t smaller_rings;
} AtfRecordSummary;

/**
 * Starts recording a session and writes its manifest; options may be NULL. Until the recording
 * stops, use the session to set modules, symbols, names and anchors; you can close it at any time.
 * The recording creates the threads and finishes the session: do not call atf_session_writer_thread
 * or atf_session_writer_finish. ATF_ERROR_STATE: the session has, or had, another recording, or is
 * finished. ATF_ERROR_ARGUMENT: the options request a window or segments, but a session with
 * survive_kill has no rings; or they request ATF_RECORD_CLOCK_COUNTER, but
 * atf_counter_clock_is_available returns 0.
 */
AtfStatus atf_recording_start(const AtfSessionWriter *session, const AtfRecordOptions *options,
                              AtfRecording **recording);

/** 1 if the processor has a time-stamp counter that runs at a constant rate; else 0. */
int atf_counter_clock_is_available(void);

/**
 * The time of the recording's clock in nanoseconds, for timestamps; 0 if recording is invalid. With
 * ATF_RECORD_CLOCK_SYSTEM, this is the time of ada_get_timestamp_ns.
 */
uint64_t atf_recording_now_ns(const AtfRecording *recording);

/**
 * Records an event of the calling thread and sets *index_seq; index_seq may be NULL. The arguments
 * are those of atf_writer_write. The thread is registered with its first event, and finalized when
 * it ends. ATF_LOST_EVENT: the ring is full, the recording has stopped, or the thread cannot be
 * registered, in which case atf_recording_stop returns the reason. ATF_LOST_REFUSED: the event's
 * time goes backwards, or its kind is unknown.
 */
AtfStatus atf_recording_record(const AtfRecording *recording, uint64_t timestamp_ns,
                               uint64_t function_id, uint32_t event_kind, uint32_t call_depth,
                               uint64_t *index_seq);

/**
 * Records an event with its detail, whose payload is copied. link may be NULL, and is written only
 * on ATF_OK. ATF_LOST_DETAIL: the payload does not fit; the event is recorded.
 */
AtfStatus atf_recording_record_with_detail(const AtfRecording *recording, uint64_t timestamp_ns,
                                           uint64_t function_id, uint32_t event_kind,
                                           uint32_t call_depth, const AtfDetail *detail,
                                           AtfLink *link);

/**
 * Passes everything recorded before this call to the operating system. ATF_TIMEOUT: the call did
 * not finish within deadline_ns. Also returns the recording's first error so far. ATF_ERROR_STATE:
 * the recording has stopped.
 */
AtfStatus atf_recording_flush(const AtfRecording *recording, uint64_t deadline_ns);

/**
 * Triggers the recording's window now, on all threads; timestamp_ns receives the time and may be
 * NULL. Without a window, the call has no effect. It takes no lock and allocates no memory, so
 * signal handlers may call it.
 */
AtfStatus atf_recording_trigger(const AtfRecording *recording, uint64_t *timestamp_ns);

/**
 * Like atf_recording_trigger, for a process that may end once the trigger is served, as in the
 * handler of a fatal signal. If the trigger requests no later events, unwritten_events is removed
 * from the manifest once everything that it requests has been written or counted as lost. If the
 * process keeps running, unwritten_events is restored about a second later.
 */
AtfStatus atf_recording_trigger_last(const AtfRecording *recording, uint64_t *timestamp_ns);

/**
 * Like atf_recording_trigger, but at a given time on the clock of ada_get_timestamp_ns. Events and
 * details in that window that the rings have already discarded are counted as lost, unless their
 * thread has ended.
 */
AtfStatus atf_recording_trigger_at(const AtfRecording *recording, uint64_t timestamp_ns);

/**
 * Waits until all the data requested by triggers so far has been handed to the operating system.
 * ATF_TIMEOUT: the data was not handed over within deadline_ns. Signal handlers may call it,
 * including those of fatal signals.
 */
AtfStatus atf_recording_wait_for_triggers(const AtfRecording *recording, uint64_t deadline_ns);

/**
 * Opens a window now, without pre-roll (is_open is 1), or closes it now, without post-roll (is_open
 * is 0). Windows around triggers are not affected. ATF_ERROR_STATE: the recording has stopped.
 */
AtfStatus atf_recording_set_window_open(const AtfRecording *recording, int is_open);

/**
 * Stops recording and finalizes all threads and the session; summary may be NULL. Events whose
 * recording calls have already returned are in the trace; later events are lost, and their calls
 * report the loss, except for a thread's last few calls during this call. Returns the recording's
 * first error; in that case the rest of the session is still finalized, but summary is not written.
 * ATF_ERROR_STATE: the recording has already stopped.
 */
AtfStatus atf_recording_stop(const AtfRecording *recording, AtfRecordSummary *summary,
                             size_t summary_size);

/**
 * Stops a recording if it has not stopped yet, returns the outcome, and always frees the recording.
 */
AtfStatus atf_recording_close(AtfRecording *recording);

/* ---- Threads that are registered explicitly ---- */

/**
 * Registers a thread and creates its recorder. Threads are numbered from 0 in the order in which
 * they are registered. name may be NULL. ATF_ERROR_LIMIT: max_threads or ring_memory is reached.
 * ATF_ERROR_STATE: the recording has stopped.
 */
AtfStatus atf_recording_thread(const AtfRecording *recording, const char *name,
                               AtfRecorder **recorder);

/** The thread's id, as in its folder's name; UINT32_MAX if recorder is invalid. */
uint32_t atf_recorder_thread_id(const AtfRecorder *recorder);

/** Like atf_recording_record for the recorder's thread, but faster. */
AtfStatus atf_recorder_record(const AtfRecorder *recorder, uint64_t timestamp_ns,
                              uint64_t function_id, uint32_t event_kind, uint32_t call_depth,
                              uint64_t *index_seq);

/** Like atf_recording_record_with_detail, for the recorder's thread. */
AtfStatus atf_recorder_record_with_detail(const AtfRecorder *recorder, uint64_t timestamp_ns,
                                          uint64_t function_id, uint32_t event_kind,
                                          uint32_t call_depth, const AtfDetail *detail,
                                          AtfLink *link);

/**
 * Counts an event of the thread as lost because the tracer itself could not record it;
 * timestamp_ns is the event's time. Any thread and any signal handler may call this.
 */
AtfStatus atf_recorder_lose_event(const AtfRecorder *recorder, uint64_t timestamp_ns);

/** 1 if the recording has stopped or failed, so all later events are lost; else 0. */
int atf_recorder_is_abandoned(const AtfRecorder *recorder);

/**
 * Ends the thread and frees its recorder. The drain finalizes the thread's files soon after this
 * call, with and without survive_kill. atf_recording_stop returns any failure. A recorder may be
 * closed after its recording.
 */
AtfStatus atf_recorder_close(AtfRecorder *recorder);

#ifdef __cplusplus
}
#endif

#endif
