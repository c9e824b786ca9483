//! The implementations' results: read from the kit's JSON reports, and as pages show them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use atf_report::badge::Mood;
use atf_report::{Editions, Printable};
use serde::Deserialize;
use serde_json::{Value, json};

/// The version of the JSON reports that can be shown.
const FORMAT: u64 = 2;

/// The name of a report's file.
const FILE: &str = "results.json";

#[derive(Deserialize)]
struct Format {
    format: u64,
}

#[derive(Deserialize)]
struct Report {
    editions: Editions,
    testees: Vec<Testee>,
    made: Option<Made>,
    cases: Vec<Answer>,
    cross: Vec<Pair>,
}

#[derive(Deserialize)]
struct Made {
    at: String,
}

/// An implementation, as a report describes it.
#[derive(Deserialize)]
pub(crate) struct Testee {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) url: Option<String>,
    pub(crate) roles: Vec<String>,
    pub(crate) wire: Vec<u8>,
    pub(crate) features: Vec<String>,
    /// Why it was not graded.
    pub(crate) refused: Option<String>,
}

/// The result of one case in one role.
#[derive(Deserialize)]
pub(crate) struct Answer {
    testee: usize,
    pub(crate) case: String,
    pub(crate) role: String,
    outcome: Outcome,
    /// The reason in the failure list.
    pub(crate) listed: Option<String>,
    #[serde(default)]
    pub(crate) class: String,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default)]
    differences: Vec<Difference>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Passed,
    Skipped,
    Failed,
}

/// A difference from the expected result.
#[derive(Deserialize)]
struct Difference {
    rule: Option<String>,
}

/// All results.
#[derive(Default)]
pub(crate) struct Results {
    /// By name.
    pub(crate) all: Vec<Implementation>,
    /// The results of each reader on each writer's files, by their names.
    pub(crate) pairs: BTreeMap<(String, String), Pair>,
}

/// The latest versions' answers by case.
pub(crate) type ByCase<'a> = BTreeMap<&'a str, Vec<(&'a Implementation, &'a Answer)>>;

/// An implementation with at least one graded version.
pub(crate) struct Implementation {
    pub(crate) name: String,
    /// The name in addresses.
    pub(crate) slug: String,
    /// Oldest first.
    pub(crate) versions: Vec<Version>,
}

/// A version's results.
pub(crate) struct Version {
    pub(crate) testee: Testee,
    pub(crate) editions: Editions,
    /// The time of the run.
    pub(crate) at: String,
    pub(crate) answers: Vec<Answer>,
    file: PathBuf,
}

/// The results of a reader on a writer's files.
#[derive(Deserialize)]
pub(crate) struct Pair {
    writer: usize,
    reader: usize,
    pub(crate) passed: usize,
    /// The scripts, each with the reason.
    pub(crate) failed: Vec<(String, String)>,
    pub(crate) known: usize,
    pub(crate) skipped: usize,
    /// The time of the run.
    #[serde(default)]
    at: String,
}

impl Answer {
    pub(crate) fn is_failed(&self) -> bool {
        self.outcome == Outcome::Failed
    }

    pub(crate) fn is_passed(&self) -> bool {
        self.outcome == Outcome::Passed
    }

    /// Returns the state in reports: a failure on the implementation's list is known.
    pub(crate) const fn state(&self) -> &'static str {
        match (self.outcome, &self.listed) {
            (Outcome::Passed, _) => "passed",
            (Outcome::Skipped, _) => "skipped",
            (Outcome::Failed, Some(_)) => "known",
            (Outcome::Failed, None) => "failed",
        }
    }

    /// Returns the rules that the answer broke.
    pub(crate) fn broken(&self) -> impl Iterator<Item = &str> {
        let rules = self.differences.iter();
        rules.filter_map(|difference| difference.rule.as_deref())
    }
}

impl Version {
    /// Counts the answers in a [state](Answer::state).
    pub(crate) fn count(&self, state: &str) -> usize {
        let answers = self.answers.iter();
        answers.filter(|answer| answer.state() == state).count()
    }

    pub(crate) fn failures(&self) -> impl Iterator<Item = &Answer> {
        self.answers.iter().filter(|answer| answer.is_failed())
    }
}

impl Implementation {
    /// Returns the latest version.
    pub(crate) fn latest(&self) -> &Version {
        &self.versions[self.versions.len() - 1]
    }
}

impl Results {
    /// Reads every `results.json` below a folder.
    ///
    /// # Errors
    ///
    /// Returns a message with the path if a folder has no report, if a file is not the JSON report
    /// of a run, or if two files have the same version of an implementation.
    pub(crate) fn read(folder: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        find(folder, &mut files)?;
        let mut results = Self::default();
        for file in &files {
            results.add(file)?;
        }
        results.all.sort_by(|a, b| a.slug.cmp(&b.slug));
        for pair in results.all.windows(2) {
            if let [a, b] = pair
                && (a.slug == b.slug || b.slug.is_empty())
            {
                let why = format!("{} and {} have the same address", a.name, b.name);
                return Err(at(&b.latest().file, &why));
            }
        }
        for one in &mut results.all {
            let key = |version: &Version| (version.at.clone(), version.testee.version.clone());
            one.versions.sort_by_key(key);
        }
        Ok(results)
    }

    fn add(&mut self, file: &Path) -> io::Result<()> {
        let text = fs::read(file).map_err(|error| at(file, &error))?;
        let no_report = |error: serde_json::Error| {
            let expected = "expected the JSON report of a run (atf-conformance run --report json)";
            at(file, &format!("{expected}: {error}"))
        };
        let Format { format } = serde_json::from_slice(&text).map_err(no_report)?;
        if format != FORMAT {
            let why = format!("expected format {FORMAT}, found {format}");
            return Err(at(file, &why));
        }
        let report: Report = serde_json::from_slice(&text).map_err(no_report)?;
        let made = report.made.map_or_else(String::new, |made| made.at);
        let names: Vec<_> = report.testees.iter().map(|it| it.name.clone()).collect();
        let named = |testee: usize, place: &str| {
            let why = || format!("{place}: {testee}, of {} testees", names.len());
            names.get(testee).ok_or_else(|| at(file, &why()))
        };
        let mut answers: Vec<Vec<Answer>> = names.iter().map(|_| Vec::new()).collect();
        for (position, answer) in report.cases.into_iter().enumerate() {
            named(answer.testee, &format!("cases[{position}].testee"))?;
            answers[answer.testee].push(answer);
        }
        for (position, mut pair) in report.cross.into_iter().enumerate() {
            let writer = named(pair.writer, &format!("cross[{position}].writer"))?;
            let reader = named(pair.reader, &format!("cross[{position}].reader"))?;
            let place = (writer.clone(), reader.clone());
            pair.at.clone_from(&made);
            if self.pairs.get(&place).is_none_or(|known| known.at <= made) {
                self.pairs.insert(place, pair);
            }
        }
        for (testee, answers) in report.testees.into_iter().zip(answers) {
            let version = Version {
                testee,
                editions: report.editions.clone(),
                at: made.clone(),
                answers,
                file: file.to_owned(),
            };
            self.add_version(version)?;
        }
        Ok(())
    }

    fn add_version(&mut self, version: Version) -> io::Result<()> {
        let (name, number) = (&version.testee.name, &version.testee.version);
        let Some(known) = self.all.iter_mut().find(|known| known.name == *name) else {
            self.all.push(Implementation {
                name: name.clone(),
                slug: slug(name),
                versions: vec![version],
            });
            return Ok(());
        };
        let mut others = known.versions.iter();
        if let Some(same) = others.find(|other| other.testee.version == *number) {
            let why = format!("{name} {number} is also in {}", same.file.display());
            return Err(at(&version.file, &why));
        }
        known.versions.push(version);
        Ok(())
    }

    pub(crate) fn by_case(&self) -> ByCase<'_> {
        let mut cases = ByCase::new();
        for one in &self.all {
            for answer in &one.latest().answers {
                cases.entry(&answer.case).or_default().push((one, answer));
            }
        }
        cases
    }
}

fn at(path: &Path, why: &dyn std::fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {why}", Printable(path.display())))
}

/// Collects the reports below a folder. Each folder contains a report, or folders that contain one.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = fs::read_dir(folder).map_err(|error| at(folder, &error))?;
    let paths: io::Result<Vec<_>> = entries.map(|entry| entry.map(|it| it.path())).collect();
    let mut paths = paths.map_err(|error| at(folder, &error))?;
    paths.sort();
    let before = files.len();
    for path in paths {
        if path.is_dir() {
            find(&path, files)?;
        } else if path.file_name().is_some_and(|name| name == FILE) {
            files.push(path);
        }
    }
    if files.len() == before {
        let why = format!("expected a {FILE} here or in a folder below");
        return Err(at(folder, &why));
    }
    Ok(())
}

/// Returns a name for addresses: letters and digits in lower case, and hyphens.
fn slug(name: &str) -> String {
    let letters = name.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() => letter.to_ascii_lowercase(),
        _ => '-',
    });
    letters.collect::<String>().trim_matches('-').to_owned()
}

/// Returns an implementation's answer to a case.
pub(crate) fn shown(one: &Implementation, answer: &Answer) -> Value {
    json!({
        "name": one.name,
        "slug": one.slug,
        "role": answer.role,
        "state": answer.state(),
        "class": answer.class,
        "message": answer.message,
        "listed": answer.listed,
    })
}

/// Returns an implementation's row in lists.
pub(crate) fn summary(one: &Implementation) -> Value {
    let testee = &one.latest().testee;
    let url = testee.url.as_ref();
    let mut row = history(one.latest(), None);
    row["name"] = json!(one.name);
    row["slug"] = json!(one.slug);
    row["url"] = json!(url.filter(|url| url.starts_with("https://")));
    row["roles"] = json!(testee.roles.join(", "));
    row["wire"] = json!(testee.wire);
    row["features"] = json!(testee.features.join(", "));
    row["words"] = json!(badge_words(one.latest()).0);
    row
}

/// Returns a version's row, with the number of changes since the previous version.
pub(crate) fn history(version: &Version, before: Option<&Version>) -> Value {
    let failures = |version: &Version| {
        let failures = version.failures();
        let names = failures.map(|answer| (answer.role.clone(), answer.case.clone()));
        names.collect::<BTreeSet<_>>()
    };
    let change = before.map(|before| {
        let (old, new) = (failures(before), failures(version));
        [old.difference(&new).count(), new.difference(&old).count()]
    });
    json!({
        "version": version.testee.version,
        "refused": version.testee.refused,
        "day": version.at.split('T').next(),
        "corpus": version.editions.corpus,
        "passed": version.count("passed"),
        "failed": version.count("failed"),
        "known": version.count("known"),
        "skipped": version.count("skipped"),
        "change": change,
    })
}

/// Returns a badge's words and colour.
pub(crate) fn badge_words(version: &Version) -> (String, Mood) {
    let [passed, failed, known] = ["passed", "failed", "known"].map(|it| version.count(it));
    match (passed, failed, known) {
        (0, 0, 0) => ("nothing graded".to_owned(), Mood::Nothing),
        (_, 0, 0) => (format!("{passed} passed"), Mood::Good),
        (_, 0, _) => (format!("{passed} passed, {known} known"), Mood::Known),
        _ => (
            format!("{failed} of {} failed", passed + failed + known),
            Mood::Bad,
        ),
    }
}
