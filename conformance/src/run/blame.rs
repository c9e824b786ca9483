//! Finds the rule that an answer broke. Rules about the place of the difference take precedence
//! over the case's own rules.

use crate::Verdict;
use crate::corpus::{Case, Subject};
use crate::protocol::Step;
use crate::rules::{self, table};

/// Returns the rule broken by a verdict that the case does not allow.
pub(super) fn of_verdict(case: &Case, verdict: Verdict) -> Option<&'static str> {
    if case.subject == Subject::Session && verdict == Verdict::Reject {
        let is_manifest = |(_, rule): &(String, &'static str)| rule.starts_with("ATF-MANI-");
        let of_files = case.broken.iter().filter(|broken| !is_manifest(broken));
        let mut files = case.file_verdicts.iter();
        let is_any_good = files.any(|file| file.verdicts.contains(&Verdict::Accept));
        // The whole session was rejected, although one of its files is intact.
        if of_files.count() > 0 && is_any_good {
            return Some(table::ATF_RDER_003.id);
        }
    }
    first(case)
}

/// Returns the rule broken by a difference in the document.
pub(super) fn of_place(case: &Case, steps: &[Step]) -> Option<&'static str> {
    let keys: Vec<&str> = steps.iter().filter_map(Step::key).collect();
    match (case.subject, keys.as_slice()) {
        (Subject::Session, ["threads", file @ ("index" | "detail"), rest @ ..]) => {
            let thread = thread(case, steps);
            of_file(case, *file == "detail", rest, |path| {
                let mut parts = path.rsplit('/');
                let name = parts.next().unwrap_or_default();
                let is_file = name.split('.').next() == Some(file);
                let folder = if is_file { parts.next() } else { Some(name) };
                folder.and_then(thread_id) == thread
            })
        }
        (Subject::Session, ["threads", "derived", name]) => {
            let rules = match *name {
                "dangling_links" => [&table::ATF_LINK_001, &table::ATF_LINK_002],
                _ => [&table::ATF_LINK_003, &table::ATF_LINK_004],
            };
            let broken = rules
                .iter()
                .find(|rule| case.broken.iter().any(|(_, id)| *id == rule.id));
            Some(broken.unwrap_or(&rules[0]).id)
        }
        (Subject::Session, ["threads", ..]) => {
            let thread = thread(case, steps);
            let is_own = |path: &str| path.split('/').any(|part| thread_id(part) == thread);
            broken(case, is_own)
                .or_else(|| manifest(case))
                .or(Some(table::ATF_RDER_003.id))
        }
        (Subject::Session, ["derived", "manifest"]) => {
            manifest(case).or(Some(table::ATF_MANI_003.id))
        }
        (Subject::Session, ["derived", "merged", ..]) => Some(table::ATF_RDER_004.id),
        (Subject::Session, ["derived", "time_start_ns" | "time_end_ns"]) => {
            Some(table::ATF_RDER_013.id)
        }
        (Subject::Session, _) => first(case),
        (subject, keys) => of_file(case, subject == Subject::Detail, keys, |_| true),
    }
}

/// Returns a rule about a place in a file's document. `is_own` matches the file's paths.
fn of_file(
    case: &Case,
    is_detail: bool,
    keys: &[&str],
    is_own: impl Fn(&str) -> bool + Copy,
) -> Option<&'static str> {
    let [header, event, footer] = if is_detail {
        ["detail_header", "detail_event_header", "detail_footer"]
    } else {
        ["index_header", "index_event", "index_footer"]
    };
    let end = if is_detail {
        &table::ATF_DFTR_001
    } else {
        &table::ATF_IFTR_001
    };
    let own = || broken(case, is_own);
    match keys {
        // An intact file was rejected because of another file.
        ["verdict"] if case.subject == Subject::Session => own().or(Some(table::ATF_RDER_003.id)),
        ["header", field, ..] => of_field(case, header, field, is_own),
        ["footer", field, ..] => of_field(case, footer, field, is_own),
        ["events", "function", field, ..] => {
            of_field(case, "detail_function_payload", field, is_own)
        }
        ["events", "payload" | "function", ..] => {
            own().or_else(|| of_field(case, event, "total_length", is_own))
        }
        ["events", field, ..] => of_field(case, event, field, is_own),
        ["footer"] | ["derived", "count_source" | "trailing_bytes"] => own().or(Some(end.id)),
        ["derived", "checksum"] => {
            let id = if is_detail {
                table::ATF_DFTR_004.id
            } else {
                table::ATF_IFTR_004.id
            };
            let absent = case
                .broken
                .iter()
                .find(|(_, rule)| [table::ATF_IFTR_006.id, table::ATF_DFTR_006.id].contains(rule));
            Some(absent.map_or(id, |_| table::ATF_RDER_005.id))
        }
        _ => own().or_else(|| first(case)),
    }
}

/// Returns the rule for a wrong field. Tries in this order: a broken rule about the field or its
/// record, another rule that the case breaks in the file, a rule of the case about the field, any
/// rule about the field, and [`first`].
fn of_field(
    case: &Case,
    record: &str,
    field: &str,
    is_own: impl Fn(&str) -> bool,
) -> Option<&'static str> {
    let name = format!("{record}.{field}");
    let about = |id: &str| rules::find(id).map_or(&[][..], |rule| rule.about);
    let names = |id: &str| about(id).contains(&name.as_str());
    let is_about = |id: &&'static str| names(id) || about(id).contains(&record);
    let is_recorded = atf::Wire::from_version(case.wire).is_none_or(|wire| match field {
        "thread_id" => wire.records_thread_id(),
        "call_depth" => wire.records_call_depth(),
        _ => true,
    });
    if !is_recorded && record.contains("event") {
        return Some(table::ATF_RDER_012.id);
    }
    let here = case.broken.iter().filter(|(path, _)| is_own(path));
    let mut here = here.map(|(_, rule)| *rule);
    let mut asked = case.rules.iter().copied();
    here.find(is_about)
        .or_else(|| broken(case, is_own))
        .or_else(|| asked.find(|id| names(id)))
        .or_else(|| {
            let mut all = table::ALL.iter();
            Some(all.find(|rule| rule.about.contains(&name.as_str()))?.id)
        })
        .or_else(|| first(case))
}

/// Returns the first rule that the case breaks in a file.
fn broken(case: &Case, is_own: impl Fn(&str) -> bool) -> Option<&'static str> {
    let mut broken = case.broken.iter();
    broken.find(|(path, _)| is_own(path)).map(|(_, rule)| *rule)
}

fn manifest(case: &Case) -> Option<&'static str> {
    let mut broken = case.broken.iter().map(|(_, rule)| *rule);
    broken.find(|rule| rule.starts_with("ATF-MANI-"))
}

/// Returns the first broken rule, if the case tests it. Otherwise, returns the case's first rule.
pub(super) fn first(case: &Case) -> Option<&'static str> {
    let broken = case.broken.first().map(|(_, rule)| *rule);
    let broken = broken.filter(|rule| case.rules.contains(rule));
    broken.or_else(|| case.rules.first().copied())
}

/// Returns the id of the thread that the path `steps` leads into.
fn thread(case: &Case, steps: &[Step]) -> Option<u64> {
    let [_, Step::Element(seq), ..] = steps else {
        return None;
    };
    case.expected
        .get("threads")?
        .get(seq)?
        .get("thread_id")?
        .as_u64()
}

fn thread_id(folder: &str) -> Option<u64> {
    folder
        .strip_prefix(atf::session::THREAD_FOLDER)?
        .parse()
        .ok()
}
