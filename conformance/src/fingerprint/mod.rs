//! Determines which source an implementation follows where the sources disagree.
//!
//! Each reading of a disagreement has a sign in an implementation's answers to the corpus, or in
//! the files that it writes. An implementation can show more than one reading of a disagreement.

mod report;
mod signs;
mod table;
mod task;

use std::io;

pub use report::Fingerprint;
pub use signs::{HIDDEN, SIGNS, Shows, Sign};
use table::DISAGREEMENTS;
use task::Asked;

use crate::corpus;
use crate::protocol::Manifest;
use crate::results::Outcome;
use crate::run::{Pool, Smoke, Work, readings, writings};

/// A subject on which the sources disagree.
#[derive(Debug)]
pub struct Disagreement {
    /// The record, field, enumeration or topic, and its property.
    pub about: &'static str,
    /// The readings of the sources.
    pub readings: &'static [Reading],
}

/// Returns all disagreements, in the order of the reference.
#[must_use]
pub const fn disagreements() -> &'static [Disagreement] {
    DISAGREEMENTS
}

/// A reading of some sources.
#[derive(Debug)]
pub struct Reading {
    /// The reading.
    pub is: &'static str,
    /// The sources that it follows from.
    pub sources: &'static [&'static str],
}

/// Asks an implementation for each sign, and returns the readings that it shows.
///
/// # Errors
///
/// Returns an error if the kit itself cannot continue.
pub fn fingerprint(pool: &Pool<'_>, manifest: &Manifest) -> io::Result<Fingerprint> {
    let (cases, scripts) = (readings(corpus::cases()), writings());
    let asked: Vec<_> = SIGNS
        .iter()
        .flat_map(|sign| asked(sign, &cases, &scripts))
        .filter(|asked| pool.asks(manifest, asked))
        .collect();
    let work = asked.iter().map(|task| Work {
        testee: 0,
        manifest,
        task,
    });
    let results = pool.run(&work.collect::<Vec<_>>(), &|_, _| {})?;
    let found = asked.iter().zip(&results);
    let found = found.filter_map(|(asked, result)| match result.outcome {
        Outcome::Passed => Some((asked.sign, true)),
        Outcome::Failed { .. } => Some((asked.sign, false)),
        Outcome::Skipped { .. } => None,
    });
    Ok(Fingerprint::new(manifest, &found.collect::<Vec<_>>()))
}

/// Returns the cases or scripts of a sign, at most one per wire version.
fn asked<'a>(
    sign: &'a Sign,
    cases: &'a [Box<dyn Smoke>],
    scripts: &'a [Box<dyn Smoke>],
) -> impl Iterator<Item = Asked<'a>> {
    let tasks = match sign.shows {
        Shows::Answer { .. } => cases,
        Shows::Files { .. } => scripts,
    };
    let is_it = move |task: &&dyn Smoke| sign.is_shown_by(&task.about());
    let tasks = tasks.iter().map(AsRef::as_ref).filter(is_it);
    tasks.map(move |task| Asked { sign, task })
}
