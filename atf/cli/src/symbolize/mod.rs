//! Implements `symbolize`, which looks up a session's function names in the files of its modules.

mod called;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use atf::Error;
use atf::manifest::{Manifest, Module, Symbol};
use atf::session::{MANIFEST_FILE, SessionReader};
use atf_symbolize::{Found, Search, SymbolTable};
use serde::Serialize;

use crate::json::U64;
use crate::output::{Failure, Outcome, State, complain, stdout};
use crate::text::{Printable, counted};
use crate::trace::only_session;

const AFTER_HELP: &str = "\
For tracers that record function offsets instead of names: the modules' entries in manifest.json
have `function_offsets: true`. Each module's file (ELF, or Mach-O of one architecture) is searched
at its path; then in each --debug-dir DIR and in /usr/lib/debug as DIR/path, DIR/name and
DIR/.build-id/ab/cdef….debug. If the file at its path names a debug file in .gnu_debuglink, that one
is searched beside it, in .debug beside it, and in each DIR as DIR/folder/debugfile and
DIR/debugfile. A file's build id must be the module's uuid; without a uuid, none is compared, but
the checksum of a debug file is. A stripped file is used only if no other has all functions; one
with .gnu_debugdata has all. Names of Rust and C++ are demangled; Swift's stay as they are, because
all maintained demanglers are C++, which must not read names of untrusted files.

The new manifest.json replaces the old one atomically and differs from it only in added names and in
format_version. Nothing else may write the session meanwhile. Other files are not changed.

Memory: 16 bytes per function in the events, and a small multiple of the manifest and of the symbol
tables of one file at a time, plus 256 MiB for those of further files. Each file is read at most
twice, and at most 2 GiB of it; each of its names is demangled once. If a C++ name takes more than
1 s, or all of them more than 10 s plus 10 µs per byte, later C++ names stay mangled.

Exit status: 0; 1 a function in the events still has no name, or not all events could be read;
2 usage, a session without modules, or a path that could not be read or written.

Example:
  $ atf symbolize --debug-dir debug session_20260105_101500/pid_4242";

/// The options of `symbolize`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// A session to whose manifest names are added, or a folder with one session below it
    session: PathBuf,
    /// Also search here; may be repeated
    #[arg(long, value_name = "DIR")]
    debug_dir: Vec<PathBuf>,
    /// Write the report as JSON
    #[arg(long)]
    json: bool,
}

impl Options {
    pub(crate) fn run(&self) -> Outcome {
        let report = Report::look_up(&only_session(&self.session)?, &self.debug_dir)?;
        let mut out = stdout();
        if self.json {
            serde_json::to_writer_pretty(&mut out, &report)?;
            out.write_all(b"\n")?;
        } else {
            report.write(&mut out)?;
        }
        out.flush()?;
        Ok(State::damaged_if(report.lacks_something()))
    }
}

/// The numbers of functions with and without a name after a lookup.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    manifest: String,
    modules: Vec<ModuleReport>,
    /// The number of unnamed functions whose module is not in the manifest.
    without_module: U64,
    names_added: U64,
    /// The number of threads whose events could not all be read.
    unread_threads: U64,
}

/// The functions of one module that occur in the events.
#[derive(Debug, Default, Serialize)]
struct ModuleReport {
    module_id: u32,
    path: Option<String>,
    functions: U64,
    /// The number of functions that already had a name.
    had_names: U64,
    /// The number of functions that have a name now.
    named: U64,
    /// The file with the names.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Why the functions were not looked up, or which check was not possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    /// The rejected files, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<String>,
}

impl Report {
    /// Adds names for a session's functions and writes its manifest.
    pub(crate) fn look_up(path: &Path, debug_dirs: &[PathBuf]) -> Result<Self, Failure> {
        let session = SessionReader::open(path)?;
        let path = session.path().join(MANIFEST_FILE);
        let refused = |what: &str| Failure::at(&path, what);
        let manifest = session.manifest();
        let manifest = manifest.ok_or_else(|| refused("missing; it lists the modules"))?;
        if manifest.modules.is_empty() {
            return Err(match manifest.problems.first() {
                Some(problem) => Failure::Usage(problem.to_string()),
                None => refused("has no modules"),
            });
        }
        let mut report = Self {
            manifest: crate::json::path(&path),
            ..Self::default()
        };
        let mut functions = BTreeMap::<u32, Vec<u64>>::new();
        let (ids, errors) = called::functions(&session);
        report.unread_threads = U64(errors.len() as u64);
        errors.iter().map(Error::text_with_rule).for_each(complain);
        for id in ids {
            functions.entry((id >> 32) as u32).or_default().push(id);
        }
        let search = Search::new(debug_dirs.iter().cloned());
        let has_name = |id: &u64| session.symbols().function(*id).name.is_some();
        let mut wanted = Vec::new();
        // If a module is listed twice, the first entry is used.
        for module in &manifest.modules {
            let Some(mut ids) = functions.remove(&module.module_id) else {
                continue;
            };
            let all = ids.len();
            ids.retain(|id| !has_name(id));
            let (functions, had_names) = (U64(all as u64), U64((all - ids.len()) as u64));
            let mut entry = ModuleReport {
                module_id: module.module_id,
                path: module.path.clone(),
                functions,
                had_names,
                named: had_names,
                ..ModuleReport::default()
            };
            if !ids.is_empty() && module.function_offsets == Some(true) {
                wanted.push((report.modules.len(), module, ids));
            } else if !ids.is_empty() {
                entry.note = Some("ids are not offsets");
            }
            report.modules.push(entry);
        }
        let mut symbols = Vec::new();
        let mut left = Manifest::LIMIT;
        let modules = wanted.iter();
        let modules = modules.map(|(_, it, _)| (it.path.as_deref(), it.uuid.as_deref()));
        search.find_all(modules, |table, found| {
            let ids = found.iter().filter_map(|(place, _)| wanted.get(*place));
            let offsets: BTreeSet<_> = ids.flat_map(|(.., ids)| ids).map(offset).collect();
            let names = table.map(|table| table.names_at(offsets));
            // The names of all functions together may not fit into memory.
            let mut most = left;
            let is_small = |(_, name): &(u64, Rc<str>)| {
                most = most.saturating_sub(name.len() as u64);
                most > 0
            };
            let names = names.into_iter().flatten().take_while(is_small);
            let names: HashMap<_, _> = names.collect();
            if most == 0 {
                left = 0;
            }
            for (place, found) in found {
                let (entry, module, ids) = &wanted[*place];
                let entry = &mut report.modules[*entry];
                entry.store(module, table, found);
                for id in ids {
                    if let Some(name) = names.get(&offset(id)).filter(|_| left > 0) {
                        left = left.saturating_sub(name.len() as u64);
                        entry.named.0 += 1;
                        symbols.push(Symbol::new(*id, name.as_ref()));
                    }
                }
            }
        });
        if left == 0 {
            return Err(refused("the names would not fit in a manifest"));
        }
        symbols.sort_unstable_by_key(|symbol| symbol.function_id);
        let unlisted = functions.values().flatten();
        report.without_module = U64(unlisted.filter(|id| !has_name(id)).count() as u64);
        if !symbols.is_empty() {
            atf::write::add_symbols(session.path(), &symbols)?;
        }
        report.names_added = U64(symbols.len() as u64);
        Ok(report)
    }

    /// Returns whether any function still lacks a name or any events were not read.
    pub(crate) fn lacks_something(&self) -> bool {
        let is_lacking = |module: &ModuleReport| module.named < module.functions;
        self.modules.iter().any(is_lacking) || self.without_module.0 + self.unread_threads.0 > 0
    }

    /// Writes the report as text.
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for module in &self.modules {
            let path = module.path.as_deref().unwrap_or("without a path");
            let (named, all) = (module.named.0, counted(module.functions.0, "function"));
            let (id, path) = (module.module_id, Printable(path));
            write!(out, "module {id}  {path}: {named} of {all} named")?;
            if let Some(file) = &module.file {
                write!(out, ", from {}", Printable(file))?;
            }
            match module.note {
                Some(note) => writeln!(out, "; {note}")?,
                None => writeln!(out)?,
            }
            for refused in &module.refused {
                writeln!(out, "  refused {}", Printable(refused))?;
            }
        }
        if self.without_module.0 > 0 {
            let functions = counted(self.without_module.0, "function");
            writeln!(out, "{functions} of modules that are not listed")?;
        }
        if self.unread_threads.0 > 0 {
            let threads = counted(self.unread_threads.0, "thread");
            writeln!(out, "{threads} whose events could not all be read")?;
        }
        let names = counted(self.names_added.0, "name");
        writeln!(out, "{names} added to {}", Printable(&self.manifest))
    }
}

impl ModuleReport {
    /// Stores which files were found and rejected.
    fn store(&mut self, module: &Module, table: Option<&SymbolTable>, found: &Found) {
        self.refused = found.refused.iter().map(ToString::to_string).collect();
        self.file = found.path.as_deref().map(crate::json::path);
        self.note = match (table, &module.uuid) {
            (None, _) => Some("no file found").filter(|_| self.refused.is_empty()),
            (Some(_), None) => Some("no uuid to compare with its build id"),
            (Some(table), Some(_)) if !table.has_statics() => {
                Some("it is stripped: only exported functions")
            }
            (Some(_), Some(_)) => None,
        };
    }
}

/// Returns a function's offset in its module.
fn offset(id: &u64) -> u64 {
    id & u64::from(u32::MAX)
}
