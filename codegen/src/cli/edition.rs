//! `spec edition`: shows an overlay's changes and the corpus cases that still apply.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use atf_codegen::emit::json::edition;
use atf_spec::breaking::{Category, changes};
use atf_spec::model::RuleSpec;
use serde::Deserialize;

use super::{Context, at, invalid, print};

/// Options of `spec edition`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  $ atf-codegen --overlay spec/experiments/vendor spec edition")]
pub(super) struct Options {
    /// The corpus's folder [default: `conformance/corpus` next to the spec]
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
}

/// The list of a corpus's tables, by path.
#[derive(Deserialize)]
struct Corpus {
    tables: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Table {
    cases: Vec<Case>,
    #[serde(default)]
    large: Vec<Case>,
}

/// The rules that a case tests or breaks.
#[derive(Deserialize)]
struct Case {
    name: String,
    rules: Vec<String>,
    #[serde(default)]
    broken: Vec<Broken>,
}

#[derive(Deserialize)]
struct Broken {
    rule: String,
}

pub(super) fn run(options: &Options, context: &Context<'_>) -> io::Result<ExitCode> {
    match summary(options.corpus.as_deref(), context)? {
        Ok(summary) => print(io::stdout(), &summary).map(|()| ExitCode::SUCCESS),
        Err(refused) => Ok(refused),
    }
}

/// Returns what the overlay changes and which cases still apply, or the exit status if the spec
/// without the overlay has faults.
pub(super) fn summary(
    corpus: Option<&Path>,
    context: &Context<'_>,
) -> io::Result<Result<String, ExitCode>> {
    let base = atf_spec::compile_with(context.origin, None);
    let (Some(spec), Some(before)) = (&base.spec, base.layout()) else {
        return super::refuse(&base.files, &base.faults).map(Err);
    };
    let after = edition(&context.layout, context.spec);
    let changes = changes(&edition(&before, spec), &after);
    let changes = changes
        .iter()
        .filter(|change| change.category > Category::Documents);
    let changed: BTreeSet<&str> = changes.map(|change| change.subject.as_str()).collect();
    let mut out = String::new();
    for subject in &changed {
        let _ = writeln!(out, "changed: {subject}");
    }
    let is_affected = |rule: &RuleSpec| {
        let mut about = rule.about.iter().map(|about| about.as_str());
        changed.contains(rule.id.as_str()) || about.any(|about| changed.contains(about))
    };
    let rules = context.spec.all_rules().filter(|rule| is_affected(rule));
    let rules: BTreeSet<&str> = rules.map(|rule| rule.id.as_str()).collect();
    let in_checkout = context.root.as_ref();
    let in_checkout = in_checkout.map(|root| root.join("conformance/corpus"));
    let Some(folder) = corpus.map(Path::to_owned).or(in_checkout) else {
        out.push_str("name the corpus's folder with --corpus to list the cases that still apply\n");
        return Ok(Ok(out));
    };
    let corpus: Corpus = json(&folder.join("corpus.json")).map_err(|error| {
        let remedy = "name the corpus's folder with --corpus; a checkout has it in";
        invalid(format!("{error}; {remedy} conformance/corpus"))
    })?;
    let tests_changes = |case: &Case| {
        let broken = case.broken.iter().map(|broken| &broken.rule);
        let mut tested = case.rules.iter().chain(broken);
        tested.any(|rule| rules.contains(rule.as_str()))
    };
    let (mut all, mut affected) = (0, Vec::new());
    for table in &corpus.tables {
        let table: Table = json(&folder.join(table))?;
        all += table.cases.len() + table.large.len();
        let cases = table.cases.into_iter().chain(table.large);
        affected.extend(cases.filter(tests_changes).map(|case| case.name));
    }
    let applying = all - affected.len();
    let version = context.spec.editions.corpus.version.as_str();
    let _ = writeln!(
        out,
        "{applying} of {all} cases of corpus {version} apply as they are"
    );
    if !affected.is_empty() {
        let _ = writeln!(out, "these test what the overlay changes; check each:");
    }
    for name in affected {
        let _ = writeln!(out, "  {name}");
    }
    Ok(Ok(out))
}

fn json<T: for<'de> Deserialize<'de>>(path: &Path) -> io::Result<T> {
    let text = fs::read_to_string(path).map_err(|error| at(path, error))?;
    serde_json::from_str(&text).map_err(|error| at(path, error))
}
