//! Finds out which source an implementation follows where the sources disagree.
//!
//! Each reading of a disagreement has a sign in an implementation's answers to the corpus, or in
//! the files that it writes. An implementation can show several readings of one disagreement.

mod report;
mod signs;
mod table;
mod task;

use std::io;

pub use report::{Fingerprint, Shown};
use signs::{HIDDEN, SIGNS, Shows, Sign};
use table::DISAGREEMENTS;
use task::Asked;

use crate::corpus;
use crate::protocol::Manifest;
use crate::results::{Outcome, Role};
use crate::run::{Pool, Smoke, Work, readings, writings};

/// A subject on which the sources disagree.
#[derive(Debug)]
struct Disagreement {
    /// The record, field, enumeration or topic, and its property.
    about: &'static str,
    readings: &'static [Reading],
}

/// A reading of some sources.
#[derive(Debug)]
struct Reading {
    is: &'static str,
    sources: &'static [&'static str],
}

/// Asks an implementation for each sign, and returns the readings that it shows. Calls `progress`
/// with the number of finished tasks and the total number.
///
/// # Errors
///
/// Returns an error if the kit itself cannot continue.
pub fn fingerprint(
    pool: &Pool<'_>,
    manifest: &Manifest,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> io::Result<Fingerprint> {
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
    let results = pool.run(&work.collect::<Vec<_>>(), progress)?;
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
    let (tasks, role, name) = match sign.shows {
        Shows::Answer { case, .. } => (cases, Role::Read, case),
        Shows::Files { script, .. } => (scripts, Role::Write, script),
    };
    let is_it = move |task: &&dyn Smoke| {
        let about = task.about();
        let slug = about.name.split_once('/').map_or("", |(_, slug)| slug);
        about.role == role && (about.name == name || slug == name)
    };
    let tasks = tasks.iter().map(AsRef::as_ref).filter(is_it);
    tasks.map(move |task| Asked { sign, task })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_disagreement_has_signs_of_two_readings_or_a_reason_why_no_file_shows_them() {
        let (cases, scripts) = (readings(corpus::cases()), writings());
        for Disagreement { about, readings } in DISAGREEMENTS {
            let signs = SIGNS.iter().filter(|sign| sign.about == *about);
            let mut shown: Vec<_> = signs.map(|sign| sign.is).collect();
            shown.sort_unstable();
            shown.dedup();
            let is_hidden = HIDDEN.iter().any(|(hidden, _)| hidden == about);
            assert_eq!(shown.len() >= 2, !is_hidden, "{about}: {shown:?}");
            assert!(
                shown
                    .iter()
                    .all(|is| readings.iter().any(|it| it.is == *is)),
                "{about}: {shown:?}"
            );
        }
        for sign in SIGNS {
            assert!(
                DISAGREEMENTS.iter().any(|it| it.about == sign.about),
                "{sign:?}"
            );
            assert!(asked(sign, &cases, &scripts).next().is_some(), "{sign:?}");
        }
    }
}
