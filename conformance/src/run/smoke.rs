//! Checks that an implementation speaks the protocol.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::pool::Pool;
use super::task::{About, Smoke};
use super::warden::{End, Ended};
use crate::protocol::Manifest;
use crate::results::Failure;

/// The maximum number of lines of standard error to quote.
const LINES: usize = 3;
/// The maximum number of characters of a quoted line.
const LETTERS: usize = 500;

/// Runs one simple task for each role, feature and wire version that an implementation claims to
/// support. A persistent process receives the same tasks.
///
/// Fails if a program cannot be started, if an answer violates the protocol, or if a role produces
/// no answer at all. Comparing answers would be meaningless in these cases. The run itself later
/// grades the content of the answers.
///
/// # Errors
///
/// Returns an error if the kit itself cannot continue.
pub fn smoke<'a>(
    pool: &Pool<'_>,
    manifest: &Manifest,
    tasks: impl Iterator<Item = &'a dyn Smoke>,
) -> io::Result<Result<(), String>> {
    let mut seen = BTreeSet::new();
    let tasks: Vec<&dyn Smoke> = tasks
        .filter(|task| task.is_smoke() && pool.asks(manifest, *task))
        .filter(|task| {
            let About {
                role, needs, wire, ..
            } = task.about();
            seen.insert((role, needs, wire))
        })
        .collect();
    let answers = pool.map(&tasks, |task| {
        let form = |ended: &Ended, _: &Path| {
            let form = task.check_form(manifest, ended);
            let form = form.map_err(|broken| (broken.class, broken.message + &last(&ended.stderr)));
            (ended.end.clone(), form)
        };
        Ok(pool.with(manifest, *task, None, form)?.0)
    })?;
    let served = served(pool, manifest, &tasks)?;
    let mut answered = BTreeSet::new();
    let mut silent = Vec::new();
    for (task, (end, form)) in tasks.into_iter().zip(answers) {
        let About { role, name, .. } = task.about();
        let at = |message: &str| format!("{}: {name}: {message}", role.name());
        match (end, form) {
            (End::NotStarted(why), _) => {
                return Ok(Err(format!("{}: cannot be started: {why}", role.name())));
            }
            (_, Ok(true)) => {
                answered.insert(role);
            }
            (_, Ok(false)) => {
                let why = "exit code 77, but its manifest claims support";
                silent.push((role, at(why)));
            }
            (_, Err((Failure::Garbage, message))) => return Ok(Err(at(&message))),
            (_, Err((_, message))) => silent.push((role, at(&message))),
        }
    }
    let mut silent = silent.into_iter();
    let refused = silent.find(|(role, _)| !answered.contains(role));
    Ok(refused.map_or(served, |(_, message)| Err(message)))
}

/// Checks that each persistent process answers the same tasks, each twice: a line too many is in the
/// way of the second answer.
fn served(
    pool: &Pool<'_>,
    manifest: &Manifest,
    tasks: &[&dyn Smoke],
) -> io::Result<Result<(), String>> {
    let tasks = tasks.iter().filter(|task| task.is_served());
    for task in tasks.flat_map(|task| [task, task]) {
        let About { role, name, .. } = task.about();
        let Some(command) = manifest.serve(role) else {
            continue;
        };
        let form = |ended: &Ended, _: &Path| {
            let form = task.check_form(manifest, ended).err()?;
            let why = form.message + &last(&ended.stderr);
            Some(format!("serve.{}: {name}: {why}", role.name()))
        };
        if let (Some(message), _) = pool.with(manifest, *task, Some(command), form)? {
            return Ok(Err(message));
        }
    }
    Ok(Ok(()))
}

/// Returns the last lines of a program's standard error as the end of a sentence.
fn last(stderr: &str) -> String {
    let lines = stderr.lines().filter(|line| !line.trim().is_empty());
    let clipped = |line: &str| line.trim_end().chars().take(LETTERS).collect();
    let mut lines: Vec<String> = lines.rev().take(LINES).map(clipped).collect();
    lines.reverse();
    if lines.is_empty() {
        return String::new();
    }
    format!("; standard error ends with: {}", lines.join("; "))
}
