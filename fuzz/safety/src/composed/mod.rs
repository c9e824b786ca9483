//! Combines faults in header, events, payload, footer, tail and manifest, and compares readers that
//! share no code. `spec/decisions.yaml` decides which is correct if they disagree.
//!
//! The library's document of a session must equal those of the others, including the order of
//! merged events that `atf dump` prints. A recovered session must contain the events before the
//! first gap, with their details.

mod faults;
mod readers;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use atf::rewrite::{RecoverOptions, recover};
use atf::session::SessionReader;
use atf_fuzz::{kept, scratch};

pub use faults::Composed;
pub use readers::{Document, Reader, library, readers};

/// The number of sessions that a program reads in one run.
const BATCH: u64 = 200;

/// The disagreements of a run: for each reader, their number and the first one.
pub type Disagreements = BTreeMap<String, (u64, String)>;

/// Compares `readers` with the first of them on the sessions of all seeds. Copies sessions on which
/// they disagree to `keep`.
///
/// # Errors
///
/// Returns an error if a session cannot be written, or if a program fails.
pub fn run(
    readers: &[Reader],
    seeds: Range<u64>,
    keep: Option<&Path>,
) -> io::Result<Disagreements> {
    let next = AtomicU64::new(seeds.start);
    let all = Mutex::new(Disagreements::new());
    let work = || {
        loop {
            let start = next.fetch_add(BATCH, Ordering::Relaxed);
            if start >= seeds.end {
                return Ok(());
            }
            let batch = start..seeds.end.min(start.saturating_add(BATCH));
            for (seed, reader, fault) in compare(readers, batch)? {
                if let Some(keep) = keep {
                    Composed::new(seed).write(&keep.join(seed.to_string()))?;
                }
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.entry(reader).or_insert((0, fault)).0 += 1;
            }
        }
    };
    let threads = thread::available_parallelism()?.get();
    let done: io::Result<Vec<()>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        done.map(|done| done.map_err(|_| io::Error::other("a panic"))?)
            .collect()
    });
    done?;
    Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the disagreements of a batch: seed, reader, and the faults with both answers.
fn compare(readers: &[Reader], seeds: Range<u64>) -> io::Result<Vec<(u64, String, String)>> {
    let folder = scratch();
    let sessions: Vec<_> = seeds.clone().map(Composed::new).collect();
    let path = |seed: u64| folder.path().join(seed.to_string());
    let paths: Vec<_> = seeds.clone().map(path).collect();
    for (session, path) in sessions.iter().zip(&paths) {
        session.write(path)?;
    }
    let mut found = Vec::new();
    let mut answers = readers.iter().map(|reader| (reader.read)(&paths));
    let expected = answers.next().ok_or(io::ErrorKind::InvalidInput)??;
    for (reader, answers) in readers.iter().skip(1).zip(answers) {
        for (at, (answer, expected)) in answers?.iter().zip(&expected).enumerate() {
            if answer != expected {
                let faults = &sessions[at].faults;
                let (name, seed) = (&reader.name, seeds.start + at as u64);
                let fault = format!("seed {seed}, {faults:?}:\n{expected}, {name}: {answer}");
                found.push((seed, name.clone(), fault));
            }
        }
    }
    for ((path, session), seed) in paths.iter().zip(&sessions).zip(seeds) {
        if let Err(fault) = recovered(path, &folder.path().join("out")) {
            let fault = format!("seed {seed}, {:?}: {fault}", session.faults);
            found.push((seed, "recover".to_owned(), fault));
        }
    }
    Ok(found)
}

/// Checks that a recovered session has the events before the first gap, with their details.
fn recovered(path: &Path, out: &Path) -> Result<(), String> {
    let text = |error: atf::Error| error.to_string();
    let of = |path: &Path| {
        let session = SessionReader::open(path).map_err(text)?;
        let entries = session.threads().iter();
        let threads = entries.filter_map(|entry| entry.open().ok());
        let kept = threads.map(|thread| kept(&thread).map_err(text));
        kept.collect::<Result<Vec<_>, _>>()
    };
    let before = of(path)?;
    if before.is_empty() {
        return Ok(());
    }
    recover(path, out, &RecoverOptions::default()).map_err(text)?;
    let after = of(out);
    fs::remove_dir_all(out).map_err(|error| error.to_string())?;
    let after = after?;
    if after == before {
        Ok(())
    } else {
        Err(format!("{after:?} instead of {before:?}"))
    }
}
