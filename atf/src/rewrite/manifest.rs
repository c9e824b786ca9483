//! Writes the new manifest: the old one, updated to match the actual threads.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use super::job::{Details, Job};
use super::report::{LeftBehind, ManifestReport, NoteKind, Notes, Place, ThreadReport, loss};
use super::stage;
use super::thread::Rewritten;
use crate::check::manifest::{SessionFacts, agreement};
use crate::check::{self, Findings};
use crate::error::{Error, ErrorKind, Result};
use crate::files::MANIFEST_FILE;
use crate::manifest::{self, Cut, LossKind, Manifest, ManifestThread, Symbol, key};
use crate::rules::{Rule, table as rules};
use crate::wire::Clock;

/// Facts about the threads of the new session.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The facts about the original threads, which the checker compares with the manifest.
    pub(super) original: SessionFacts,
    /// Whether each thread has details, by thread id.
    pub(super) threads: BTreeMap<u32, bool>,
    /// The omitted threads, by id: `true` if the thread's files could not be read, `false` if its
    /// writer wrote nothing.
    left_out: BTreeMap<u32, bool>,
    /// The earliest and the latest timestamp over all threads.
    pub(super) time_range: Option<(u64, u64)>,
    pub(super) clocks: BTreeSet<u8>,
    /// The part of each thread that a cut kept, by thread id.
    pub(super) cuts: BTreeMap<u32, Cut>,
}

impl Facts {
    /// Returns whether a thread is omitted because its files could not be read; `None` if it is not
    /// omitted. Two folders can have the same id: `thread_1` and `thread_01`.
    fn is_unread(&self, id: u32) -> Option<bool> {
        let left_out = self.left_out.get(&id).copied();
        left_out.filter(|_| !self.threads.contains_key(&id))
    }

    pub(super) fn leave_out(&mut self, id: u32, is_unread: bool) {
        *self.left_out.entry(id).or_default() |= is_unread;
    }

    pub(super) fn add(&mut self, id: u32, report: &ThreadReport, thread: &Rewritten) {
        // Two folders can have the same id: `thread_1` and `thread_01`.
        *self.threads.entry(id).or_default() |= report.details.kept > 0;
        self.clocks.insert(thread.clock.into());
        self.cuts.extend(report.cut.map(|cut| (id, cut)));
        let ranges = self.time_range.into_iter().chain(thread.time_range);
        self.time_range = ranges.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
    }
}

/// The keys whose values do not come from the old manifest.
const RECOMPUTED: [&str; 5] = [
    key::FORMAT_VERSION,
    key::CLOCK_TYPE,
    key::TIME_START_NS,
    key::TIME_END_NS,
    key::HAS_DETAIL,
];

/// The result of [`rewrite`].
pub(super) struct Written {
    pub(super) report: ManifestReport,
    /// Whether the old manifest contains data that is not in the new one.
    pub(super) loses: bool,
    /// Whether the new manifest is a copy of the old one.
    pub(super) is_copied: bool,
}

/// Writes the new session's manifest.
pub(super) fn rewrite(
    job: &Job<'_>,
    session: &Path,
    old: Option<&Manifest>,
    facts: &Facts,
    (threads, left_behind): (&[ThreadReport], &[LeftBehind]),
    out: &Path,
) -> Result<Written> {
    let mut report = ManifestReport {
        was_there: old.is_some(),
        ..ManifestReport::default()
    };
    let path = session.join(MANIFEST_FILE);
    // Unknown keys also count as problems.
    let faulty = old.filter(|old| old.problem_count != 0);
    let unknown = faulty.and_then(|_| manifest::unknown_keys(&path));
    let unknown = unknown.unwrap_or_default();
    let mut kept = Vec::new();
    for (key, value) in &unknown {
        if let Some(value) = value
            && job.keeps_unknown_keys()
        {
            kept.push((key.as_str(), &**value));
            continue;
        }
        let place = || Place::new(MANIFEST_FILE, key.as_str(), None);
        let rule = Some(&rules::ATF_MANI_011);
        report.notes.add(NoteKind::KeyDropped, rule, place);
    }
    let loses_key = kept.len() < unknown.len();
    if let Some(old) = old {
        report.is_lost = old.is_unreadable();
        report.problem_count = old.problem_count.saturating_sub(unknown.len() as u64);
        let is_lost = |problem: &&Error| {
            let kind = problem.kind();
            let is_dropped = matches!(kind, ErrorKind::WrongType { .. } | ErrorKind::DuplicateKey);
            let is_of = |key: &&str| problem.field().is_some_and(|field| field.ends_with(key));
            is_dropped && !RECOMPUTED.iter().any(is_of)
        };
        report.values_lost = old.problems.iter().filter(is_lost).count() as u64;
        let keys: HashSet<&str> = unknown.iter().map(|(key, _)| key.as_str()).collect();
        let problems = old.problems.iter().filter(|problem| {
            let key = problem.field().unwrap_or_default();
            *problem.kind() != ErrorKind::UnknownKey || !keys.contains(key)
        });
        report.problems = problems
            .map(|problem| Place::from_error(MANIFEST_FILE, problem).breaks(problem.rule()))
            .collect();
    }
    let mut broken = Broken::default();
    match old {
        Some(old) => agreement(old, &facts.original, &mut broken),
        None => {
            let rule = Some(&rules::ATF_MANI_001);
            let place = || Place::new(MANIFEST_FILE, "", None);
            report.notes.add(NoteKind::ManifestMissing, rule, place);
        }
    }
    let mut new = manifest(job, old, facts, &mut report);
    // A cut changes threads and times on purpose, and an unreadable manifest contains nothing to
    // compare with.
    if let Some(old) = old.filter(|old| job.cut.is_none() && !old.is_unreadable()) {
        note_differences(old, &new, facts, &broken, &mut report);
    }
    let listed = old.iter().flat_map(|old| &old.threads);
    let mut loses_entry = false;
    for thread in listed {
        let is_omitted = job.has_thread(thread.id) && !facts.threads.contains_key(&thread.id);
        if is_omitted {
            let losses = new.losses().plus(thread.losses());
            new.lost_events = losses.get(LossKind::Events);
        }
        let kind = match facts.is_unread(thread.id) {
            Some(true) => NoteKind::EntryDropped,
            // Its writer wrote nothing.
            Some(false) if thread.name.is_some() || !thread.losses().is_empty() => {
                NoteKind::EntryDropped
            }
            None if is_omitted => NoteKind::ThreadMissing,
            _ => continue,
        };
        loses_entry = true;
        let field = format!("threads[{}]", thread.position);
        let rule = broken.get(&format!("{field}.id")).copied();
        report.notes.add(kind, rule, || {
            Place::new(MANIFEST_FILE, field, None).found(format!("thread {}", thread.id))
        });
    }
    new.recovered.extend(loss::damage(
        threads,
        left_behind,
        &report,
        old.and_then(|old| old.time_end_ns).is_some_and(|ns| ns > 0),
        job.keeps_unknown_keys(),
    ));
    report.modules = new.modules.len() as u64;
    report.unwritten_events = new.unwritten_events.filter(|events| *events > 0);
    report.drops_events = report.unwritten_events.is_some() && new.drops_events == Some(true);
    // Dropping an empty name loses nothing.
    let problems = old.iter().flat_map(|old| &old.problems);
    let unnamed = problems.filter(|problem| *problem.kind() == ErrorKind::EmptyName);
    let mut loses = loses_entry || loses_key || report.problem_count > unnamed.count() as u64;
    let is_correct = report.problem_count == 0 && !loses_key;
    let target = out.join(MANIFEST_FILE);
    // If copying the old manifest fails, a new one is encoded.
    let is_copied = match old {
        Some(old) if is_correct && job.keeps_rest && old.says_the_same(&new) => {
            stage::copy(session, &path, &target, job.durability)?.is_empty()
        }
        _ => false,
    };
    if !is_copied {
        let encoded = new.encode_or_drop_symbols(&kept, job.manifest_limit);
        let (text, error) = encoded.map_err(|error| error.with_path(Some(&target)))?;
        if let Some(error) = error {
            loses |= old.is_some();
            report.symbols_taken = 0;
            let aside = match old {
                Some(_) if job.keeps_rest => "; the original is in unreadable/",
                _ => "",
            };
            report.notes.add(NoteKind::SymbolsDropped, None, || {
                let place = Place::new(MANIFEST_FILE, key::SYMBOLS, None);
                place.found(format!("{}{aside}", error.kind()))
            });
        }
        stage::write(&target, &text, job.durability)?;
    }
    report.symbols = new.symbols.len() as u64;
    Ok(Written {
        report,
        loses,
        is_copied,
    })
}

fn manifest(
    job: &Job<'_>,
    old: Option<&Manifest>,
    facts: &Facts,
    report: &mut ManifestReport,
) -> Manifest {
    let mut new = old.cloned().unwrap_or_default();
    new.problems.clear();
    (new.problem_count, new.ignored_count) = (0, 0);
    new.threads = threads(old, facts);
    let (start, end) = facts.time_range.unwrap_or_default();
    (new.time_start_ns, new.time_end_ns) = (Some(start), Some(end));
    let mut clocks = facts.clocks.iter();
    match (clocks.next(), clocks.next()) {
        (Some(clock), None) => new.clock_type = Some(Clock::from(*clock)),
        (Some(_), Some(_)) => {
            new.clock_type = None;
            // A guessed header proves nothing about the original's clock.
            let is_known = facts.original.clocks.len() > 1;
            let rule = is_known.then_some(&rules::ATF_SESS_005);
            report.notes.add(NoteKind::ClocksDiffer, rule, || {
                let clocks: Vec<_> = facts.clocks.iter().map(u8::to_string).collect();
                Place::new(MANIFEST_FILE, "clock_type", None).found(clocks.join(", "))
            });
        }
        (None, _) => {}
    }
    if let Some(other) = job.symbols {
        report.symbols_taken = take_symbols(&mut new, other, &mut report.notes);
    }
    if job.module_names_only {
        for path in new.modules.iter_mut().filter_map(|m| m.path.as_mut()) {
            if let Some((_, name)) = path.rsplit_once(['/', '\\']) {
                *path = name.to_owned();
            }
        }
    }
    if job.details != Details::Keep {
        new.detail_fields = None;
    }
    for (position, symbol) in new.symbols.iter_mut().enumerate() {
        symbol.position = position;
    }
    // The content determines the version, not the old manifest's version.
    new.format_version = Some(new.version().to_owned());
    new
}

/// Returns the existing threads: first the listed ones in manifest order, then the others.
fn threads(old: Option<&Manifest>, facts: &Facts) -> Vec<ManifestThread> {
    let listed = old.iter().flat_map(|old| &old.threads);
    let known: HashSet<u32> = listed.clone().map(|thread| thread.id).collect();
    let others = facts.threads.keys().filter(|id| !known.contains(id));
    let all = listed
        .cloned()
        .chain(others.copied().map(ManifestThread::new));
    let there = all.filter_map(|thread| Some((*facts.threads.get(&thread.id)?, thread)));
    let thread = |(position, (has_detail, thread)): (_, (_, ManifestThread))| ManifestThread {
        position,
        has_detail: Some(has_detail),
        cut: facts.cuts.get(&thread.id).copied().or(thread.cut),
        ..thread
    };
    there.enumerate().map(thread).collect()
}

/// The rules that the old manifest breaks according to the checker, by field.
type Broken = BTreeMap<String, &'static Rule>;

impl Findings for Broken {
    fn add(&mut self, rule: &'static Rule, place: check::Place, _: impl FnOnce() -> String) {
        self.insert(place.field, rule);
    }
}

/// Notes the old manifest's errors about the threads.
fn note_differences(
    old: &Manifest,
    new: &Manifest,
    facts: &Facts,
    broken: &Broken,
    report: &mut ManifestReport,
) {
    let note = &mut |field: &str, found: String| {
        let place = || Place::new(MANIFEST_FILE, field, None).found(found);
        let rule = broken.get(field).copied();
        report.notes.add(NoteKind::ManifestDisagrees, rule, place);
    };
    let listed: HashSet<u32> = old.threads.iter().map(|t| t.id).collect();
    for thread in &old.threads {
        let field = format!("threads[{}]", thread.position);
        if let (Some(is), Some(says)) = (facts.threads.get(&thread.id), thread.has_detail)
            && *is != says
        {
            note(&format!("{field}.has_detail"), says.to_string());
        }
    }
    for id in facts.threads.keys().filter(|id| !listed.contains(id)) {
        note("threads", format!("thread {id} is not listed"));
    }
    // A wider time range in the manifest may include threads that could not be read.
    let is_unread = facts.left_out.values().any(|is_unread| *is_unread);
    let (start, end) = facts.time_range.unwrap_or((u64::MAX, 0));
    let may_hold = [
        is_unread && old.time_start_ns <= Some(start),
        is_unread && old.time_end_ns >= Some(end),
    ];
    let times = [
        ("time_start_ns", old.time_start_ns, new.time_start_ns),
        ("time_end_ns", old.time_end_ns, new.time_end_ns),
    ];
    for ((field, old, new), may_hold) in times.into_iter().zip(may_hold) {
        if let Some(found) = old.filter(|_| old != new && !may_hold) {
            note(field, found.to_string());
        }
    }
    let clock = old.clock_type.filter(|_| old.clock_type != new.clock_type);
    if let Some(found) = clock {
        note("clock_type", found.0.to_string());
    }
}

/// Adds modules and function names that are not in the manifest. A module with the same id but
/// another build id is a different build, so its function names do not apply.
fn take_symbols(new: &mut Manifest, other: &Manifest, notes: &mut Notes) -> u64 {
    let known: HashMap<u32, Option<&str>> = new
        .modules
        .iter()
        .map(|module| (module.module_id, module.uuid.as_deref()))
        .collect();
    let mut other_builds = HashSet::new();
    for module in &other.modules {
        if let Some(Some(uuid)) = known.get(&module.module_id)
            && let Some(found) = &module.uuid
            && !uuid.eq_ignore_ascii_case(found)
        {
            other_builds.insert(module.module_id);
            notes.add(NoteKind::OtherBuild, None, || {
                let place = Place::new(MANIFEST_FILE, "modules.uuid", None);
                place.found(format!("{uuid}, the other manifest has {found}"))
            });
        }
    }
    let missing = other
        .modules
        .iter()
        .filter(|module| !known.contains_key(&module.module_id));
    let modules: Vec<_> = missing.cloned().collect();
    let is_of_this_build = |symbol: &&Symbol| {
        let module = u32::try_from(symbol.function_id >> 32).unwrap_or_default();
        !other_builds.contains(&module)
    };
    let names = other.symbols.iter().filter(is_of_this_build);
    let names = names.filter_map(|symbol| Some((symbol.function_id, symbol.name.as_ref()?)));
    let names: HashMap<u64, &String> = names.collect();
    let mut taken = 0_u64;
    for symbol in new
        .symbols
        .iter_mut()
        .filter(|symbol| symbol.name.is_none())
    {
        symbol.name = names.get(&symbol.function_id).map(|name| (*name).clone());
        taken = taken.saturating_add(symbol.name.is_some().into());
    }
    let functions: HashSet<u64> = new
        .symbols
        .iter()
        .map(|symbol| symbol.function_id)
        .collect();
    let missing = other.symbols.iter().filter(is_of_this_build);
    let missing = missing.filter(|symbol| !functions.contains(&symbol.function_id));
    let before = new.symbols.len();
    new.symbols.extend(missing.cloned());
    new.modules.extend(modules);
    taken.saturating_add(new.symbols.len().saturating_sub(before) as u64)
}
