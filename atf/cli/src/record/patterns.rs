//! Finds user patterns that match no recorded function.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use atf::session::{ProcessName, SessionReader};
use atf::trace::Process;
use atf_record::settings::{DETAIL_FUNCTIONS, Setting, TRIGGER_FUNCTIONS};
use atf_symbolize::{Filter, Search};

use super::Options;

/// The settings whose patterns have no effect without a match. Patterns for the functions to record
/// are not listed: if they match no function, nothing is recorded, which is reported elsewhere.
static PATTERNS: [&Setting; 2] = [&TRIGGER_FUNCTIONS, &DETAIL_FUNCTIONS];

/// The offsets of recorded functions, by the path and build id of their module.
type Modules = BTreeMap<(Option<String>, Option<String>), BTreeSet<u64>>;

/// Returns a message for each option whose patterns match no recorded function. `may_lack_events`
/// is true if events of other functions may have been lost.
pub(super) fn unmatched(
    sessions: &[PathBuf],
    options: &Options,
    may_lack_events: bool,
) -> Vec<String> {
    let given = PATTERNS.iter().filter_map(|setting| {
        let patterns = options.recorder.0.text(setting)?;
        // The library has already accepted the patterns.
        let filter = Filter::parse(patterns).ok()?;
        Some((setting.flag, patterns, filter))
    });
    let mut given: Vec<_> = given.collect();
    if given.is_empty() || lacks_segments(sessions) {
        return Vec::new();
    }
    let search = Search::new(options.debug_dir.iter().cloned());
    let Some(modules) = modules(sessions) else {
        return Vec::new();
    };
    let all = modules.keys();
    let all = all.map(|(path, build_id)| (path.as_deref(), build_id.as_deref()));
    let recorded: Vec<_> = modules.values().collect();
    let mut is_known = true;
    search.find_all(all, |table, found| {
        // Without names, any function might match.
        let Some(table) = table.filter(|table| table.function_count() > 0) else {
            is_known &= found.is_empty();
            return;
        };
        // A library may have functions without hooks, which can never match.
        let modules = found.iter().filter_map(|(place, _)| recorded.get(*place));
        let recorded: BTreeSet<u64> = modules
            .flat_map(|offsets| offsets.iter().copied())
            .collect();
        let is_recorded = |(offset, _)| recorded.contains(&offset);
        for namesakes in table.namesakes() {
            if !given.is_empty() && namesakes.places().any(is_recorded) {
                let names = namesakes.names();
                given.retain(|(_, _, filter)| !filter.selects_function(&names, false));
            }
        }
        // A mangled name might match.
        is_known &= !table.gave_up();
    });
    if !is_known {
        return Vec::new();
    }
    let unless = if may_lack_events {
        ", unless its events were lost"
    } else {
        ""
    };
    let message = |(option, patterns, _): &(&str, &str, Filter)| {
        format!("--{option}: no recorded function matches \"{patterns}\"{unless}")
    };
    given.iter().map(message).collect()
}

/// Returns whether the first segments of a process were deleted. A function may have been recorded
/// only in them.
fn lacks_segments(sessions: &[PathBuf]) -> bool {
    let processes = Process::group(sessions.to_vec());
    let firsts = processes.iter().filter_map(|segments| segments.first());
    let mut names = firsts.filter_map(|first| ProcessName::from_path(first));
    names.any(|name| name.segment > 1)
}

/// Returns the paths and build ids of the modules of all sessions, and the offsets of the recorded
/// functions that have names. Returns `None` if a session has no names, for example because its
/// process is a daemon that is still running.
fn modules(sessions: &[PathBuf]) -> Option<Modules> {
    let mut all = Modules::new();
    for session in sessions {
        // The problem of an unreadable session was reported when the session was finished.
        if let Ok(session) = SessionReader::open(session)
            && let Some(manifest) = session.manifest()
        {
            if manifest.symbols.is_empty() {
                return None;
            }
            for module in &manifest.modules {
                let name = (module.path.clone(), module.uuid.clone());
                let ids = manifest.symbols.iter().map(|symbol| symbol.function_id);
                let ids = ids.filter(|id| id >> 32 == u64::from(module.module_id));
                let offsets = ids.map(|id| id & u64::from(u32::MAX));
                all.entry(name).or_default().extend(offsets);
            }
        }
    }
    Some(all)
}
