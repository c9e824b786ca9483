//! `spec breaking`: lists the changes between two editions, and what they break.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use atf_codegen::emit::json::edition;
use atf_spec::breaking::{Category, Change, changes, members};
use atf_spec::layout::Layout;
use atf_spec::origin::Origin;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::Value;

use super::{Cli, at, invalid, origin, print, refuse};

/// Options of `spec breaking`.
#[derive(clap::Args)]
#[command(
    after_help = "Exit status without --fail-on and --versions: 0 no changes; 3 documents; 4 additions; \
                  5 manifest; 6 rules; 7 rust; 8 c; 9 wire, the highest of them; 2 an edition that \
                  cannot be read or has faults.\n\n\
                  Example:\n  $ atf-codegen spec breaking spec/released/0.1.0/layout.json --fail-on c"
)]
pub(super) struct Options {
    /// The older edition: a layout.json or a spec's folder [default: the last release in
    /// `released` in the current spec's folder]
    old: Option<PathBuf>,
    /// The newer edition [default: the current spec, with the overlay if there is one]
    new: Option<PathBuf>,
    /// Exit with status 1 if there is a change of this category or a higher one, and otherwise
    /// with 0
    #[arg(long, value_name = "CATEGORY", value_parser = category_parser())]
    fail_on: Option<Category>,
    /// Exit with status 1 if NEW does not raise the versions of the spec and the rules as these
    /// changes require, and otherwise with 0
    #[arg(long)]
    versions: bool,
}

fn category_parser() -> impl TypedValueParser<Value = Category> {
    let names = Category::ALL.iter().map(|category| category.name());
    PossibleValuesParser::new(names).map(|name| {
        let mut all = Category::ALL.iter().copied();
        all.find(|it| it.name() == name).expect("a possible value")
    })
}

pub(super) fn run(options: &Options, cli: &Cli) -> io::Result<ExitCode> {
    if options.new.is_some() && (cli.spec.is_some() || cli.overlay.is_some()) {
        let why = "--spec and --overlay make the current spec, so NEW must be left out";
        return Err(invalid(why));
    }
    let (old, new) = match (&options.old, &options.new) {
        (Some(old), Some(new)) => (read(old)?, read(new)?),
        (old, _) => {
            let current = origin(cli)?;
            let old = match old {
                Some(old) => read(old)?,
                None => read(&last_release(&current)?)?,
            };
            (old, compile(&current, cli.overlay.as_deref())?)
        }
    };
    let (Some(old), Some(new)) = (old, new) else {
        return Ok(ExitCode::from(2));
    };
    let found = changes(&old, &new);
    let mut out = list(&found);
    for (one, other, name) in [(&old, &new, "OLD"), (&new, &old, "NEW")] {
        for key in members(one).filter(|key| other.get(key).is_none()) {
            let _ = writeln!(out, "not compared: {key}, which only {name} has");
        }
    }
    let mut is_announced = true;
    for of in ["spec", "rules"] {
        let version = |edition: &Value| version(edition, of);
        let (Some(old), Some(new)) = (version(&old), version(&new)) else {
            continue;
        };
        if let Some(needed) = needed(old, &found, of == "rules") {
            is_announced &= new >= needed;
            let [needed, new] = [needed, new].map(|it| it.map(|part| part.to_string()).join("."));
            let _ = writeln!(out, "needs {of} {needed}, has {new}");
        }
    }
    print(io::stdout(), &out)?;
    let highest = found.iter().map(|change| change.category).max();
    let fails = highest.is_some() && options.fail_on.is_some_and(|least| highest >= Some(least));
    Ok(match highest {
        _ if fails || options.versions && !is_announced => ExitCode::FAILURE,
        Some(category) if options.fail_on.is_none() && !options.versions => {
            ExitCode::from(3 + category as u8)
        }
        _ => ExitCode::SUCCESS,
    })
}

fn list(changes: &[Change]) -> String {
    let mut out = String::new();
    for of_one in changes.chunk_by(|a, b| a.category == b.category) {
        let category = of_one[0].category;
        let _ = writeln!(out, "{}: {}", category.name(), title(category));
        for change in of_one {
            let wires: Vec<&str> = change.wires.iter().map(String::as_str).collect();
            let wires = match wires.as_slice() {
                [] => String::new(),
                wires => format!(" (wire {})", wires.join(", ")),
            };
            let _ = writeln!(out, "  {}: {}{wires}", change.subject, change.what);
        }
    }
    if changes.is_empty() {
        out.push_str("no changes\n");
    }
    out
}

fn title(category: Category) -> &'static str {
    match category {
        Category::Documents => "only texts differ",
        Category::Additions => "new, and older programs ignore it",
        Category::Manifest => "programs that read or write manifests and session folders",
        Category::Rules => "grades of implementations",
        Category::Rust => "programs compiled with the Rust structs",
        Category::C => "programs compiled with the C headers",
        Category::Wire => "older files and programs",
    }
}

/// Returns the version that these changes require after an older one, if there are any.
fn needed(old: [u64; 3], changes: &[Change], of_rules: bool) -> Option<[u64; 3]> {
    let own = changes.iter().filter(|change| change.is_rule == of_rules);
    let [major, minor, patch] = old;
    Some(match own.map(|change| change.category).max()? {
        Category::Wire | Category::Manifest => [major + 1, 0, 0],
        Category::Rules if of_rules => [major + 1, 0, 0],
        Category::Documents => [major, minor, patch + 1],
        _ => [major, minor + 1, 0],
    })
}

fn version(edition: &Value, of: &str) -> Option<[u64; 3]> {
    let text = edition.get("editions")?.get(of)?.as_str()?;
    let parts: Option<Vec<u64>> = text.split('.').map(|part| part.parse().ok()).collect();
    parts?.try_into().ok()
}

/// Reads an edition: a spec's folder or a layout.json. Returns `None` if the spec has faults, after
/// printing them.
fn read(path: &Path) -> io::Result<Option<Value>> {
    if path.is_dir() {
        if !path.join("records").is_dir() {
            return Err(at(path, "not a spec folder: it has no folder `records`"));
        }
        return compile(&Origin::Folder(path.to_owned()), None);
    }
    let text = fs::read_to_string(path).map_err(|error| at(path, error))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| at(path, error))?;
    match serde_json::from_value::<Layout>(value.clone()) {
        Ok(_) => Ok(Some(value)),
        Err(error) => Err(at(path, format_args!("not a layout.json: {error}"))),
    }
}

fn compile(origin: &Origin, overlay: Option<&Path>) -> io::Result<Option<Value>> {
    let compiled = atf_spec::compile_with(origin, overlay);
    let (Some(layout), Some(spec)) = (compiled.layout(), &compiled.spec) else {
        refuse(&compiled.files, &compiled.faults)?;
        return Ok(None);
    };
    Ok(Some(edition(&layout, spec)))
}

/// Returns the `layout.json` of the last release before or at the current spec.
fn last_release(current: &Origin) -> io::Result<PathBuf> {
    let why = "name OLD: there is no release beside the current spec, in `released/VERSION`";
    let none = || invalid(why);
    let Origin::Folder(spec) = current else {
        return Err(none());
    };
    let releases = fs::read_dir(spec.join("released")).map_err(|_| none())?;
    let releases = releases.filter_map(|entry| Some(entry.ok()?.path()));
    let version = |folder: &PathBuf| -> Option<Vec<u64>> {
        let name = folder.file_name()?.to_str()?;
        name.split('.').map(|part| part.parse().ok()).collect()
    };
    let releases = releases.filter_map(|folder| Some((version(&folder)?, folder)));
    let (_, folder) = releases.max().ok_or_else(none)?;
    Ok(folder.join("layout.json"))
}
