//! Describes processes and functions in the terms of other formats.

use std::borrow::Cow;
use std::collections::BTreeSet;

use atf::session::SessionReader;
use atf::symbols::Function;
use atf::trace::Process;
use atf_analyze::Options;

use crate::sink::LATEST_NS;

/// The maximum length of a name in bytes. Longer names are truncated, because some formats repeat
/// the name for each call.
pub const LONGEST_NAME: usize = 4096;

/// The name shown for calls that are not listed separately.
pub(crate) const OTHERS: &str = "(further calls)";

/// Returns the options for analyzing up to the latest time that an export can contain.
pub(crate) fn until_latest(options: &Options) -> Options {
    Options {
        to_ns: options.to_ns.min(LATEST_NS),
        ..options.clone()
    }
}

pub(crate) fn has_detail_fields(process: &Process) -> bool {
    let mut manifests = process
        .sessions()
        .iter()
        .filter_map(SessionReader::manifest);
    manifests.any(|manifest| manifest.detail_fields == Some(true))
}

/// Returns an id for each process: its own, or its position, counted from 1, if ids are missing
/// or not unique, as can happen with processes from several machines.
pub(crate) fn pids(processes: &[Process]) -> Vec<u32> {
    let own: Option<Vec<u32>> = processes.iter().map(Process::pid).collect();
    let differ = |own: &Vec<u32>| own.iter().collect::<BTreeSet<_>>().len() == own.len();
    let positions = || (1..).take(processes.len()).collect();
    own.filter(differ).unwrap_or_else(positions)
}

/// Returns the process's name: the name of its first module or, without modules, of its folder.
pub(crate) fn name(process: &Process) -> String {
    let session = process.sessions().first();
    let module = session.and_then(SessionReader::manifest);
    let module = module.and_then(|manifest| manifest.modules.first()?.path.as_deref());
    let module = module.and_then(|path| path.rsplit(['/', '\\']).find(|name| !name.is_empty()));
    let folder = session.and_then(|session| session.path().file_name());
    match (module, folder) {
        (Some(module), _) => module.to_owned(),
        (None, Some(folder)) => folder.to_string_lossy().into_owned(),
        (None, None) => "trace".to_owned(),
    }
}

/// Returns facts about the session for a format's metadata, as keys and values.
pub(crate) fn facts(process: &Process) -> Vec<(String, String)> {
    let Some(manifest) = process.manifest() else {
        return Vec::new();
    };
    let fact = |key: &str, value: String| (key.to_owned(), value);
    let mut facts = Vec::new();
    let clock = manifest.clock_type.and_then(atf::Clock::name);
    facts.extend(clock.map(|clock| fact("clock", clock.to_owned())));
    let version = manifest.format_version.clone();
    facts.extend(version.map(|version| fact("format version", version)));
    for (number, anchor) in manifest.timing_anchors.iter().enumerate() {
        let media = anchor.media_time;
        let text = format!(
            "{} ns = {}/{} s",
            anchor.host_time_ns, media.value, media.timescale
        );
        facts.push((format!("timing anchor {number}"), text));
    }
    facts
}

/// Returns a function's name, or its module and number.
pub(crate) fn name_of<'s>(function: &Function<'s>) -> Cow<'s, str> {
    match function.name {
        Some(name) => {
            let (head, _) = name.split_at(name.floor_char_boundary(LONGEST_NAME));
            Cow::Borrowed(head)
        }
        None => Cow::Owned(function.to_string()),
    }
}
