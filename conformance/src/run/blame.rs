//! Determines the charge for each difference from the expected result: the rule broken by the file
//! with the difference, or the field that was misread.

use std::collections::{BTreeMap, BTreeSet};

use crate::Verdict;
use crate::corpus::{Case, Subject};
use crate::protocol::{Mismatch, Step};
use crate::results::{Grade, follows};
use crate::rule;
use crate::rules::{self, ReaderDoes};

/// An event with at least this many wrong fields counts as a different event.
const OTHER_EVENT: usize = 3;

/// Returns the rule broken by a verdict that the case does not allow.
pub(super) fn of_verdict(case: &Case, verdict: Verdict) -> Option<&'static str> {
    if case.subject == Subject::Session && verdict == Verdict::Reject {
        let is_manifest = |(_, rule): &(String, &'static str)| rule.starts_with("ATF-MANI-");
        let of_files = case.broken.iter().filter(|broken| !is_manifest(broken));
        let mut files = case.file_verdicts.iter();
        let is_any_good = files.any(|file| file.verdicts.contains(&Verdict::Accept));
        // The entire session was rejected, although one of its files is intact.
        if of_files.count() > 0 && is_any_good {
            return Some(rule("ATF-RDER-003").id);
        }
    }
    of_files(case)
}

/// Returns the rule that the case's files break or, in a boundary case, barely follow.
pub(super) fn of_files(case: &Case) -> Option<&'static str> {
    broken(case, |_| true).or_else(|| boundary(case))
}

/// Returns the charge for each difference in an answer's values.
pub(super) fn of_mismatches(case: &Case, mismatches: &[Mismatch]) -> Vec<Option<String>> {
    let moved = moved(mismatches);
    // The case shows that an event is not a footer, and yet it was read as one.
    let of_footer = boundary(case).filter(|id| is_about_footer(id));
    let of_footer = of_footer.filter(|_| mismatches.iter().any(invents_footer));
    let charge = |mismatch: &Mismatch| {
        if let Some(rule) = of_footer {
            return Some(rule.to_owned());
        }
        let is_moved = moved.contains(&file(&mismatch.steps));
        of_place(case, mismatch, is_moved)
    };
    let is_source =
        |mismatch: &&Mismatch| mismatch.grade == Grade::Data && !follows(&mismatch.place());
    let source = mismatches.iter().find(is_source).and_then(charge);
    let is = |it: &Mismatch, name| it.steps.last().and_then(Step::key) == Some(name);
    let checksum_of = |file_of: &Mismatch| {
        let mut all = mismatches.iter();
        let is_own = |it: &&Mismatch| file(&it.steps) == file(&file_of.steps);
        let found = all.find(|it| is_own(it) && is(it, "checksum"));
        found.and_then(charge)
    };
    let is_merged = |it: &Mismatch| it.place().starts_with("derived.merged");
    let is_misordered = case.subject == Subject::Session && mismatches.iter().any(is_merged);
    let times = ["derived.time_start_ns", "derived.time_end_ns"];
    let is_time = |it: &Mismatch| times.contains(&it.place().as_str());
    let all = mismatches.iter();
    all.map(|mismatch| match &source {
        // The times are those of the first and last event in the merged order.
        None if is_misordered && is_time(mismatch) => Some(rule("ATF-RDER-004").id.to_owned()),
        // A value derived from others is wrong because they are.
        Some(source) if follows(&mismatch.place()) => Some(source.clone()),
        _ if is(mismatch, "verdict") => checksum_of(mismatch).or_else(|| charge(mismatch)),
        _ => charge(mismatch),
    })
    .collect()
}

/// Returns whether a file without a footer was read as if it had one.
fn invents_footer(mismatch: &Mismatch) -> bool {
    let is_source = mismatch.steps.last().and_then(Step::key) == Some("count_source");
    is_source && mismatch.got.as_deref() == Some("\"footer\"")
}

/// Returns whether a rule is about the footer or one of its fields.
fn is_about_footer(id: &str) -> bool {
    let mut records = about(id).iter().filter_map(|it| it.split('.').next());
    records.any(|record| record.ends_with("_footer"))
}

/// A file of a session: the thread's position, and the kind of file.
type File<'a> = (Option<usize>, Option<&'a str>);

fn file(steps: &[Step]) -> File<'_> {
    match steps {
        [Step::Key(threads), Step::Element(seq), Step::Key(kind), ..] if threads == "threads" => {
            (Some(*seq), Some(kind))
        }
        _ => (None, None),
    }
}

/// Returns the files with missing, additional or moved events. The values of these events' fields do
/// not show whether the fields are misread.
fn moved(mismatches: &[Mismatch]) -> BTreeSet<File<'_>> {
    let mut fields: BTreeMap<(File<'_>, usize), usize> = BTreeMap::new();
    let mut moved = BTreeSet::new();
    for mismatch in mismatches {
        let steps = mismatch.steps.as_slice();
        let own = match file(steps) {
            (None, None) => steps,
            _ => steps.get(3..).unwrap_or_default(),
        };
        match own {
            [Step::Key(events), Step::Element(_)] if events == "events" => {
                moved.insert(file(steps));
            }
            [Step::Key(events), Step::Element(seq), _] if events == "events" => {
                let count = fields.entry((file(steps), *seq)).or_default();
                *count += 1;
                if *count == OTHER_EVENT {
                    moved.insert(file(steps));
                }
            }
            _ => {}
        }
    }
    moved
}

fn of_place(case: &Case, mismatch: &Mismatch, is_moved: bool) -> Option<String> {
    let steps = &mismatch.steps;
    let keys: Vec<&str> = steps.iter().filter_map(Step::key).collect();
    let wrong = (mismatch, is_moved);
    let rule = match (case.subject, keys.as_slice()) {
        (Subject::Session, ["threads", file @ ("index" | "detail"), rest @ ..]) => {
            let thread = thread(case, steps);
            let is_own = |path: &str| {
                let mut parts = path.rsplit('/');
                let name = parts.next().unwrap_or_default();
                let is_file = name.split('.').next() == Some(file);
                let folder = if is_file { parts.next() } else { Some(name) };
                folder.and_then(thread_id) == thread
            };
            return of_file(case, *file == "detail", rest, wrong, is_own);
        }
        (Subject::Session, ["threads", "derived", name]) => Some(of_links(case, name)),
        (Subject::Session, ["threads", ..]) => {
            let thread = thread(case, steps);
            let is_own = |path: &str| path.split('/').any(|part| thread_id(part) == thread);
            // A bad file can hide threads, but not add any.
            let is_lost = mismatch.got.is_none() && !case.broken.is_empty();
            let others = is_lost.then_some(rule("ATF-RDER-003").id);
            broken(case, is_own)
                .or_else(|| manifest(case))
                .or(others)
                .or(Some(rule("ATF-SESS-001").id))
        }
        (Subject::Session, ["derived", "manifest"]) => {
            let is_own = |rule: &&str| is_noticed(rule) && rule.starts_with("ATF-MANI-");
            let own = manifest(case).or_else(|| boundary(case).filter(is_own));
            own.or(match mismatch.got.as_deref() {
                Some("\"absent\"") => Some(rule("ATF-MANI-001").id),
                _ => Some(rule("ATF-MANI-003").id),
            })
        }
        // Holes are not merged.
        (Subject::Session, ["derived", "merged", ..]) => {
            let broken = case.broken.iter().map(|(_, id)| *id);
            let hole = broken.chain(boundary(case)).find(|id| is_hole(id));
            hole.or(Some(rule("ATF-RDER-004").id))
        }
        (Subject::Session, ["derived", "time_start_ns" | "time_end_ns"]) => {
            Some(rule("ATF-RDER-013").id)
        }
        (Subject::Session, _) => of_files(case),
        (subject, keys) => {
            return of_file(case, subject == Subject::Detail, keys, wrong, |_| true);
        }
    };
    rule.map(str::to_owned)
}

/// Returns the charge for a wrong number of links: a rule about the counted links, or another rule
/// about links.
fn of_links(case: &Case, name: &str) -> &'static str {
    let (link, default) = match name {
        "orphan_details" => ("detail_event_header.index_seq", rule("ATF-LINK-003").id),
        _ => ("index_event.detail_seq", rule("ATF-LINK-001").id),
    };
    // A rule about a record also covers its fields.
    let is_part = |it: &&str| link == *it || link.split('.').next() == Some(it);
    let is_counted = |id: &&str| about(id).iter().any(is_part);
    let is_link = |id: &&str| id.starts_with("ATF-LINK-");
    let ids = || broken_in(case, |_| true);
    best(case, ids().filter(is_counted))
        .or_else(|| best(case, ids().filter(is_link)))
        .or_else(|| boundary(case).filter(is_link))
        .unwrap_or(default)
}

/// Returns the charge for a difference in a file's document. `is_own` matches the file's paths.
fn of_file(
    case: &Case,
    is_detail: bool,
    keys: &[&str],
    (mismatch, is_moved): (&Mismatch, bool),
    is_own: impl Fn(&str) -> bool + Copy,
) -> Option<String> {
    let [header, event, footer] = if is_detail {
        ["detail_header", "detail_event_header", "detail_footer"]
    } else {
        ["index_header", "index_event", "index_footer"]
    };
    let own = || broken(case, is_own).or_else(|| boundary(case));
    let or_record = |record: &str| Some(own().unwrap_or(record).to_owned());
    let field = |record, name| Some(of_field(case, record, name, is_own));
    match keys {
        // An intact file was rejected because of another file.
        ["verdict"] if case.subject == Subject::Session => {
            let others = (!case.broken.is_empty()).then_some(rule("ATF-RDER-003").id);
            own().or(others).map(str::to_owned)
        }
        ["header", name, ..] => field(header, name),
        ["footer", name, ..] => field(footer, name),
        ["events"] if mismatch.got.is_none() && has_no_end(case, is_own) => {
            // The case shows that its last event is not a truncated footer.
            let of_footer = boundary(case).filter(|id| about(id).contains(&footer));
            Some(of_footer.unwrap_or(rule("ATF-RDER-001").id).to_owned())
        }
        ["events", ..] if is_moved => or_record(event),
        ["events", "function", name, ..] => field("detail_function_payload", name),
        ["events", "function"] => {
            let is_payload = |rule: &&str| rule.starts_with("ATF-DPAY-");
            let asked = case.rules.iter().copied().find(is_payload);
            asked.or(Some(rule("ATF-DPAY-002").id)).map(str::to_owned)
        }
        ["events", "payload"] => field(event, "total_length"),
        ["events", name, ..] => field(event, name),
        ["events"] => or_record(event),
        ["footer"] => or_record(footer),
        ["derived", "checksum"] => {
            let ids = if is_detail {
                ["ATF-DFTR-004", "ATF-DFTR-005", "ATF-DFTR-006"]
            } else {
                ["ATF-IFTR-004", "ATF-IFTR-005", "ATF-IFTR-006"]
            };
            let [wrong, ieee, absent] = ids.map(|id| rule(id).id);
            let mut broken = broken_in(case, is_own);
            let charge = match broken.find(|id| [wrong, ieee, absent].contains(id)) {
                Some(id) if id == absent => rule("ATF-RDER-005").id,
                Some(id) => id,
                None => wrong,
            };
            Some(charge.to_owned())
        }
        ["derived", name] => or_record(&format!("derived.{name}")),
        _ => own().map(str::to_owned),
    }
}

fn is_hole(id: &str) -> bool {
    id == rule("ATF-IEVT-006").id
}

/// Returns whether the only fault of a file's events is that no complete footer shows where they
/// end.
fn has_no_end(case: &Case, is_own: impl Fn(&str) -> bool) -> bool {
    let own = || broken_in(case, &is_own);
    let is_end = |rule: &str| {
        let number = rule.strip_prefix("ATF-IFTR-");
        let number = number.or_else(|| rule.strip_prefix("ATF-DFTR-"));
        matches!(number, Some("001" | "010" | "011" | "012"))
    };
    own().any(is_end) && !own().any(is_hole)
}

/// Returns the records and fields that a rule is about.
fn about(id: &str) -> &'static [&'static str] {
    rules::find(id).map_or(&[], |rule| rule.about)
}

/// Returns the charge for a wrong field: the broken rule about the field, a rule about how readers
/// treat the field, or the layout of the field itself.
fn of_field(case: &Case, record: &str, field: &str, is_own: impl Fn(&str) -> bool) -> String {
    let name = format!("{record}.{field}");
    let is_about = |id: &&'static str| about(id).contains(&name.as_str());
    let is_recorded = atf::Wire::from_version(case.wire).is_none_or(|wire| match field {
        "thread_id" => wire.records_thread_id(),
        "call_depth" => wire.records_call_depth(),
        _ => true,
    });
    if !is_recorded && record.contains("event") {
        return rule("ATF-RDER-012").id.to_owned();
    }
    // Bytes that a reader ignores change a field only if they are read as part of it.
    let reserved = format!("{record}._reserved");
    let is_beside = |id: &&'static str| {
        let is_reserved = about(id).iter().all(|it| it.starts_with(&reserved));
        is_reserved && !is_noticed(id) && case.rules.contains(id)
    };
    let here = || broken_in(case, &is_own);
    match here().find(is_about).or_else(|| here().find(is_beside)) {
        Some(rule) => rule.to_owned(),
        None if field == "function_id" => rule("ATF-RDER-011").id.to_owned(),
        None => name,
    }
}

/// Returns the rule that best explains a wrong answer to a file: preferably one that the case is
/// about, and otherwise the one to which a reader reacts most strictly. A rule that the case barely
/// follows takes precedence over one that readers ignore or only report.
fn broken(case: &Case, is_own: impl Fn(&str) -> bool) -> Option<&'static str> {
    best(case, broken_in(case, is_own))
}

/// Returns the rules that the matching files break.
fn broken_in(case: &Case, is_own: impl Fn(&str) -> bool) -> impl Iterator<Item = &'static str> {
    let own = case.broken.iter().filter(move |(path, _)| is_own(path));
    own.map(|(_, rule)| *rule)
}

fn best(case: &Case, rules: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let key = |rule: &str| {
        let asked = case.rules.iter().position(|asked| *asked == rule);
        let reader = rules::find(rule).map(|rule| rule.reader);
        (asked.unwrap_or(usize::MAX), std::cmp::Reverse(reader))
    };
    let best = rules.min_by_key(|rule| key(rule))?;
    let own = boundary(case).filter(|_| !is_grave(best));
    own.or(Some(best))
}

/// Returns whether readers answer differently because of a broken rule.
fn is_grave(rule: &str) -> bool {
    rules::find(rule).is_none_or(|it| it.reader >= ReaderDoes::Recover)
}

/// Returns whether readers react to files that break a rule.
fn is_noticed(rule: &str) -> bool {
    rules::find(rule).is_none_or(|it| it.reader != ReaderDoes::Ignore)
}

/// The name prefixes of cases with ordinary files, whose values readers must return correctly.
const PLAIN: [&str; 4] = ["clean-", "vector-", "session-of-", "write-"];

/// Returns whether a case has plain files that break no rule that a reader could notice.
pub(super) fn is_clean(case: &Case) -> bool {
    let slug = case.name.rsplit('/').next().unwrap_or_default();
    case.verdicts.first() == Some(&Verdict::Accept)
        && !case.broken.iter().any(|(_, rule)| is_noticed(rule))
        && PLAIN.iter().any(|start| slug.starts_with(start))
}

/// Returns the rule that a case barely follows, even if its files break others. A clean case
/// follows all rules.
fn boundary(case: &Case) -> Option<&'static str> {
    let is_asked = |(_, rule): &(String, &'static str)| case.rules.contains(rule);
    let is_boundary = !case.broken.iter().any(is_asked) && !is_clean(case);
    case.rules.first().copied().filter(|_| is_boundary)
}

fn manifest(case: &Case) -> Option<&'static str> {
    broken(case, |path| path.ends_with(atf::session::MANIFEST_FILE))
}

/// Returns the id of the thread that the path `steps` leads into.
fn thread(case: &Case, steps: &[Step]) -> Option<u64> {
    let [_, Step::Element(seq), ..] = steps else {
        return None;
    };
    case.expected["threads"][*seq]["thread_id"].as_u64()
}

fn thread_id(folder: &str) -> Option<u64> {
    let id = folder.strip_prefix(atf::session::THREAD_FOLDER)?;
    id.parse().ok()
}
