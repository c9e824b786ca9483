//! Finds user patterns that match no function of the program.

use std::collections::BTreeSet;
use std::path::PathBuf;

use atf::manifest::Module;
use atf::session::SessionReader;
use atf_symbolize::{Filter, Function, Search, demangle};

use super::Settings;

/// The variables whose patterns have no effect without a match, and their options. If no function
/// is selected for recording, nothing is recorded, which is reported elsewhere.
const PATTERNS: [(&str, &str); 2] = [
    ("ATF_TRIGGER_FUNCTIONS", "--trigger-function"),
    ("ATF_DETAIL_FUNCTIONS", "--detail-function"),
];

/// Returns a message for each option whose patterns match no function of the recorded modules.
pub(super) fn unmatched(sessions: &[PathBuf], settings: &Settings<'_>) -> Vec<String> {
    let given = PATTERNS.iter().filter_map(|(variable, option)| {
        let patterns = settings.value(variable).filter(|it| !it.is_empty())?;
        // The library has already accepted the patterns.
        let filter = Filter::parse(patterns).ok()?;
        Some((option, patterns, filter))
    });
    let mut given: Vec<_> = given.collect();
    if given.is_empty() {
        return Vec::new();
    }
    let search = Search::new(settings.debug_dirs.iter().cloned());
    for (path, build_id) in modules(sessions) {
        let found = search.find(path.as_deref(), build_id.as_deref());
        // Among functions without names, any may match.
        let Some((_, table)) = found.file.filter(|(_, it)| it.functions().next().is_some()) else {
            return Vec::new();
        };
        given
            .retain(|(_, _, filter)| !table.functions().any(|function| selects(filter, &function)));
    }
    let message = |(option, patterns, _): &(&&str, &str, Filter)| {
        format!("{option}: no function of the program matches \"{patterns}\"")
    };
    given.iter().map(message).collect()
}

/// Returns the paths and build ids of the modules of all sessions.
fn modules(sessions: &[PathBuf]) -> BTreeSet<(Option<String>, Option<String>)> {
    let mut all = BTreeSet::new();
    for session in sessions {
        // An unreadable session was already reported when it was finished.
        if let Ok(session) = SessionReader::open(session)
            && let Some(manifest) = session.manifest()
        {
            let names = |module: &Module| (module.path.clone(), module.uuid.clone());
            all.extend(manifest.modules.iter().map(names));
        }
    }
    all
}

/// Returns whether a pattern matches a function's name in the source or in the symbol table.
fn selects(filter: &Filter, function: &Function<'_>) -> bool {
    let raw = &*function.raw_name;
    match demangle(raw) {
        Some(name) => filter.selects(&[raw, &*name]),
        None => filter.selects(&[raw]),
    }
}
