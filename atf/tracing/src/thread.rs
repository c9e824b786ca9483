//! The events that a thread records.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use atf::EventKind;
use atf::clock::now_ns;
use atf::write::{Detail, Event};
use atf_record::{Lost, ThreadRecorder};
use tracing_core::{Metadata, span};

use crate::fields::Fields;
use crate::shared::Shared;

thread_local! {
    /// The thread's state in each layer in which it has spans.
    static THREADS: RefCell<Vec<Thread>> = const { RefCell::new(Vec::new()) };
}

/// A thread's state in one layer.
struct Thread {
    layer: u64,
    /// `None` if the thread could not be registered.
    recorder: Option<ThreadRecorder>,
    /// The spans that were entered and have not exited, outermost first.
    entered: Vec<Entered>,
    /// The functions' ids, keyed by the addresses of their metadata, which is never freed.
    functions: HashMap<usize, u64, BuildHasherDefault<AddressHasher>>,
}

#[derive(Clone, Copy)]
struct Entered {
    span: u64,
    function_id: u64,
    depth: u32,
    /// The version of the fields in the call's detail.
    version: u32,
}

/// Records that the calling thread enters or exits a span. Losses are counted.
///
/// A call has a detail with the fields. A return has one only if values were recorded since the
/// call.
#[inline]
pub(crate) fn record(
    shared: &Shared,
    kind: EventKind,
    span: &span::Id,
    fields: Option<&Fields>,
    metadata: impl FnOnce() -> Option<&'static Metadata<'static>>,
) {
    let span = span.into_u64();
    let recorded = THREADS.try_with(|threads| {
        // Already borrowed if this is a signal handler that interrupted this function.
        let mut threads = threads.try_borrow_mut().ok()?;
        let known = threads.iter().position(|it| it.layer == shared.number);
        let thread = match known.and_then(|known| threads.get_mut(known)) {
            Some(thread) => thread,
            None => register(&mut threads, shared)?,
        };
        match kind {
            EventKind::CALL => thread.enter(shared, span, fields, metadata()?),
            _ => thread.exit(shared, span, fields, metadata),
        }
    });
    // The thread-local variables may already have been destroyed.
    if recorded.ok().flatten().is_none() {
        shared.lose(false);
    }
}

/// Registers the calling thread. A failed registration is not retried.
#[cold]
fn register<'a>(threads: &'a mut Vec<Thread>, shared: &Shared) -> Option<&'a mut Thread> {
    let is_live = |recorder: &ThreadRecorder| !recorder.is_abandoned();
    threads.retain(|it| it.recorder.as_ref().is_some_and(is_live));
    threads.push(Thread {
        layer: shared.number,
        recorder: shared.add_thread(),
        entered: Vec::new(),
        functions: HashMap::default(),
    });
    threads.last_mut()
}

impl Thread {
    /// Records a call. Returns `None` if the thread is not registered.
    #[inline]
    fn enter(
        &mut self,
        shared: &Shared,
        span: u64,
        fields: Option<&Fields>,
        metadata: &'static Metadata<'_>,
    ) -> Option<()> {
        let entered = Entered {
            span,
            function_id: self.function_id(shared, metadata)?,
            depth: self.depth().saturating_add(1),
            version: fields.map_or(0, Fields::version),
        };
        self.entered.push(entered);
        // The clock is read last, so that the span includes little of the recording's own time.
        self.write(shared, now_ns(), EventKind::CALL, entered, fields)
    }

    /// Records the return of the span's most recent call.
    #[inline]
    fn exit(
        &mut self,
        shared: &Shared,
        span: u64,
        fields: Option<&Fields>,
        metadata: impl FnOnce() -> Option<&'static Metadata<'static>>,
    ) -> Option<()> {
        let now = now_ns();
        let entered = match self.entered.last() {
            Some(last) if last.span == span => self.entered.pop()?,
            _ => self.exit_other(shared, span, metadata)?,
        };
        let fields = fields.filter(|fields| fields.version() != entered.version);
        self.write(shared, now, EventKind::RETURN, entered, fields)
    }

    /// Finds the call of a span that is not the innermost. Spans inside it remain entered.
    #[cold]
    fn exit_other(
        &mut self,
        shared: &Shared,
        span: u64,
        metadata: impl FnOnce() -> Option<&'static Metadata<'static>>,
    ) -> Option<Entered> {
        match self.entered.iter().rposition(|it| it.span == span) {
            Some(found) => Some(self.entered.remove(found)),
            // The call was lost and counted, or happened before the layer was added.
            None => Some(Entered {
                span,
                function_id: self.function_id(shared, metadata()?)?,
                depth: self.depth().max(1),
                version: 0,
            }),
        }
    }

    fn depth(&self) -> u32 {
        self.entered.last().map_or(0, |last| last.depth)
    }

    #[inline]
    fn function_id(&mut self, shared: &Shared, metadata: &'static Metadata<'_>) -> Option<u64> {
        let address = std::ptr::from_ref(metadata).addr();
        Some(match self.functions.entry(address) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => *new.insert(shared.function_id(metadata)?),
        })
    }

    #[inline]
    fn write(
        &mut self,
        shared: &Shared,
        now: u64,
        kind: EventKind,
        of: Entered,
        fields: Option<&Fields>,
    ) -> Option<()> {
        let recorder = self.recorder.as_mut()?;
        let event = Event::new(now, of.function_id, kind, of.depth);
        let recorded = match fields.and_then(Fields::payload) {
            None => recorder.record(&event).map(drop),
            Some(payload) => {
                let detail = Detail::new(kind.detail_type(), payload);
                recorder.record_with_detail(&event, &detail).map(drop)
            }
        };
        match recorded {
            // If only the detail is lost, the event is recorded without it, and the recorder counts
            // the loss.
            Ok(()) | Err(Lost::Detail) => {}
            Err(_) => shared.lose(true),
        }
        Some(())
    }
}

/// A hasher that hashes an address in a single step. Addresses come from the program and not from
/// its input, so collisions cannot be forced.
#[derive(Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    #[inline]
    fn write_usize(&mut self, address: usize) {
        self.0 = address as u64;
    }

    /// Spreads the address over all bits, because the table uses the lowest and the highest bits.
    #[inline]
    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26)
    }
}
