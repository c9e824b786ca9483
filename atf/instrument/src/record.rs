//! Records the events of a thread.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::mem;
use std::ptr;
use std::sync::atomic::{Ordering, compiler_fence};

use atf::EventKind;
use atf::write::Event;
use atf_record::{LossCounter, ThreadRecorder};

use crate::capture::{Capture, Registers};
use crate::guest::{Errno, keep_errno};
use crate::lifecycle;
use crate::marks::Marks;
use crate::memory;
use crate::modules::Range;
use crate::process::{self, Process};
use crate::thread::{self, AtEnd};
use crate::trigger::HandlerStack;
use crate::tsan;

/// The maximum number of tracked frames; fewer if there is no memory. Functions left by `longjmp`
/// stay on the stack until a caller returns.
const MOST_FRAMES: usize = 1 << 20;

/// The number of destructor rounds by which to defer a thread's end, so that the destructors of the
/// program's own keys are recorded. Systems run at least four rounds.
const ROUNDS: u32 = 3;

/// The same for a program with `ThreadSanitizer`, whose runtime destroys its own data in the last
/// round. Later calls of `free` would crash.
const ROUNDS_BEFORE_TSAN: u32 = 2;

struct Thread {
    process: &'static Process,
    /// Whether this thread is recording an event. The thread may use `state` only while this is
    /// true.
    is_busy: Cell<bool>,
    errno: Errno,
    /// The counter of events that a signal handler could not record; null before the thread is
    /// registered and after it ends.
    losses: Cell<*const LossCounter>,
    state: UnsafeCell<State>,
}

struct State {
    process: &'static Process,
    registration: Registration,
    last_ns: u64,
    /// The functions that have not yet returned.
    frames: Vec<usize>,
    /// The number of functions beyond those in `frames` that have not yet returned.
    excess: u64,
    /// The module of the most recent function.
    module: Range,
    rounds: u32,
    /// The capture of details, if they are recorded.
    capture: Option<Box<Capture>>,
    handler_stack: Option<HandlerStack>,
}

enum Registration {
    /// There has been no event since the start or a fork.
    None,
    Recorder(ThreadRecorder),
    /// The thread could not be registered, or it has ended.
    Over,
}

/// Records an event of the calling thread.
// Both hooks inline this function and those that it calls for each event, with the kind as a
// constant.
#[inline(always)]
pub(crate) fn record(function: usize, kind: EventKind, registers: &Registers) {
    // Check this first, because thread-local variables may not exist yet.
    if process::is_too_early() {
        return;
    }
    let data = thread::DATA.get();
    // Null is the lowest address, and `OVER` is the highest value that is not a pointer.
    let thread = if data <= thread::OVER || process::is_forked() {
        prepare(data)
    } else {
        // SAFETY: `first_event` set any other pointer, to a box of this type, and `ended` replaces
        // it before it frees the box.
        Some(unsafe { &*data.cast() })
    };
    if let Some(thread) = thread {
        record_in(thread, function, kind, registers);
    }
}

/// Prepares a thread without recording data for its first event. Returns `None` if the event is not
/// recorded.
#[cold]
#[inline(never)]
fn prepare<'a>(data: *const c_void) -> Option<&'a Thread> {
    if data == thread::OFF {
        return None;
    }
    // Functions called here may be instrumented.
    thread::stop();
    let mut thread = None;
    keep_errno(|| {
        if data == thread::OVER && !process::is_forked() {
            process::lose_event();
            thread::DATA.set(data);
        } else {
            thread = tsan::unseen(first_event);
        }
    });
    thread
}

#[inline(always)]
fn record_in(thread: &Thread, function: usize, kind: EventKind, registers: &Registers) {
    if thread.is_busy.replace(true) {
        // This is a signal handler that interrupted this function, or a function of the program
        // that this function called in place of a library's. Call no other function that the
        // program may define: it would call this one again.
        // SAFETY: null, or from `Box::into_raw`, and freed only where no handler can use it.
        let losses = unsafe { thread.losses.get().as_ref() }.unwrap_or(&thread.process.losses);
        return losses.lose_event(thread.process.now_ns());
    }
    // A handler must see the flag set before anything else changes.
    compiler_fence(Ordering::SeqCst);
    thread.errno.keep(|| {
        // SAFETY: `is_busy` was false, so nothing else is using the state: only this thread and its
        // signal handlers run this code.
        let state = unsafe { &mut *thread.state.get() };
        state.record(function, kind, registers, &thread.losses);
    });
    compiler_fence(Ordering::SeqCst);
    thread.is_busy.set(false);
}

/// Creates the data of a thread, which must be off. Returns `None` if nothing is recorded.
fn first_event<'a>() -> Option<&'a Thread> {
    if process::is_forked() {
        // The fork handlers did not run in this child.
        lifecycle::forked();
        thread::stop();
    }
    if process::is_vforked() {
        process::lose_event();
        thread::DATA.set(ptr::null());
        return None;
    }
    let process = lifecycle::get()?;
    if memory::is_short() {
        thread::DATA.set(thread::OVER);
        process.losses.lose_event(process.now_ns());
        return None;
    }
    let thread = Box::into_raw(Box::new(Thread {
        process,
        is_busy: Cell::new(false),
        errno: Errno::new(),
        losses: Cell::new(ptr::null()),
        state: UnsafeCell::new(State {
            process,
            registration: Registration::None,
            last_ns: 0,
            frames: Vec::with_capacity(256),
            excess: 0,
            module: Range::NONE,
            rounds: 0,
            capture: None,
            handler_stack: None,
        }),
    }));
    AT_END.register(thread.cast());
    thread::DATA.set(thread.cast());
    // SAFETY: the pointer comes from `Box::into_raw`, and only the thread's end frees it.
    Some(unsafe { &*thread })
}

impl State {
    #[inline(always)]
    fn record(
        &mut self,
        function: usize,
        kind: EventKind,
        registers: &Registers,
        losses: &Cell<*const LossCounter>,
    ) {
        let Some((function_id, marks)) = self.function(function) else {
            return;
        };
        let process = self.process;
        let depth = match kind {
            EventKind::CALL => self.enter(function),
            _ => self.leave(function),
        };
        if depth > process.settings.depth {
            return;
        }
        // Register before reading the clock, because registering takes a long time.
        if matches!(self.registration, Registration::None) && !process::is_vforked() {
            tsan::unseen(|| self.register(losses));
        }
        let Registration::Recorder(recorder) = &mut self.registration else {
            return process.losses.lose_event(process.now_ns());
        };
        // A signal handler may have recorded events between the last clock reading and this event.
        let last_ns = self.last_ns;
        let read_clock = || process.now_ns().max(last_ns);
        let is_trigger =
            kind == EventKind::CALL && process.settings.triggers.are_fired_by(marks, depth);
        let now = if is_trigger {
            // Fire before the event enters the ring, because the drain could discard its detail
            // there.
            process.trigger.fire_with(read_clock)
        } else {
            read_clock()
        };
        self.last_ns = now;
        let event = Event::new(now, function_id, kind, depth);
        // The recorder counts any losses.
        let _ = match &mut self.capture {
            Some(capture) if !marks.contains(Marks::BARE) => {
                capture.record(recorder, event, registers)
            }
            _ => recorder.record(&event).map(drop),
        };
    }

    /// Returns the function's id and marks; `None` if the function is not recorded.
    #[inline(always)]
    fn function(&mut self, function: usize) -> Option<(u64, Marks)> {
        if !self.module.contains(function) {
            let process = self.process;
            let (settings, recording) = (&process.settings, &process.recording);
            self.module = process.modules.find(function, settings, recording);
        }
        self.module.function(function)
    }

    #[cold]
    fn register(&mut self, losses: &Cell<*const LossCounter>) {
        let data = thread::DATA.replace(thread::OFF);
        self.registration = Registration::Over;
        if let Some(recorder) = self.process.add_thread() {
            losses.set(Box::into_raw(Box::new(recorder.loss_counter())));
            thread::ID.set(Some(recorder.thread_id()));
            self.registration = Registration::Recorder(recorder);
        }
        let stack_size = self.process.settings.stack_size;
        self.capture = stack_size.map(|size| Box::new(Capture::new(size)));
        if self.process.settings.triggers.are_crashes {
            self.handler_stack = HandlerStack::new();
        }
        thread::DATA.set(data);
    }

    /// Returns the depth of a call.
    fn enter(&mut self, function: usize) -> u32 {
        if self.has_room() {
            self.frames.push(function);
        } else {
            self.excess = self.excess.saturating_add(1);
        }
        self.depth()
    }

    /// Returns whether there is room for another frame.
    #[inline]
    fn has_room(&mut self) -> bool {
        let is_free = self.frames.len() < self.frames.capacity();
        self.excess == 0 && (is_free || self.grow())
    }

    #[cold]
    fn grow(&mut self) -> bool {
        self.frames.len() < MOST_FRAMES && !memory::is_short() && self.frames.try_reserve(1).is_ok()
    }

    /// Returns the depth of the returning call. Any calls still open inside it were left by
    /// `longjmp`.
    fn leave(&mut self, function: usize) -> u32 {
        if self.excess > 0 {
            self.excess = self.excess.saturating_sub(1);
            return self.depth();
        }
        let found = self.frames.iter().rposition(|frame| *frame == function);
        let Some(found) = found else {
            // The function's call was not recorded, because it came before a fork or the stack was
            // too deep.
            return self.depth().max(1);
        };
        self.frames.truncate(found.saturating_add(1));
        let depth = self.depth();
        self.frames.pop();
        depth
    }

    fn depth(&self) -> u32 {
        u32::try_from(self.frames.len()).unwrap_or(u32::MAX)
    }
}

/// Calls [`ended`] with a thread's data when the thread ends. If registration fails, the thread is
/// finalized at the end of the process.
static AT_END: AtEnd = AtEnd::new(ended);

/// Finalizes a thread in one of the last rounds of its destructors, and frees its data.
unsafe extern "C" fn ended(data: *mut c_void) {
    // In a forked child, the thread has no data, because the data belongs to the parent process.
    if thread::DATA.get() != data {
        return;
    }
    let pointer = data.cast::<Thread>();
    // SAFETY: `first_event` set the pointer, to a box that is freed only below.
    let thread = unsafe { &*pointer };
    thread.is_busy.set(true);
    // SAFETY: as in `record`.
    let state = unsafe { &mut *thread.state.get() };
    let rounds = if tsan::is_present() {
        ROUNDS_BEFORE_TSAN
    } else {
        ROUNDS
    };
    if state.rounds < rounds {
        state.rounds = state.rounds.saturating_add(1);
        AT_END.register(data);
        thread.is_busy.set(false);
        return;
    }
    // Functions called here may be instrumented.
    thread::stop();
    tsan::unseen(|| {
        let registration = mem::replace(&mut state.registration, Registration::Over);
        if let Registration::Recorder(recorder) = registration {
            state.process.end_thread(recorder);
        }
        let losses = thread.losses.get();
        if !losses.is_null() {
            // SAFETY: the pointer is from `Box::into_raw`. Handlers do not use it, because
            // recording is off in this thread.
            drop(unsafe { Box::from_raw(losses.cast_mut()) });
        }
        // SAFETY: the same applies to the thread's data.
        drop(unsafe { Box::from_raw(pointer) });
    });
    thread::DATA.set(thread::OVER);
}
