//! Perfetto's trace packets: a sequence of packets per thread, with interned names.

mod proto;

use std::collections::HashMap;
use std::io::{self, Write};

use atf::detail::FunctionPayload;
use atf::symbols::Function;
use prost::Message;
use serde_json::{Map, Value};

use crate::process::name_of;
use crate::{Detail, End, ProcessInfo, Sink, Start, Thread, ThreadEnd, TraceInfo};

use proto::{
    DebugAnnotation, Interned, InternedData, ProcessDescriptor, SEQ_INCREMENTAL_STATE_CLEARED,
    SEQ_NEEDS_INCREMENTAL_STATE, ThreadDescriptor, TracePacket, TracePacketDefaults,
    TrackDescriptor, TrackEvent, TrackEventDefaults, TrackEventType,
};

/// The maximum number of names in a sequence of packets before it restarts.
const MOST_NAMES: usize = 1 << 16;

/// A sink that writes packets. A call that is still open at the end of the trace has no end event.
/// Times are on the trace's clock.
#[derive(Debug)]
pub(crate) struct Perfetto<W> {
    out: W,
    buffer: Vec<u8>,
    info: TraceInfo,
    process: u64,
    thread: Thread,
    /// The interned names of the current sequence, by function.
    names: HashMap<u64, u64>,
}

impl<W: Write> Perfetto<W> {
    pub(crate) fn new(out: W) -> Self {
        Self {
            out,
            buffer: Vec::new(),
            info: TraceInfo::default(),
            process: 0,
            thread: Thread::default(),
            names: HashMap::new(),
        }
    }

    /// Writes a packet as an element of `Trace.packet`, field 1.
    fn packet(&mut self, packet: &TracePacket) -> io::Result<()> {
        self.buffer.clear();
        self.buffer.push(0x0a);
        let encoded = packet.encode_length_delimited(&mut self.buffer);
        encoded.map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }

    /// Starts or restarts the current thread's sequence.
    fn clear_names(&mut self) -> io::Result<()> {
        self.names.clear();
        let defaults = TrackEventDefaults {
            track_uuid: Some(thread_uuid(&self.thread)),
        };
        self.packet(&TracePacket {
            trusted_packet_sequence_id: Some(self.thread.number),
            sequence_flags: Some(SEQ_INCREMENTAL_STATE_CLEARED),
            interned_data: Some(InternedData {
                debug_annotation_names: annotation_names(),
                ..InternedData::default()
            }),
            trace_packet_defaults: Some(TracePacketDefaults {
                track_event_defaults: Some(defaults),
            }),
            ..TracePacket::default()
        })
    }

    /// Writes an event of the current thread, or of the process if the event has its own track.
    fn event(&mut self, time_ns: u64, event: TrackEvent, new: Option<Interned>) -> io::Result<()> {
        // Perfetto rejects sequence 0, and events that need a sequence that has not started.
        let needs_state = event.track_uuid.is_none();
        self.packet(&TracePacket {
            timestamp: Some(time_ns),
            trusted_packet_sequence_id: Some(self.thread.number.max(1)),
            sequence_flags: needs_state.then_some(SEQ_NEEDS_INCREMENTAL_STATE),
            track_event: Some(event),
            interned_data: new.map(|name| InternedData {
                event_names: vec![name],
                ..InternedData::default()
            }),
            ..TracePacket::default()
        })
    }

    fn note(&mut self, time_ns: u64, note: &str, track_uuid: Option<u64>) -> io::Result<()> {
        let event = TrackEvent {
            r#type: Some(TrackEventType::Instant.into()),
            name: Some(note.to_owned()),
            track_uuid,
            ..TrackEvent::default()
        };
        self.event(time_ns, event, None)
    }
}

/// Returns the id of a process's track.
fn process_uuid(pid: u32) -> u64 {
    u64::from(pid).wrapping_shl(32)
}

/// Returns the id of a thread's track. Thread numbers start at 1, so the id differs from that of
/// the process's track.
fn thread_uuid(thread: &Thread) -> u64 {
    process_uuid(thread.pid) | u64::from(thread.number)
}

/// The names of the registers' annotations at a call's start.
const REGISTERS: [&str; 11] = [
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "lr", "fp", "sp",
];
/// The ids of three annotations: the first one at a call's start, the first one at its end, and the
/// one that states how the call ended.
const AT_START: u64 = 1;
const AT_END: u64 = 13;
const END: u64 = 25;

/// Returns the names of the annotations at a call's start and at its end. The last one states how
/// the call ended. Their ids are their positions, counted from 1.
fn annotation_names() -> Vec<Interned> {
    let at_start = REGISTERS.into_iter().chain(["stack_size"]);
    let at_end = at_start.clone().map(|name| format!("end_{name}"));
    let names = at_start.map(str::to_owned).chain(at_end);
    let names = (1..).zip(names.chain(["end".to_owned()]));
    let names = names.map(|(iid, name)| Interned {
        iid: Some(iid),
        name: Some(name),
    });
    names.collect()
}

/// Returns a detail's annotations. A call's end uses different names than its start.
fn annotations(first: u64, detail: Option<&Detail>) -> Vec<DebugAnnotation> {
    match detail {
        None => Vec::new(),
        Some(Detail::Function(function)) => of_function(first, function),
        Some(Detail::Fields(object)) => {
            let prefix = if first == AT_END { "end_" } else { "" };
            let object: Map<_, _> = serde_json::from_str(object).unwrap_or_default();
            let fields = object.into_iter();
            fields
                .map(|(name, value)| of_field(format!("{prefix}{name}"), value))
                .collect()
        }
    }
}

fn of_field(name: String, value: Value) -> DebugAnnotation {
    let mut annotation = DebugAnnotation {
        name: Some(name),
        uint_value: value.as_u64(),
        bool_value: value.as_bool(),
        ..DebugAnnotation::default()
    };
    if annotation.uint_value.is_none() {
        annotation.int_value = value.as_i64();
    }
    if value.is_f64() {
        annotation.double_value = value.as_f64();
    }
    annotation.string_value = match value {
        Value::String(text) => Some(text),
        Value::Null | Value::Array(_) | Value::Object(_) => Some(value.to_string()),
        Value::Bool(_) | Value::Number(_) => None,
    };
    annotation
}

/// Returns annotations for the registers and for the stack's size. Registers are written as
/// pointers, so that viewers show them in hexadecimal.
fn of_function(first: u64, detail: &FunctionPayload) -> Vec<DebugAnnotation> {
    let others = [detail.lr, detail.fp, detail.sp];
    let registers = detail.x_regs.into_iter().chain(others);
    let pointers = registers.map(|value| (Some(value), None));
    let size = u64::try_from(detail.stack.len()).ok();
    let values = pointers.chain([(None, size)]);
    let annotation = |(name, (pointer_value, uint_value))| DebugAnnotation {
        name_iid: Some(name),
        pointer_value,
        uint_value,
        ..DebugAnnotation::default()
    };
    (first..).zip(values).map(annotation).collect()
}

impl<'a, W: Write> Sink<'a> for Perfetto<W> {
    fn wants_details(&self) -> bool {
        true
    }

    fn start(&mut self, trace: &TraceInfo) -> io::Result<()> {
        self.info = *trace;
        Ok(())
    }

    fn process(&mut self, process: &ProcessInfo) -> io::Result<()> {
        self.process = process_uuid(process.pid);
        let facts = process.facts.iter();
        let mut labels: Vec<_> = facts
            .map(|(key, value)| format!("{key}: {value}"))
            .collect();
        let range = self.info.range();
        labels.extend(range.map(|range| format!("time range: {range}")));
        let descriptor = ProcessDescriptor {
            pid: Some(process.pid.cast_signed()),
            process_name: Some(process.name.clone()),
            process_labels: labels,
        };
        self.packet(&TracePacket {
            track_descriptor: Some(TrackDescriptor {
                uuid: Some(self.process),
                process: Some(descriptor),
                ..TrackDescriptor::default()
            }),
            ..TracePacket::default()
        })
    }

    fn thread(&mut self, thread: &Thread) -> io::Result<()> {
        self.thread = thread.clone();
        let descriptor = ThreadDescriptor {
            pid: Some(thread.pid.cast_signed()),
            tid: Some(thread.number.cast_signed()),
            thread_name: Some(thread.to_string()),
        };
        self.packet(&TracePacket {
            track_descriptor: Some(TrackDescriptor {
                uuid: Some(thread_uuid(thread)),
                parent_uuid: Some(self.process),
                thread: Some(descriptor),
                ..TrackDescriptor::default()
            }),
            ..TracePacket::default()
        })?;
        self.clear_names()
    }

    fn call_start(&mut self, call: &Start<'a>) -> io::Result<()> {
        if self.names.len() >= MOST_NAMES {
            self.clear_names()?;
        }
        // Name ids start at 1, because 0 is not a valid id.
        let next = u64::try_from(self.names.len())
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        let iid = *self.names.entry(call.function.id).or_insert(next);
        let new = (iid == next).then(|| Interned {
            iid: Some(iid),
            name: Some(name_of(&call.function).into_owned()),
        });
        let event = TrackEvent {
            r#type: Some(TrackEventType::SliceBegin.into()),
            name_iid: Some(iid),
            debug_annotations: annotations(AT_START, call.detail.as_ref()),
            ..TrackEvent::default()
        };
        self.event(call.start_ns, event, new)
    }

    fn call_end(&mut self, call: &End<'a>) -> io::Result<()> {
        if call.stays_open() {
            return Ok(());
        }
        let mut debug_annotations = annotations(AT_END, call.detail.as_ref());
        debug_annotations.extend(call.remark().map(|remark| DebugAnnotation {
            name_iid: Some(END),
            string_value: Some(remark.to_owned()),
            ..DebugAnnotation::default()
        }));
        let event = TrackEvent {
            r#type: Some(TrackEventType::SliceEnd.into()),
            debug_annotations,
            ..TrackEvent::default()
        };
        self.event(call.end_ns, event, None)
    }

    fn unmatched(&mut self, function: Function<'a>, time_ns: u64) -> io::Result<()> {
        let note = format!("return without a call: {}", name_of(&function));
        self.note(time_ns, &note, None)
    }

    fn thread_end(&mut self, end: &ThreadEnd<'_>) -> io::Result<()> {
        let mut notes = end.notes.iter();
        notes.try_for_each(|note| self.note(end.end_ns, note, None))
    }

    fn process_end(&mut self, notes: &[String]) -> io::Result<()> {
        let (time_ns, track) = (self.info.first_ns(), self.process);
        let mut notes = notes.iter();
        notes.try_for_each(|note| self.note(time_ns, note, Some(track)))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
