//! Encodes a manifest.

use serde_core::ser::SerializeMap as _;
use serde_core::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Cut, Loss, Manifest, ManifestThread, Module, Symbol};
use crate::clock::TimingAnchor;
use crate::error::{Error, Result};
use crate::json::objects;

impl Manifest {
    /// Encodes the manifest with the same keys, in the same order, as tracers in the field write,
    /// and those that they do not write yet after them; [`parse`](Self::parse) reads it. It omits
    /// every `None`, empty names, losses of 0, unwritten events of 0, empty lists of modules, symbols and
    /// anchors, and always [`problems`](Self::problems).
    ///
    /// # Errors
    ///
    /// Only [`ErrorKind::Internal`](crate::ErrorKind::Internal): strings, numbers and lists can
    /// always be encoded as JSON.
    pub fn encode(&self) -> Result<Vec<u8>> {
        self.encode_with(&[])
    }

    /// Encodes the manifest with further members at its end, whose values are copied as they are.
    pub(crate) fn encode_with(&self, unknown: &[(String, Box<RawValue>)]) -> Result<Vec<u8>> {
        let text = serde_json::to_vec_pretty(&All {
            known: Text {
                format_version: self.format_version.as_deref(),
                threads: self.threads.iter().map(Thread::from).collect(),
                time_start_ns: self.time_start_ns,
                time_end_ns: self.time_end_ns,
                clock_type: self.clock_type.map(Into::into),
                modules: self.modules.iter().map(ModuleText::from).collect(),
                symbols: self.symbols.iter().map(SymbolText::from).collect(),
                timing_anchors: self.timing_anchors.iter().map(AnchorText::from).collect(),
                lost_events: self.lost_events.filter(|loss| loss.count > 0),
                unwritten_events: self.unwritten_events.filter(|events| *events > 0),
                ended_by: self.ended_by.as_deref(),
                clock_error_ns: self.clock_error_ns,
            },
            unknown,
        });
        let mut text = text.map_err(|_| Error::internal("a manifest can be encoded as JSON"))?;
        text.push(b'\n');
        Ok(text)
    }
}

struct All<'a> {
    known: Text<'a>,
    unknown: &'a [(String, Box<RawValue>)],
}

impl Serialize for All<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        self.known.serialize_members(&mut object)?;
        for (key, value) in self.unknown {
            object.serialize_entry(key, value)?;
        }
        object.end()
    }
}

objects! {
    Text<'_> {
        format_version unless Option::is_none, threads, time_start_ns unless Option::is_none,
        time_end_ns unless Option::is_none, clock_type unless Option::is_none,
        modules unless Vec::is_empty, symbols unless Vec::is_empty,
        timing_anchors unless Vec::is_empty, lost_events unless Option::is_none,
        unwritten_events unless Option::is_none, ended_by unless Option::is_none,
        clock_error_ns unless Option::is_none,
    }
    Thread<'_> {
        id, has_detail unless Option::is_none, name unless Option::is_none,
        lost_events unless Option::is_none, lost_details unless Option::is_none,
        cut unless Option::is_none,
    }
    Cut { from_ns, to_ns, calls, returns }
    Loss { count, first_ns, last_ns }
    ModuleText<'_> {
        module_id, path unless Option::is_none, base_address unless Option::is_none,
        size unless Option::is_none, uuid unless Option::is_none,
        function_offsets unless Option::is_none,
    }
    SymbolText<'_> {
        function_id, module_id unless Option::is_none, symbol_index unless Option::is_none,
        name unless Option::is_none,
    }
    AnchorText { host_time_ns, media_time, media_timescale }
}

struct Text<'a> {
    format_version: Option<&'a str>,
    threads: Vec<Thread<'a>>,
    time_start_ns: Option<u64>,
    time_end_ns: Option<u64>,
    clock_type: Option<u8>,
    modules: Vec<ModuleText<'a>>,
    symbols: Vec<SymbolText<'a>>,
    timing_anchors: Vec<AnchorText>,
    lost_events: Option<Loss>,
    unwritten_events: Option<u64>,
    ended_by: Option<&'a str>,
    clock_error_ns: Option<u64>,
}

struct Thread<'a> {
    id: u32,
    has_detail: Option<bool>,
    name: Option<&'a str>,
    lost_events: Option<Loss>,
    lost_details: Option<Loss>,
    cut: Option<Cut>,
}

impl<'a> From<&'a ManifestThread> for Thread<'a> {
    fn from(thread: &'a ManifestThread) -> Self {
        Self {
            id: thread.id,
            has_detail: thread.has_detail,
            name: thread.name.as_deref().filter(|name| !name.is_empty()),
            lost_events: thread.lost_events.filter(|loss| loss.count > 0),
            lost_details: thread.lost_details.filter(|loss| loss.count > 0),
            cut: thread.cut,
        }
    }
}

struct ModuleText<'a> {
    module_id: u32,
    path: Option<&'a str>,
    base_address: Option<String>,
    size: Option<u64>,
    uuid: Option<&'a str>,
    function_offsets: Option<bool>,
}

impl<'a> From<&'a Module> for ModuleText<'a> {
    fn from(module: &'a Module) -> Self {
        Self {
            module_id: module.module_id,
            path: module.path.as_deref(),
            base_address: module.base_address.map(|address| format!("{address:#x}")),
            size: module.size,
            uuid: module.uuid.as_deref(),
            function_offsets: module.function_offsets,
        }
    }
}

pub(super) struct SymbolText<'a> {
    function_id: String,
    module_id: Option<u32>,
    symbol_index: Option<u32>,
    name: Option<&'a str>,
}

impl<'a> From<&'a Symbol> for SymbolText<'a> {
    fn from(symbol: &'a Symbol) -> Self {
        Self {
            function_id: format!("{:#018x}", symbol.function_id),
            module_id: symbol.module_id,
            symbol_index: symbol.symbol_index,
            name: symbol.name.as_deref().filter(|name| !name.is_empty()),
        }
    }
}

struct AnchorText {
    host_time_ns: u64,
    media_time: i64,
    media_timescale: i32,
}

impl From<&TimingAnchor> for AnchorText {
    fn from(anchor: &TimingAnchor) -> Self {
        Self {
            host_time_ns: anchor.host_time_ns,
            media_time: anchor.media_time.value,
            media_timescale: anchor.media_time.timescale,
        }
    }
}
