//! Records the threads of a program: `atf_record.h`.

use std::cell::UnsafeCell;
use std::ffi::c_char;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};
use std::time::Duration;

use atf::ErrorKind;
use atf::write::Event;
use atf_record::{CounterClock, LossCounter, Lost, Recording, ThreadRecorder};

use crate::boundary;
use crate::handle::{self, Handle, Object, give};
use crate::memory::{self, argument, check_offer, offer_sized};
use crate::record_options::{AtfRecordOptions, AtfRecordSummary, record_options};
use crate::session_writer::{AtfSessionWriter, Session};
use crate::status::{AtfStatus, Failure, Outcome};
use crate::writer::{AtfDetail, AtfLink, event};

/// `AtfRecording`.
pub type AtfRecording = Handle<Recording>;

/// `AtfRecorder`.
pub type AtfRecorder = Handle<Recorder>;

impl Object for Recording {
    const TAG: u64 = u64::from_be_bytes(*b"atfRECNG");
    const NAME: &'static str = "AtfRecording";
}

/// The recorder of one thread. A signal handler that interrupts a call finds the recorder busy.
#[derive(Debug)]
pub struct Recorder {
    thread_id: u32,
    losses: LossCounter,
    is_busy: AtomicBool,
    recorder: UnsafeCell<ThreadRecorder>,
}

impl Object for Recorder {
    const TAG: u64 = u64::from_be_bytes(*b"atfRECDR");
    const NAME: &'static str = "AtfRecorder";
}

// SAFETY: everything except the recorder may be shared. Only `idle` accesses the recorder, on one
// thread at a time, as its callers guarantee.
unsafe impl Sync for Recorder {}

impl Recorder {
    fn new(recorder: ThreadRecorder) -> Self {
        Self {
            thread_id: recorder.thread_id(),
            losses: recorder.loss_counter(),
            is_busy: AtomicBool::new(false),
            recorder: UnsafeCell::new(recorder),
        }
    }

    /// Uses the recorder. Returns `None` if this call interrupted another one.
    ///
    /// # Safety
    ///
    /// No other thread calls this function at the same time.
    #[inline]
    unsafe fn idle<R>(&self, body: impl FnOnce(&mut ThreadRecorder) -> R) -> Option<R> {
        // Only this thread changes the flag, so no atomic exchange is needed: a signal handler
        // restores the flag before it returns.
        if self.is_busy.load(Ordering::Relaxed) {
            return None;
        }
        self.is_busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the caller guarantees that no other thread runs this function. The recorder was
        // idle, so this call did not interrupt another call of this function either.
        let recorder = unsafe { &mut *self.recorder.get() };
        // A panic leaves the recorder busy, but it also makes the handle unusable.
        let result = body(recorder);
        compiler_fence(Ordering::SeqCst);
        self.is_busy.store(false, Ordering::Relaxed);
        Some(result)
    }
}

/// Starts recording a session. The session's handle remains usable.
///
/// # Safety
///
/// `session` is null or a handle; `options` is null, or begins with its size in bytes and is that
/// large; `recording` is null or valid for writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recording_start(
    session: *const AtfSessionWriter,
    options: *const AtfRecordOptions,
    recording: *mut *mut AtfRecording,
) -> AtfStatus {
    let make = || {
        // SAFETY: guaranteed by this function's caller.
        let (options, counts_ticks) = unsafe { record_options(options) }?;
        let clock = counts_ticks.then(|| {
            let clock = CounterClock::start();
            clock.ok_or_else(|| argument("this processor has no constant-rate counter"))
        });
        let clock = clock.transpose()?;
        let start = |session: &Session| {
            let started = Recording::start(Arc::clone(&session.writer), &options);
            let recording = started.map_err(|error| match error.kind() {
                ErrorKind::OutOfRange { .. } => {
                    Failure::new(AtfStatus::Argument, error.to_string())
                }
                _ => error.into(),
            })?;
            if let Some(clock) = clock {
                recording.use_clock(Arc::new(clock));
            }
            Ok(recording)
        };
        // SAFETY: guaranteed by this function's caller.
        unsafe { handle::with(session, start) }
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { give(recording, make) })
}

/// Returns 1 if the processor has a counter that runs at a constant rate, otherwise 0.
#[unsafe(no_mangle)]
pub extern "C" fn atf_counter_clock_is_available() -> i32 {
    boundary::value(0, || Ok(CounterClock::is_available().into()))
}

/// Returns the time of the recording's clock in nanoseconds; 0 if `recording` is invalid.
///
/// # Safety
///
/// `recording` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recording_now_ns(recording: *const AtfRecording) -> u64 {
    // SAFETY: guaranteed by this function's caller.
    let body = || unsafe { handle::with(recording, |this| Ok(this.now_ns())) };
    boundary::value_quickly(0, body)
}

/// Registers a thread, and sets its name unless `name` is null.
///
/// # Safety
///
/// `recording` is null or a handle; `name` is null or a string; `recorder` is null or valid for
/// writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recording_thread(
    recording: *const AtfRecording,
    name: *const c_char,
    recorder: *mut *mut AtfRecorder,
) -> AtfStatus {
    let body = |this: &Recording| {
        // SAFETY: null or valid; guaranteed by this function's caller.
        let name = unsafe { memory::text(name) };
        Ok(Recorder::new(this.thread(name.as_deref())?))
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::derive(recording, recorder, body) }
}

/// Records an event of the calling thread. The first event registers the thread.
///
/// # Safety
///
/// `recording` is null or a handle; `index_seq` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recording_record(
    recording: *const AtfRecording,
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
    index_seq: *mut u64,
) -> AtfStatus {
    let event = event(timestamp_ns, function_id, event_kind, call_depth);
    // SAFETY: guaranteed by this function's caller.
    let body = || unsafe { handle::with(recording, |this| Ok(this.record(&event)?)) };
    // SAFETY: guaranteed by this function's caller.
    unsafe { boundary::offer_quickly(index_seq, body) }
}

/// Like [`atf_recording_record`], but with a detail, whose payload is copied.
///
/// # Safety
///
/// As for [`atf_recording_record`]; `detail` is null or valid with its payload; `link` is null or
/// valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recording_record_with_detail(
    recording: *const AtfRecording,
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
    detail: *const AtfDetail,
    link: *mut AtfLink,
) -> AtfStatus {
    let event = event(timestamp_ns, function_id, event_kind, call_depth);
    let body = |this: &Recording| {
        // SAFETY: guaranteed by this function's caller.
        let detail = unsafe { AtfDetail::read(detail) }?;
        Ok(this.record_with_detail(&event, &detail)?.into())
    };
    // SAFETY: guaranteed by this function's caller.
    let body = || unsafe { handle::with(recording, body) };
    // SAFETY: guaranteed by this function's caller.
    unsafe { boundary::offer(link, body) }
}

/// Passes everything recorded before this call to the operating system. Returns `ATF_TIMEOUT` if
/// that takes longer than `deadline_ns`.
///
/// # Safety
///
/// `recording` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recording_flush(
    recording: *const AtfRecording,
    deadline_ns: u64,
) -> AtfStatus {
    let body = |this: &Recording| in_time(this.flush(Duration::from_nanos(deadline_ns))?);
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(recording, body) })
}

/// Returns the outcome of a call that has a deadline.
fn in_time(is_done: bool) -> Outcome<()> {
    let too_late = Failure::Quiet(AtfStatus::Timeout);
    is_done.then_some(()).ok_or(too_late)
}

/// Triggers the recording's window now, and returns the time.
///
/// # Safety
///
/// `recording` is null or a handle; `timestamp_ns` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recording_trigger(
    recording: *const AtfRecording,
    timestamp_ns: *mut u64,
) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    let body = || unsafe { handle::with(recording, |this| Ok(this.trigger())) };
    // SAFETY: guaranteed by this function's caller.
    unsafe { boundary::offer(timestamp_ns, body) }
}

/// Like [`atf_recording_trigger`], but for a process that may end once the trigger is served.
///
/// # Safety
///
/// `recording` is null or a handle; `timestamp_ns` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recording_trigger_last(
    recording: *const AtfRecording,
    timestamp_ns: *mut u64,
) -> AtfStatus {
    let fire = |this: &Recording| Ok(this.trigger_handle().fire_last());
    // SAFETY: guaranteed by this function's caller.
    let body = || unsafe { handle::with(recording, fire) };
    // SAFETY: guaranteed by this function's caller.
    unsafe { boundary::offer(timestamp_ns, body) }
}

/// Triggers the recording's window at `timestamp_ns`.
///
/// # Safety
///
/// `recording` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recording_trigger_at(
    recording: *const AtfRecording,
    timestamp_ns: u64,
) -> AtfStatus {
    let body = |this: &Recording| this.trigger_at(timestamp_ns);
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::act(recording, body) })
}

/// Waits until all the data requested by triggers so far has been handed to the operating system.
/// Returns `ATF_TIMEOUT` if that takes longer than `deadline_ns`.
///
/// # Safety
///
/// `recording` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recording_wait_for_triggers(
    recording: *const AtfRecording,
    deadline_ns: u64,
) -> AtfStatus {
    let body =
        |this: &Recording| in_time(this.wait_for_triggers(Duration::from_nanos(deadline_ns)));
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(recording, body) })
}

/// Opens or closes a window now, depending on `is_open`.
///
/// # Safety
///
/// `recording` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recording_set_window_open(
    recording: *const AtfRecording,
    is_open: i32,
) -> AtfStatus {
    let body = |this: &Recording| Ok(this.set_window_open(is_open != 0)?);
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(recording, body) })
}

/// Stops recording, finalizes all threads and the manifest, and returns a summary.
///
/// # Safety
///
/// `recording` is null or a handle; `summary` is null or valid for writing `summary_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recording_stop(
    recording: *const AtfRecording,
    summary: *mut AtfRecordSummary,
    summary_size: usize,
) -> AtfStatus {
    boundary::status(|| {
        check_offer(summary, summary_size)?;
        // SAFETY: guaranteed by this function's caller.
        let made = unsafe { handle::with(recording, |this| Ok(this.stop()?)) }?;
        // SAFETY: guaranteed by this function's caller.
        unsafe { offer_sized(summary, summary_size, &made.into()) }
    })
}

/// Stops a recording unless it has already stopped, and frees it even if stopping fails.
///
/// # Safety
///
/// `recording` is null or a handle, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recording_close(recording: *mut AtfRecording) -> AtfStatus {
    boundary::status(|| {
        // SAFETY: guaranteed by this function's caller.
        let taken = unsafe { handle::close(recording) }?;
        match taken.map(|recording| recording.stop()) {
            Some(Err(error)) if *error.kind() != ErrorKind::AlreadyFinalized => Err(error.into()),
            _ => Ok(()),
        }
    })
}

/// Returns the thread's id, as in its folder's name, or `UINT32_MAX` if `recorder` is invalid.
///
/// # Safety
///
/// `recorder` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recorder_thread_id(recorder: *const AtfRecorder) -> u32 {
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(recorder, u32::MAX, |this| Ok(this.thread_id)) }
}

/// Records an event. Events recorded by a signal handler that interrupts this function are lost.
///
/// # Safety
///
/// `recorder` is null, or a handle that only the calling thread uses; `index_seq` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recorder_record(
    recorder: *const AtfRecorder,
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
    index_seq: *mut u64,
) -> AtfStatus {
    let event = event(timestamp_ns, function_id, event_kind, call_depth);
    // SAFETY: guaranteed by this function's caller.
    let body = || unsafe { using(recorder, &event, |this| this.record(&event)) };
    // SAFETY: guaranteed by this function's caller.
    unsafe { boundary::offer_quickly(index_seq, body) }
}

/// Records an event with its detail, copying the payload.
///
/// # Safety
///
/// As for [`atf_recorder_record`]; `detail` is null or valid with its payload; `link` is null or
/// valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recorder_record_with_detail(
    recorder: *const AtfRecorder,
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
    detail: *const AtfDetail,
    link: *mut AtfLink,
) -> AtfStatus {
    let body = || {
        let event = event(timestamp_ns, function_id, event_kind, call_depth);
        // SAFETY: guaranteed by this function's caller.
        let detail = unsafe { AtfDetail::read(detail) }?;
        let body = |this: &mut ThreadRecorder| this.record_with_detail(&event, &detail);
        // SAFETY: guaranteed by this function's caller.
        Ok(unsafe { using(recorder, &event, body) }?.into())
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { boundary::offer(link, body) }
}

/// Accesses a recorder to record an event. If the recorder is busy, the event is lost.
///
/// # Safety
///
/// As for [`handle::with`] and [`Recorder::idle`].
#[inline]
unsafe fn using<R>(
    recorder: *const AtfRecorder,
    event: &Event,
    body: impl FnOnce(&mut ThreadRecorder) -> Result<R, Lost>,
) -> Outcome<R> {
    let body = |this: &Recorder| {
        // SAFETY: guaranteed by this function's caller.
        let recorded = unsafe { this.idle(body) }.unwrap_or_else(|| {
            this.losses.lose_event(event.timestamp_ns);
            Err(Lost::Event)
        });
        Ok(recorded?)
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::with(recorder, body) }
}

/// Counts an event as lost because the caller itself could not record it.
///
/// # Safety
///
/// `recorder` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recorder_lose_event(
    recorder: *const AtfRecorder,
    timestamp_ns: u64,
) -> AtfStatus {
    let body = |this: &Recorder| this.losses.lose_event(timestamp_ns);
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::act(recorder, body) })
}

/// Returns 1 if the recording has stopped or failed, so all later events are lost; otherwise 0.
///
/// # Safety
///
/// As for [`atf_recorder_record`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recorder_is_abandoned(recorder: *const AtfRecorder) -> i32 {
    let body = |this: &Recorder| {
        // SAFETY: guaranteed by this function's caller.
        let found = unsafe { this.idle(|recorder| recorder.is_abandoned()) };
        // `None` means that this call interrupted one that is recording an event, so the recording
        // has not stopped.
        Ok(found.is_some_and(|is| is).into())
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(recorder, 0, body) }
}

/// Ends a thread, so that its files are finalized, and frees its recorder.
///
/// # Safety
///
/// `recorder` is null or a handle, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_recorder_close(recorder: *mut AtfRecorder) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::close(recorder) }.map(drop))
}
