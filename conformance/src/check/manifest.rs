//! `manifest.json`: what it says, and whether the session bears it out.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use atf::ErrorKind;
use atf::manifest::Manifest;
use atf::session::MANIFEST_FILE;

use super::thread::Facts;
use super::{Output, is_unreadable, place_of, without_path};
use crate::finding::{FileReport, Kind, Place};
use crate::rules::{Rule, table as rules};

/// What the session's folders say of what the manifest repeats.
#[derive(Debug, Default)]
pub(super) struct SessionFacts {
    /// Ids that are listed and have no folder.
    pub(super) missing: Vec<u32>,
    /// Ids that have a folder and are not listed.
    unlisted: Vec<u32>,
    with_detail: BTreeSet<u32>,
    with_folder: BTreeSet<u32>,
    clocks: BTreeSet<u8>,
    times: Option<(u64, u64)>,
}

impl SessionFacts {
    pub(super) fn add(&mut self, id: u32, is_listed: bool, facts: &Facts) {
        self.with_folder.insert(id);
        if !is_listed {
            self.unlisted.push(id);
        }
        if facts.has_detail {
            self.with_detail.insert(id);
        }
        self.clocks.extend(facts.clock);
        if let Some((start, end)) = facts.times {
            let all = self.times.get_or_insert((start, end));
            *all = (all.0.min(start), all.1.max(end));
        }
    }
}

/// Checks a manifest by itself.
pub(super) fn file(path: &Path, output: &mut dyn Output) {
    match fs::read(path) {
        Err(error) => output.unreadable(path, &error.to_string()),
        Ok(bytes) => {
            let manifest = Manifest::parse(&bytes);
            super::report(path, Kind::Manifest, output, |report| {
                alone(&manifest, report);
                Ok(())
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
    let mut report = FileReport::new(&path, Kind::Manifest);
    let Some(manifest) = manifest else {
        report.add(&rules::ATF_MANI_001, Place::of(""), || {
            "missing; the session opens from its folders".to_owned()
        });
        return output.file(report);
    };
    if let Some(problem) = manifest
        .problems
        .iter()
        .find(|problem| is_unreadable(problem))
    {
        return output.unreadable(&path, &without_path(problem));
    }
    alone(manifest, &mut report);
    threads(manifest, facts, &mut report);
    times_and_clock(manifest, facts, &mut report);
    output.file(report);
}

/// What can be told from the manifest alone.
fn alone(manifest: &Manifest, report: &mut FileReport) {
    for problem in &manifest.problems {
        report.add(problem_rule(problem.kind()), place_of(problem), || {
            problem.kind().to_string()
        });
    }
    for (at, symbol) in manifest.symbols.iter().enumerate() {
        let halves = (
            symbol.function_id >> 32,
            symbol.function_id & u64::from(u32::MAX),
        );
        let differs =
            |half: Option<u32>, expected: u64| half.is_some_and(|half| u64::from(half) != expected);
        if differs(symbol.module_id, halves.0) || differs(symbol.symbol_index, halves.1) {
            report.add(
                &rules::ATF_MANI_010,
                Place::of(format!("symbols[{at}]")),
                || {
                    format!(
                        "function_id {:#018x} has the halves {} and {}",
                        symbol.function_id, halves.0, halves.1
                    )
                },
            );
        }
    }
}

fn problem_rule(problem: &ErrorKind) -> &'static Rule {
    match problem {
        ErrorKind::ByteOrderMark
        | ErrorKind::Empty
        | ErrorKind::NotUtf8
        | ErrorKind::NotJson(_)
        | ErrorKind::DuplicateKey => &rules::ATF_MANI_002,
        ErrorKind::DuplicateThread { .. } => &rules::ATF_MANI_004,
        ErrorKind::UnknownKey => &rules::ATF_MANI_011,
        _ => &rules::ATF_MANI_003,
    }
}

fn threads(manifest: &Manifest, facts: &SessionFacts, report: &mut FileReport) {
    for id in &facts.missing {
        report.add(&rules::ATF_MANI_005, Place::of("threads"), || {
            format!("thread {id} has no folder")
        });
    }
    for id in &facts.unlisted {
        report.add(&rules::ATF_MANI_006, Place::of("threads"), || {
            format!("thread_{id} is not listed")
        });
    }
    for (at, thread) in manifest.threads.iter().enumerate() {
        let has_detail = facts.with_detail.contains(&thread.id);
        let is_known = facts.with_folder.contains(&thread.id);
        if let Some(says) = thread
            .has_detail
            .filter(|says| is_known && *says != has_detail)
        {
            report.add(
                &rules::ATF_MANI_007,
                Place::of(format!("threads[{at}].has_detail")),
                || {
                    let is = if has_detail { "has a" } else { "has no" };
                    format!("{says}, but thread {} {is} detail.atf", thread.id)
                },
            );
        }
    }
}

fn times_and_clock(manifest: &Manifest, facts: &SessionFacts, report: &mut FileReport) {
    if let (Some(start), Some(end)) = (manifest.time_start_ns, manifest.time_end_ns) {
        let times = facts.times.unwrap_or((0, 0));
        if (start, end) != times {
            report.add(&rules::ATF_MANI_008, Place::of("time_start_ns"), || {
                super::end::differ((start, end), times)
            });
        }
    }
    let Some(clock) = manifest.clock_type else {
        return;
    };
    if let Some(other) = facts.clocks.iter().find(|other| **other != clock.0) {
        report.add(&rules::ATF_MANI_009, Place::of("clock_type"), || {
            format!("{}, a thread's header has {other}", clock.0)
        });
    }
}
