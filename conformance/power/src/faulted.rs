//! Compares a mutant's answers with the original's on the corpus's files with random faults, and on
//! random scripts.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use std::{fs, thread};

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use atf_conformance::corpus::{self, Case};
use atf_conformance::lacks::omit_unasked;
use atf_conformance::protocol::{Feature, Manifest};
use atf_conformance::reference;
use atf_conformance::results::{Outcome, Role};
use atf_conformance::run::Reading;
use atf_conformance::scripts::{Script, Scripted, scripts};
use atf_conformance::{Checked, verdict_in, written};
use atf_samples::tree;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Fault;
use crate::chance::Chance;

/// How the answers differ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Compared {
    Same,
    /// The first different answer. All of them are allowed.
    Allowed(String),
    /// The first answer that is not allowed.
    Wrong(String),
}

/// The rules whose violations allow more than one document in the protocol.
const CHOICES: [&str; 4] = [
    "ATF-MANI-002",
    "ATF-MANI-003",
    "ATF-LINK-008",
    "ATF-DFTR-002",
];

/// A persistent process.
struct Served {
    command: Vec<String>,
    running: Option<Running>,
}

/// The process, its input and the lines of its output.
type Running = (Child, ChildStdin, Receiver<String>);

impl Served {
    fn new(manifest: &Manifest, role: Role) -> Option<Self> {
        let command = manifest.serve(role)?.to_vec();
        let running = None;
        Some(Self { command, running })
    }

    /// Returns the answer, or `None` if the process crashed, hung or refused.
    fn ask(&mut self, request: &Value) -> io::Result<Option<String>> {
        let (_, stdin, lines) = match &mut self.running {
            Some(running) => running,
            None => self.running.insert(start(&self.command)?),
        };
        let sent = writeln!(stdin, "{request}").and_then(|()| stdin.flush());
        let answer = match sent {
            Ok(()) => lines.recv_timeout(Duration::from_secs(2)).ok(),
            Err(_) => None,
        };
        if answer.is_none() {
            self.end();
        }
        Ok(answer)
    }

    fn end(&mut self) {
        if let Some((mut child, ..)) = self.running.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn start(command: &[String]) -> io::Result<Running> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::NotFound)?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let stdin = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let (send, lines) = channel();
    thread::spawn(move || {
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        lines.try_for_each(|line| send.send(line))
    });
    Ok((child, stdin, lines))
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
    }
}

/// The digests of the original's answers on the faulted files, for each worker. They are the same for
/// each mutant.
pub(crate) type Digests = [Vec<u64>; WORKERS];

/// The number of files that are compared in parallel.
const WORKERS: usize = 2;

/// Compares the readers on `count` faulted files.
pub(crate) fn read(
    original: &Manifest,
    mutant: &Manifest,
    count: usize,
    folder: &Path,
    digests: &mut Digests,
) -> Result<Compared, Fault> {
    let cases = corpus::cases().into_iter().filter(|case| {
        let feature: Feature = case.subject.into();
        let is_small = case.files.values().map(Vec::len).sum::<usize>() < 1 << 14;
        original.wire.contains(&case.wire) && original.has(feature) && is_small
    });
    let cases: Vec<_> = cases.collect();
    let compared = thread::scope(|scope| {
        let workers = digests.iter_mut().zip(1..).map(|(digests, seed)| {
            let (cases, folder) = (&cases, folder.join(seed.to_string()));
            scope.spawn(move || {
                let chance = Chance::new(seed);
                let (count, manifests) = (count / WORKERS, [original, mutant]);
                read_part(manifests, cases, count, &folder, chance, digests)
                    .map_err(|error| error.to_string())
            })
        });
        let workers: Vec<_> = workers.collect();
        let joined = workers
            .into_iter()
            .map(|it| it.join().map_err(|_| "a panic")?);
        joined.collect::<Result<Vec<_>, String>>()
    })?;
    Ok(compared.into_iter().max().unwrap_or(Compared::Same))
}

fn read_part(
    [original, mutant]: [&Manifest; 2],
    cases: &[Case],
    count: usize,
    folder: &Path,
    mut chance: Chance,
    digests: &mut Vec<u64>,
) -> Result<Compared, Fault> {
    let (Some(mut one), Some(mut other)) = (
        Served::new(original, Role::Read),
        Served::new(mutant, Role::Read),
    ) else {
        return Ok(Compared::Same);
    };
    let mut places = Vec::new();
    for (seq, case) in cases.iter().enumerate() {
        let place = folder.join(seq.to_string());
        fs::create_dir_all(&place)?;
        case.write(&place)?;
        places.push(place);
    }
    let files = cases.iter().flat_map(|case| case.files.values());
    let others: Vec<&[u8]> = files.map(Vec::as_slice).collect();
    let mut allowed = None;
    for seq in 0..count {
        let chosen = chance.below(cases.len());
        let (case, place) = (&cases[chosen], &places[chosen]);
        let files: Vec<_> = case
            .files
            .iter()
            .filter(|(path, _)| case.path.is_empty() || **path == case.path)
            .collect();
        if files.is_empty() {
            if seq == digests.len() {
                digests.push(0);
            }
            continue;
        }
        let (path, bytes) = files[chance.below(files.len())];
        let faulted = chance.fault(bytes, &others);
        fs::write(place.join(path), &faulted)?;
        let subject = place.join(&case.path);
        let request = json!(subject);
        let got = other.ask(&request)?;
        if digests.get(seq) == Some(&digest(got.as_deref())) {
            fs::write(place.join(path), bytes)?;
            continue;
        }
        let expected = one.ask(&request)?;
        if seq == digests.len() {
            digests.push(digest(expected.as_deref()));
        }
        let difference = |why: &str| {
            let answers = around(expected.as_deref(), got.as_deref());
            format!(
                "{} with {path} = {}: {why}: {answers}",
                case.name,
                hex(&faulted)
            )
        };
        if expected != got {
            // A starter's answer may be wrong.
            let right = || reference::read(&subject).to_string();
            let grade =
                |expected: Option<&str>| grade(case, place, expected, got.as_deref(), mutant);
            if grade(expected.as_deref()).is_err()
                && let Err(why) = grade(Some(&right()))
            {
                return Ok(Compared::Wrong(difference(&why)));
            }
            allowed.get_or_insert_with(|| difference("allowed"));
        }
        fs::write(place.join(path), bytes)?;
    }
    Ok(allowed.map_or(Compared::Same, Compared::Allowed))
}

/// Grades a reader's answer as in a case that expects the document of the original or the
/// reference. Returns why the answer is not allowed.
fn grade(
    case: &Case,
    place: &Path,
    expected: Option<&str>,
    got: Option<&str>,
    manifest: &Manifest,
) -> Result<(), String> {
    let parse = |text: Option<&str>| serde_json::from_str::<Value>(text?).ok();
    let (Some(mut expected), Some(got)) = (parse(expected), parse(got)) else {
        return Err("no document".to_owned());
    };
    omit_unasked(&mut expected, &got);
    if expected == got {
        return Ok(());
    }
    let verdict = verdict_in(&got).ok_or("no verdict")?;
    let checked = Checked::new(&place.join(&case.path));
    let found = checked.findings().filter_map(|(report, it)| {
        let path = report.path.strip_prefix(place).ok()?.to_str()?;
        Some((path, it.rule.id))
    });
    let broken: Vec<_> = found.collect();
    // Readers may use such a manifest, and may read or reject such a detail.atf.
    if broken.iter().any(|(_, rule)| CHOICES.contains(rule)) {
        return Ok(());
    }
    let mut graded = Case {
        expected,
        alternatives: Vec::new(),
        ..case.clone()
    };
    graded.judge(&broken);
    graded.path.clear();
    match Reading::new(Role::Read, Arc::new(graded)).compare(manifest, verdict, &got) {
        Outcome::Passed => Ok(()),
        outcome => Err(format!("{outcome:?}")),
    }
}

/// Compares the writers on `count` scripts.
pub(crate) fn write(
    original: &Manifest,
    mutant: &Manifest,
    count: usize,
    folder: &Path,
) -> Result<Compared, Fault> {
    let (Some(mut one), Some(mut other)) = (
        Served::new(original, Role::Write),
        Served::new(mutant, Role::Write),
    ) else {
        return Ok(Compared::Same);
    };
    let features = mutant.feature_names();
    let mut chance = Chance::new(2);
    let mut allowed = None;
    for _ in 0..count {
        let text = chance.script(original);
        let script = folder.join("script");
        fs::write(&script, &text)?;
        let mut files = Vec::new();
        for (served, name) in [(&mut one, "one"), (&mut other, "other")] {
            let out = folder.join(name);
            empty(&out)?;
            let answer = served.ask(&json!([script, out]))?;
            files.push((answer, tree(&out)?));
        }
        if files[0] == files[1] {
            continue;
        }
        let parsed: Script = text.parse().map_err(|error| format!("{text}: {error}"))?;
        // Every script has the wire version of its first line.
        let wire = if text.contains(" wire=1 ") { 1 } else { 2 };
        let scripted = Scripted {
            script: parsed,
            is_platform_exact: false,
            limit: None,
            is_deep: false,
            ..scripts(wire).swap_remove(0)
        };
        let graded = written::grade(&scripted, &features, &folder.join("other"));
        if files[1].0.as_deref() != Some("0") || graded.outcome != Outcome::Passed {
            return Ok(Compared::Wrong(format!("{text}: {:?}", graded.outcome)));
        }
        allowed.get_or_insert(text);
    }
    Ok(allowed.map_or(Compared::Same, Compared::Allowed))
}

/// Makes a folder empty, or creates it.
pub(crate) fn empty(folder: &Path) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)
}

fn digest(answer: Option<&str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    answer.hash(&mut hasher);
    hasher.finish()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Shows where two answers begin to differ.
fn around(one: Option<&str>, other: Option<&str>) -> String {
    let (one, other) = (one.unwrap_or("no answer"), other.unwrap_or("no answer"));
    let same = one
        .bytes()
        .zip(other.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let part = |text: &str| {
        let letters = text.bytes().skip(same.saturating_sub(40)).take(100);
        letters.map(char::from).collect::<String>()
    };
    format!("…{}… | …{}…", part(one), part(other))
}
