//! Perfetto's trace packets: a sequence of packets per thread, with interned names.

mod proto;

use std::collections::HashMap;
use std::io::{self, Write};

use atf::detail::FunctionPayload;
use atf::symbols::Function;
use prost::Message;

use crate::names::name_of;
use crate::{End, ProcessInfo, Sink, Start, Thread, ThreadEnd, TraceInfo};

use proto::{
    DebugAnnotation, EventName, InternedData, ProcessDescriptor, SEQ_INCREMENTAL_STATE_CLEARED,
    SEQ_NEEDS_INCREMENTAL_STATE, ThreadDescriptor, TracePacket, TracePacketDefaults,
    TrackDescriptor, TrackEvent, TrackEventDefaults, TrackEventType,
};

/// How many names a sequence of packets has before it starts anew.
const MOST_NAMES: usize = 1 << 16;

/// Writes packets. A call that no event ended has no end. Times are the trace's own.
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
            thread: Thread {
                pid: 0,
                number: 0,
                id: 0,
                name: None,
            },
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

    /// Starts the current thread's sequence, or starts it anew.
    fn clear_names(&mut self) -> io::Result<()> {
        self.names.clear();
        let defaults = TrackEventDefaults {
            track_uuid: Some(thread_uuid(&self.thread)),
        };
        self.packet(&TracePacket {
            trusted_packet_sequence_id: Some(self.thread.number),
            sequence_flags: Some(SEQ_INCREMENTAL_STATE_CLEARED),
            trace_packet_defaults: Some(TracePacketDefaults {
                track_event_defaults: Some(defaults),
            }),
            ..TracePacket::default()
        })
    }

    /// Writes an event of the current thread.
    fn event(&mut self, time_ns: u64, event: TrackEvent, new: Option<EventName>) -> io::Result<()> {
        self.packet(&TracePacket {
            timestamp: Some(time_ns),
            trusted_packet_sequence_id: Some(self.thread.number),
            sequence_flags: Some(SEQ_NEEDS_INCREMENTAL_STATE),
            track_event: Some(event),
            interned_data: new.map(|name| InternedData {
                event_names: vec![name],
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

/// The track of a process.
fn process_uuid(pid: u32) -> u64 {
    u64::from(pid).wrapping_shl(32)
}

/// The track of a thread, whose number is at least 1.
fn thread_uuid(thread: &Thread) -> u64 {
    process_uuid(thread.pid) | u64::from(thread.number)
}

/// Registers, as pointers, which are shown in hexadecimal.
fn annotations(detail: &FunctionPayload) -> Vec<DebugAnnotation> {
    let named = |name: String, value| DebugAnnotation {
        name: Some(name),
        pointer_value: Some(value),
        ..DebugAnnotation::default()
    };
    let registers = (0..).zip(&detail.x_regs);
    let registers = registers.map(|(number, value): (u8, _)| (format!("x{number}"), *value));
    let special = [("lr", detail.lr), ("fp", detail.fp), ("sp", detail.sp)];
    let special = special.map(|(name, value)| (name.to_owned(), value));
    let all = registers
        .chain(special)
        .map(|(name, value)| named(name, value));
    let stack = DebugAnnotation {
        name: Some("stack_size".to_owned()),
        uint_value: u64::try_from(detail.stack.len()).ok(),
        ..DebugAnnotation::default()
    };
    all.chain([stack]).collect()
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
        if let Some((from_ns, to_ns)) = self.info.range_ns {
            labels.push(format!("time range: {from_ns} to {to_ns} ns"));
        }
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
        // 0 is not a valid number of a name.
        let next = u64::try_from(self.names.len())
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        let iid = *self.names.entry(call.function.id).or_insert(next);
        let new = (iid == next).then(|| EventName {
            iid: Some(iid),
            name: Some(name_of(&call.function).into_owned()),
        });
        let event = TrackEvent {
            r#type: Some(TrackEventType::SliceBegin.into()),
            name_iid: Some(iid),
            debug_annotations: call.detail.as_ref().map_or_else(Vec::new, annotations),
            ..TrackEvent::default()
        };
        self.event(call.start_ns, event, new)
    }

    fn call_end(&mut self, call: &End<'a>) -> io::Result<()> {
        if !call.is_known() {
            return Ok(());
        }
        let remark = call.remark().map(|remark| DebugAnnotation {
            name: Some("end".to_owned()),
            string_value: Some(remark.to_owned()),
            ..DebugAnnotation::default()
        });
        let event = TrackEvent {
            r#type: Some(TrackEventType::SliceEnd.into()),
            debug_annotations: remark.into_iter().collect(),
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
        // Any sequence will do; the last thread's ends here.
        let (time_ns, track) = (self.info.start_ns, self.process);
        let mut notes = notes.iter();
        notes.try_for_each(|note| self.note(time_ns, note, Some(track)))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
