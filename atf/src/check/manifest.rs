//! Checks `manifest.json`: its content and its agreement with the session.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::ErrorKind;
use crate::files::MANIFEST_FILE;
use crate::manifest::{Loss, LossKind, Losses, Manifest, ManifestThread, Missing, key};

use super::end::{self, Times};
use super::output::{Output, add_problem, broken, linked, report_on};
use super::thread::Facts;
use crate::check::finding::{FileReport, Findings, Kind, Place};
use crate::rules::table as rules;

/// Facts about the session's folders that the manifest repeats.
#[derive(Debug, Default)]
pub(crate) struct SessionFacts {
    /// Ids that the manifest lists but that have no folder.
    pub(crate) missing: BTreeSet<u32>,
    /// Ids that have a folder but that the manifest does not list.
    unlisted: Vec<u32>,
    /// Whether there is a detail file, by the id of each thread with a folder.
    has_detail: BTreeMap<u32, bool>,
    pub(crate) clocks: BTreeSet<u8>,
    times: Times,
}

impl SessionFacts {
    pub(crate) fn add(&mut self, id: u32, is_listed: bool, facts: &Facts) {
        // Two folders can have the same id: `thread_1` and `thread_01`.
        *self.has_detail.entry(id).or_default() |= facts.has_detail;
        if !is_listed {
            self.unlisted.push(id);
        }
        self.clocks.extend(facts.clock);
        self.times = self.times.with(facts.times);
    }
}

/// Checks a manifest on its own, without its session.
pub(super) fn file(path: &Path, output: &mut dyn Output) {
    match Manifest::open(path) {
        Err(error) => output.unreadable(path, &error.message()),
        Ok(manifest) => {
            report_on(path, Kind::Manifest, output, |report| {
                alone(&manifest, report)
            });
        }
    }
}

/// Checks a session's manifest against its folders.
pub(super) fn check(
    session: &Path,
    manifest: Option<&Manifest>,
    facts: &SessionFacts,
    output: &mut dyn Output,
) {
    let path = session.join(MANIFEST_FILE);
    let Some(manifest) = manifest else {
        let message = "missing; threads are found by their folders instead";
        return broken(&path, Kind::Manifest, &rules::ATF_MANI_001, message, output);
    };
    let is_link = |problem: &crate::Error| *problem.kind() == ErrorKind::SymbolicLink;
    if manifest.problems.iter().any(is_link) {
        return linked(&path, Kind::Manifest, output);
    }
    report_on(&path, Kind::Manifest, output, |report| {
        alone(manifest, report)?;
        agreement(manifest, facts, report);
        Ok(())
    });
}

/// Checks everything that needs only the manifest.
fn alone(manifest: &Manifest, report: &mut FileReport) -> Result<(), crate::Error> {
    for problem in &manifest.problems {
        add_problem(report, problem)?;
    }
    for problem in manifest.lost_in_recovery() {
        add_problem(report, &problem)?;
    }
    format_version(manifest, report);
    let (lost, all) = (manifest.lost_events, all_losses(manifest));
    loss(key::LOST_EVENTS, LossKind::Events, lost, &all, report);
    for thread in &manifest.threads {
        for (kind, lost) in thread.written_losses() {
            let place = format!("threads[{}].{}", thread.position, kind.key());
            loss(&place, kind, lost, &all, report);
        }
    }
    if let Some(missing) = manifest.unwritten() {
        let place = Place::in_field(key::UNWRITTEN_EVENTS);
        report.add(&rules::ATF_MANI_016, place, || missing.to_string());
    }
    for symbol in &manifest.symbols {
        let lower = symbol.function_id & u64::from(u32::MAX);
        let halves = [
            (key::MODULE_ID, symbol.module_id, symbol.function_id >> 32),
            (key::SYMBOL_INDEX, symbol.symbol_index, lower),
        ];
        for (key, found, expected) in halves {
            if let Some(found) = found.filter(|found| u64::from(*found) != expected) {
                let place = Place::in_field(format!("symbols[{}].{key}", symbol.position));
                report.add(&rules::ATF_MANI_010, place, || {
                    let id = symbol.function_id;
                    format!("{found}, but function_id {id:#018x} has {expected}")
                });
            }
        }
    }
    Ok(())
}

/// Adds up all losses, if there are several: a finding contains only the first.
fn all_losses(manifest: &Manifest) -> String {
    let threads = manifest.threads.iter().map(ManifestThread::losses);
    let losses = threads.chain([manifest.losses()]);
    let count = losses.clone().flat_map(|it| it.iter()).count();
    let all = losses.fold(Losses::default(), Losses::plus);
    match count {
        0 | 1 => String::new(),
        _ => format!("; in all threads together {all}"),
    }
}

/// Checks an entry about events or details that the tracer lost, in a thread or in the session.
fn loss(place: &str, kind: LossKind, loss: Option<Loss>, all: &str, report: &mut FileReport) {
    let Some(loss) = loss else { return };
    let Loss {
        count,
        first_ns,
        last_ns,
    } = loss;
    if count > 0 {
        report.add(&rules::ATF_MANI_014, Place::in_field(place), || {
            format!("{}{all}", Missing::Lost(kind, loss))
        });
    } else {
        let place = Place::in_field(format!("{place}.count"));
        report.add(&rules::ATF_MANI_015, place, || {
            "0, expected at least 1".to_owned()
        });
    }
    if first_ns > last_ns {
        let place = Place::in_field(format!("{place}.first_ns"));
        report.add(&rules::ATF_MANI_015, place, || {
            format!("{first_ns}, which is after last_ns {last_ns}")
        });
    }
}

/// Checks the format version, which depends on whether the manifest has symbols.
fn format_version(manifest: &Manifest, report: &mut FileReport) {
    let of_symbols = |problem: &crate::Error| {
        let field = problem.field().unwrap_or_default();
        field.is_empty() || field.starts_with(key::SYMBOLS)
    };
    // Symbols that could not be read may still exist.
    let is_known = !manifest.symbols.is_empty() || !manifest.problems.iter().any(of_symbols);
    let expected = manifest.version();
    let with = if manifest.symbols.is_empty() {
        "without"
    } else {
        "with"
    };
    if let Some(found) = manifest.format_version.as_deref()
        && is_known
        && found != expected
    {
        report.add(
            &rules::ATF_MANI_012,
            Place::in_field(key::FORMAT_VERSION),
            || format!("{found:?}, expected {expected:?} {with} symbols"),
        );
    }
}

/// Checks that the manifest agrees with the session's folders.
pub(crate) fn agreement(manifest: &Manifest, facts: &SessionFacts, report: &mut impl Findings) {
    threads(manifest, facts, report);
    times_and_clock(manifest, facts, report);
}

fn threads(manifest: &Manifest, facts: &SessionFacts, report: &mut impl Findings) {
    if has_list(manifest) {
        for id in &facts.unlisted {
            report.add(&rules::ATF_MANI_006, Place::in_field(key::THREADS), || {
                format!("thread_{id} is not listed")
            });
        }
    }
    for thread in &manifest.threads {
        let ManifestThread { position, id, .. } = *thread;
        if facts.missing.contains(&id) {
            let place = Place::in_field(format!("threads[{position}].id"));
            report.add(&rules::ATF_MANI_005, place, || {
                format!("{id}, but there is no folder thread_{id}")
            });
        }
        if let (Some(stated), Some(has_detail)) = (thread.has_detail, facts.has_detail.get(&id))
            && stated != *has_detail
        {
            let place = Place::in_field(format!("threads[{position}].has_detail"));
            report.add(&rules::ATF_MANI_007, place, || {
                let is = if *has_detail { "has a" } else { "has no" };
                format!("{stated}, but thread {id} {is} detail.atf")
            });
        }
    }
}

/// Returns whether the list of threads could be read. Otherwise, no thread can be reported as
/// unlisted.
fn has_list(manifest: &Manifest) -> bool {
    let hides_list = |problem: &crate::Error| match problem.kind() {
        ErrorKind::Empty | ErrorKind::NotUtf8 => true,
        ErrorKind::NotJson(_) | ErrorKind::WrongType { .. } | ErrorKind::MissingKey => {
            matches!(problem.field(), None | Some(key::THREADS))
        }
        _ => false,
    };
    !manifest.threads.is_empty() || !manifest.problems.iter().any(hides_list)
}

fn times_and_clock(manifest: &Manifest, facts: &SessionFacts, report: &mut impl Findings) {
    if let Some(times) = facts.times.repeated() {
        // The manifest may omit the times.
        let found = (
            manifest.time_start_ns.unwrap_or(times.0),
            manifest.time_end_ns.unwrap_or(times.1),
        );
        let places = [key::TIME_START_NS, key::TIME_END_NS].map(Place::in_field);
        end::range(found, times, places, &rules::ATF_MANI_008, report);
    }
    let Some(clock) = manifest.clock_type else {
        return;
    };
    if let Some(other) = facts.clocks.iter().find(|other| **other != clock.0) {
        report.add(
            &rules::ATF_MANI_009,
            Place::in_field(key::CLOCK_TYPE),
            || format!("{}, but a thread's header has {other}", clock.0),
        );
    }
}
