//! `spec edition`: shows an overlay's changes and the corpus cases that still apply.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use atf_spec::layout::{Field, Layout};
use atf_spec::load::Spec;
use serde::Deserialize;

use super::Context;
use super::text::print;

/// Options of `spec edition`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  $ atf-codegen --overlay spec/experiments/vendor spec edition")]
pub(super) struct Options {
    /// The corpus's folder [default: `conformance/corpus` beside the spec]
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
    let base_layout = base.layout();
    let (Some(spec), Some(before)) = (&base.spec, &base_layout) else {
        return super::refuse(&base.files, &base.faults).map(Err);
    };
    let after = atf_spec::resolve::resolve(context.spec);
    let changed = changed_subjects(before, &after);
    let mut out = String::new();
    for subject in changed.iter().chain(&new_keys(spec, context.spec)) {
        let _ = writeln!(out, "changed: {subject}");
    }
    let rules: BTreeSet<&str> = context
        .spec
        .all_rules()
        .filter(|(_, rule)| {
            rule.about
                .iter()
                .any(|about| changed.contains(about.as_str()))
        })
        .map(|(_, rule)| rule.id.as_str())
        .collect();
    let in_checkout = context.root.as_ref();
    let in_checkout = in_checkout.map(|root| root.join("conformance/corpus"));
    let Some(folder) = corpus.map(Path::to_owned).or(in_checkout) else {
        out.push_str("name the corpus's folder with --corpus to list the cases that still apply\n");
        return Ok(Ok(out));
    };
    let corpus: Corpus = json(&folder.join("corpus.json")).map_err(|error| {
        let remedy = "name the corpus's folder with --corpus; a checkout has it in";
        io::Error::other(format!("{error}; {remedy} conformance/corpus"))
    })?;
    let tests_changes = |case: &Case| {
        let broken = case.broken.iter().map(|broken| &broken.rule);
        let mut tested = case.rules.iter().chain(broken);
        tested.any(|rule| rules.contains(rule.as_str()))
    };
    let (mut all, mut affected) = (0, Vec::new());
    for table in &corpus.tables {
        let table: Table = json(&folder.join(table))?;
        all += table.cases.len();
        affected.extend(
            table
                .cases
                .into_iter()
                .filter(tests_changes)
                .map(|case| case.name),
        );
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

/// Returns the fields and enumerations that differ between the layouts in at least one wire version
/// that both have.
fn changed_subjects(before: &Layout, after: &Layout) -> BTreeSet<String> {
    let mut changed = BTreeSet::new();
    for record in &after.records {
        let Some(old) = before.record(&record.name) else {
            changed.insert(record.name.clone());
            continue;
        };
        for layout in &record.layouts {
            let Some(old) = old.layout(layout.wire) else {
                continue;
            };
            let gone = old
                .fields
                .iter()
                .filter(|field| !layout.fields.iter().any(|new| same(field, new)));
            let new = layout
                .fields
                .iter()
                .filter(|field| !old.fields.iter().any(|old| same(field, old)));
            changed.extend(
                gone.chain(new)
                    .map(|field| format!("{}.{}", record.name, field.key())),
            );
        }
    }
    for enumeration in &after.enums {
        let values = |layout: &Layout| -> Option<Vec<u64>> {
            let members = &layout.enumeration(&enumeration.name)?.members;
            Some(members.iter().map(|member| member.value).collect())
        };
        if values(before) != values(after) {
            changed.insert(enumeration.name.clone());
        }
    }
    changed
}

/// Returns whether two fields have the same encoding.
fn same(a: &Field, b: &Field) -> bool {
    let facts = |field: &Field| {
        (
            field.offset,
            field.ty,
            field.value.clone(),
            field.none,
            field.max,
        )
    };
    a.key() == b.key() && facts(a) == facts(b)
}

/// Returns the manifest's new keys. They do not affect any case, because readers ignore unknown
/// keys.
fn new_keys(before: &Spec, after: &Spec) -> BTreeSet<String> {
    let keys = |spec: &Spec| -> BTreeSet<String> {
        let objects = spec.manifest.objects.iter();
        let keys = objects.flat_map(|object| {
            let fields = object.fields.iter();
            fields.map(move |field| format!("manifest.json: {}.{}", object.object, field.name))
        });
        keys.collect()
    };
    &keys(after) - &keys(before)
}

fn json<T: for<'de> Deserialize<'de>>(path: &Path) -> io::Result<T> {
    let at =
        |error: &dyn std::fmt::Display| io::Error::other(format!("{}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| at(&error))?;
    serde_json::from_str(&text).map_err(|error| at(&error))
}
