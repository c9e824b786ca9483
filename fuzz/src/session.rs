//! Generates and reads sessions: folders with a manifest and threads, some valid and some damaged.

use std::fs;
use std::path::Path;

use arbitrary::{Arbitrary, Unstructured};
use atf::rewrite::{CutOptions, RecoverOptions, cut, recover as recover_session};
use atf::session::{MANIFEST_FILE, SessionReader, ThreadEntry};
use atf::thread::{DETAIL_FILE, INDEX_FILE, RING_FILE};
use atf_analyze::Run;
use atf_conformance::Checked;

use crate::kept::all_are_kept;
use crate::packed;
use crate::scratch::{put, scratch};
use crate::writer::Ops;

#[derive(Debug, Arbitrary)]
struct Session<'a> {
    manifest: Option<Manifest<'a>>,
    threads: Vec<Thread<'a>>,
}

#[derive(Debug, Arbitrary)]
enum Manifest<'a> {
    Bytes(&'a [u8]),
    /// A list of threads, which need not exist. The list may be invalid.
    Listed {
        ids: Vec<Id<'a>>,
        clock: u8,
    },
}

#[derive(Debug, Arbitrary)]
enum Id<'a> {
    Number(u32),
    Text(&'a str),
}

#[derive(Debug, Arbitrary)]
struct Thread<'a> {
    id: u8,
    files: ThreadFiles<'a>,
}

#[derive(Debug, Arbitrary)]
enum ThreadFiles<'a> {
    Raw {
        index: &'a [u8],
        detail: Option<&'a [u8]>,
        ring: Option<&'a [u8]>,
    },
    /// Output of our writer, possibly with some bytes changed and the files truncated.
    Damaged {
        ops: Ops<'a>,
        index: Damage,
        detail: Damage,
    },
}

/// Changes to a file.
#[derive(Debug, Arbitrary)]
pub(crate) struct Damage {
    /// Bytes to change: their offsets and new values.
    bytes: Vec<(u16, u8)>,
    /// The size to which the file is truncated.
    cut: Option<u16>,
}

impl Damage {
    pub(crate) fn is_none(&self) -> bool {
        self.bytes.is_empty() && self.cut.is_none()
    }

    pub(crate) fn apply(&self, bytes: &mut Vec<u8>) {
        if let Some(cut) = self.cut {
            bytes.truncate(usize::from(cut));
        }
        for (place, value) in &self.bytes {
            if let Some(byte) = bytes.get_mut(usize::from(*place)) {
                *byte = *value;
            }
        }
    }
}

impl Session<'_> {
    fn write(&self, folder: &Path) {
        match &self.manifest {
            None => {}
            Some(Manifest::Bytes(bytes)) => put(&folder.join(MANIFEST_FILE), bytes),
            Some(Manifest::Listed { ids, clock }) => {
                let ids: Vec<String> = ids
                    .iter()
                    .map(|id| match id {
                        Id::Number(id) => format!(r#"{{"id":{id}}}"#),
                        Id::Text(id) => format!(r#"{{"id":{id:?}}}"#),
                    })
                    .collect();
                let text = format!(r#"{{"clock_type":{clock},"threads":[{}]}}"#, ids.join(","));
                put(&folder.join(MANIFEST_FILE), text.as_bytes());
            }
        }
        for thread in self.threads.iter().take(4) {
            let folder = folder.join(format!("thread_{}", thread.id));
            fs::create_dir_all(&folder).expect("we own this folder");
            match &thread.files {
                ThreadFiles::Raw {
                    index,
                    detail,
                    ring,
                } => {
                    put(&folder.join(INDEX_FILE), index);
                    for (name, bytes) in [(DETAIL_FILE, detail), (RING_FILE, ring)] {
                        if let Some(bytes) = bytes {
                            put(&folder.join(name), bytes);
                        }
                    }
                }
                ThreadFiles::Damaged { ops, index, detail } => {
                    let mut written = ops.run(thread.id.into());
                    index.apply(&mut written.index);
                    put(&folder.join(INDEX_FILE), &written.index);
                    if let Some(mut bytes) = written.detail {
                        detail.apply(&mut bytes);
                        put(&folder.join(DETAIL_FILE), &bytes);
                    }
                }
            }
        }
    }
}

/// Writes a session into a folder: either the packed session in the bytes, as in the corpus, or a
/// session generated from the bytes.
pub(crate) fn write(data: &[u8], folder: &Path) -> bool {
    if packed::unpack(data, folder) {
        return true;
    }
    let session = Session::arbitrary(&mut Unstructured::new(data));
    session.map(|session| session.write(folder)).is_ok()
}

/// Analyses a session, and checks that it has at least `least` events. Returns the times of the
/// first and the last event.
fn analyse(session: &SessionReader, least: u64) -> (u64, u64) {
    let options = atf_analyze::Options::default();
    let functions = atf_analyze::functions(session, &options);
    let totals = functions.totals();
    assert!(totals.events >= least, "the analysis has all events");
    let own = functions.functions.iter();
    let own = own.map(|it| u128::from(it.times.self_ns));
    // The library's totals saturate, because damaged times may be centuries apart.
    let own = u64::try_from(own.sum::<u128>()).unwrap_or(u64::MAX);
    assert_eq!(own, totals.busy_ns, "self times add up");
    let tree = atf_analyze::tree(session, &options);
    assert_eq!(tree.totals(), totals);
    let mut run = Run::default();
    run.add(&functions, |id| session.symbols().function(id));
    let same = atf_analyze::diff(&[run], &[Run::default()], 0);
    assert!(same.changes.iter().all(atf_analyze::Change::vanished));
    let last = atf_analyze::last(session, &options, 9, 9);
    assert_eq!(last.threads.len(), functions.threads.len());
    totals.times.unwrap_or_default()
}

/// Cuts a session to the middle half of its time range. Returns `None` if the session cannot be
/// cut.
fn cut_to_half(folder: &Path, out: &Path, (start_ns, end_ns): (u64, u64)) -> Option<SessionReader> {
    let quarter = end_ns.saturating_sub(start_ns) / 4;
    let options = CutOptions::default()
        .from_ns(start_ns.saturating_add(quarter))
        .to_ns(end_ns.saturating_sub(quarter));
    let report = cut(folder, out, &options).ok()?;
    assert_eq!(Checked::new(out).structural_faults(), [""; 0], "{report}");
    Some(SessionReader::open(out).expect("a cut can be opened"))
}

/// Reads, merges, analyses, cuts and recovers a session. Checks that nothing panics, that the merge
/// has as many events as all threads together, that self times add up, and that the recovered
/// session and the cut break no MUST. The recovered session must keep every event before a gap, with
/// its detail, and recovering it again must yield the same bytes.
pub fn recover(data: &[u8]) {
    let scratch = scratch();
    let folder = scratch.path().join("in");
    fs::create_dir(&folder).expect("we own this folder");
    if !write(data, &folder) {
        return;
    }
    let Ok(opened) = SessionReader::open(&folder) else {
        return;
    };
    let indexes = opened.threads().iter().map(ThreadEntry::open_index);
    let total: u64 = indexes.flatten().map(|index| index.event_count()).sum();
    let merged = opened.merge();
    let mut count = 0_u64;
    // Problems with threads are returned after the last event.
    for event in merged.events().take_while(Result::is_ok) {
        event.expect("existing files can be read");
        count += 1;
    }
    assert_eq!(count, total, "the merge has all events");
    let times = analyse(&opened, total);
    if let Some(cut) = cut_to_half(&folder, &scratch.path().join("cut"), times) {
        analyse(&cut, 0);
    }

    let out = scratch.path().join("out");
    let Ok(report) = recover_session(&folder, &out, &RecoverOptions::default()) else {
        return;
    };
    assert_eq!(Checked::new(&out).structural_faults(), [""; 0], "{report}");
    let recovered = SessionReader::open(&out).expect("a recovered session can be opened");
    all_are_kept(&opened, &recovered, &report);

    let again = scratch.path().join("again");
    recover_session(&out, &again, &RecoverOptions::default()).expect("it can be recovered");
    for thread in recovered.threads() {
        for name in [INDEX_FILE, DETAIL_FILE] {
            let file = Path::new(thread.path().file_name().expect("a folder")).join(name);
            let [first, second] = [&out, &again].map(|root| fs::read(root.join(&file)).ok());
            assert!(first == second, "{} changes", file.display());
        }
    }
}

/// Checks a session. Checks that nothing panics and that each existing file has a report.
pub fn checker(data: &[u8]) {
    let scratch = scratch();
    if !write(data, scratch.path()) {
        return;
    }
    let checked = Checked::new(scratch.path());
    assert!(!checked.reports.is_empty() || !checked.unreadable.is_empty());
}
