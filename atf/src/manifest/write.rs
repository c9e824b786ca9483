//! Encodes a manifest.

use serde::Serialize;

use super::{Manifest, ManifestThread, Module, Symbol};
use crate::error::{Error, Result};

impl Manifest {
    /// Encodes the manifest with the same keys, in the same order, as tracers in the field write;
    /// [`parse`](Self::parse) reads it. It omits every `None`, empty function names, empty lists of
    /// modules and symbols, and always [`problems`](Self::problems).
    ///
    /// # Errors
    ///
    /// Only [`ErrorKind::Internal`](crate::ErrorKind::Internal): strings, numbers and lists can
    /// always be encoded as JSON.
    pub fn encode(&self) -> Result<Vec<u8>> {
        json(&Text {
            format_version: self.format_version.as_deref(),
            threads: self.threads.iter().map(Thread::from).collect(),
            time_start_ns: self.time_start_ns,
            time_end_ns: self.time_end_ns,
            clock_type: self.clock_type.map(Into::into),
            modules: self.modules.iter().map(ModuleText::from).collect(),
            symbols: self.symbols.iter().map(SymbolText::from).collect(),
        })
    }
}

/// Encodes a value that JSON can always represent.
pub(crate) fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    let text = serde_json::to_vec_pretty(value);
    let mut text = text.map_err(|_| Error::internal("a manifest can be encoded as JSON"))?;
    text.push(b'\n');
    Ok(text)
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    format_version: Option<&'a str>,
    threads: Vec<Thread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_start_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_end_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_type: Option<u8>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    modules: Vec<ModuleText<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    symbols: Vec<SymbolText<'a>>,
}

#[derive(Serialize)]
struct Thread {
    id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    has_detail: Option<bool>,
}

impl From<&ManifestThread> for Thread {
    fn from(thread: &ManifestThread) -> Self {
        Self {
            id: thread.id,
            has_detail: thread.has_detail,
        }
    }
}

#[derive(Serialize)]
struct ModuleText<'a> {
    module_id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<&'a str>,
}

impl<'a> From<&'a Module> for ModuleText<'a> {
    fn from(module: &'a Module) -> Self {
        Self {
            module_id: module.module_id,
            path: module.path.as_deref(),
            base_address: module.base_address.map(|address| format!("{address:#x}")),
            size: module.size,
            uuid: module.uuid.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct SymbolText<'a> {
    function_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    module_id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
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
