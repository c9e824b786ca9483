//! `generate`: writes the generated files, or lists stale ones. For targets that are not part of
//! this program, `--template` renders a folder of templates, and `--target` runs another program.

use std::collections::BTreeSet;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use atf_codegen::emit;
use atf_codegen::emit::folder::{self, Templates};
use atf_codegen::{GENERATED, GeneratedFile};
use atf_spec::diagnostic::{Diagnostic, Place};
use atf_spec::files::Files;
use clap::ValueEnum;
use serde::Deserialize;

use super::{Context, at, edition, invalid, print, refuse};

/// The largest file of a template folder, in bytes.
const MAX_TEMPLATE: u64 = 4 << 20;

/// The targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Target {
    /// C headers, a Swift module map, and the program that prints their layout
    C,
    /// The library's records and the manifest's objects in Rust
    Rust,
    /// The resolved layout, for the macro and other tools
    Json,
    /// The format's reference: tables, diagrams, rules, and decisions on conflicts
    Markdown,
    /// JSON Schemas for the spec's YAML files and manifest.json
    Schema,
    /// The rules as a table in Rust, for the library's checker
    Rules,
    /// The fuzzers' dictionary
    Dict,
    /// A reader in C++
    Cpp,
    /// A reader in Go
    Go,
    /// A reader in Java
    Java,
    /// Descriptions for Kaitai Struct
    Kaitai,
    /// Entries for file(1)
    Magic,
    /// A reader in Python
    Python,
    /// Arrow and JSON Schemas of the records
    Schemas,
    /// A reader in TypeScript
    Typescript,
}

/// Options of `generate`.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  $ atf-codegen generate --check\n  stale: atf/include/atf_v1.h\n  fix with: cargo run -p atf-codegen -- generate c"
)]
pub(super) struct Options {
    /// Targets to generate [default: all]
    #[arg(value_name = "TARGET")]
    targets: Vec<Target>,
    /// Generate from the templates in this folder instead; see docs/targets.md
    #[arg(long, value_name = "DIR", requires = "out", conflicts_with = "targets")]
    template: Option<PathBuf>,
    /// Take the files from a program, which reads layout.json; see docs/targets.md
    #[arg(long, value_name = "PROGRAM", requires = "out", conflicts_with_all = ["targets", "template"])]
    target: Option<PathBuf>,
    /// Write to this folder instead of the repository's root; required outside a checkout and with
    /// an overlay. With an overlay, also show what it changes and which cases of the corpus still
    /// apply, like `spec edition`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The corpus's folder, for an overlay and --out [default: `conformance/corpus` beside the spec]
    #[arg(long, value_name = "DIR", requires = "out")]
    corpus: Option<PathBuf>,
    /// Write nothing; list stale files and exit with status 1 if there are any
    #[arg(long)]
    check: bool,
}

pub(super) fn run(options: &Options, context: &Context<'_>) -> io::Result<ExitCode> {
    if context.has_overlay && options.out.is_none() && !options.check {
        let why = "with --overlay, name the folder to write with --out DIR; to replace the official \
                   files in a checkout, use --out .";
        return Err(invalid(why));
    }
    let root = options.out.as_ref().or(context.root.as_ref());
    let why = "name the folder to write with --out DIR; only a checkout has a default";
    let root = root.ok_or_else(|| invalid(why))?;
    let is_edition = context.has_overlay && options.out.is_some() && !options.check;
    let summary = is_edition.then(|| edition::summary(options.corpus.as_deref(), context));
    let edition = match summary.transpose()? {
        Some(Ok(summary)) => summary,
        Some(Err(refused)) => return Ok(refused),
        None => String::new(),
    };
    let own = match (&options.template, &options.target) {
        (Some(folder), _) => match rendered(folder, context)? {
            Some(files) => Some(files),
            None => return Ok(ExitCode::FAILURE),
        },
        (None, Some(program)) => Some(answered(program, context)?),
        (None, None) => None,
    };
    if let Some(files) = own {
        let stale = update(root, &files, options.check)?;
        print(io::stdout(), &edition)?;
        return Ok(ExitCode::from(u8::from(stale)));
    }
    let targets: BTreeSet<Target> = if options.targets.is_empty() {
        Target::value_variants().iter().copied().collect()
    } else {
        options.targets.iter().copied().collect()
    };
    let mut stale = BTreeSet::new();
    for target in targets {
        let files = files(target, context);
        if update(root, &files, options.check)? {
            stale.insert(target);
        }
        for path in leftovers(root, &files)? {
            if options.check {
                let line = format!("stale: {path} (no longer generated)\n");
                print(io::stdout(), &line)?;
                stale.insert(target);
            } else {
                let whole = root.join(&path);
                std::fs::remove_file(&whole).map_err(|error| at(&whole, error))?;
                print(io::stdout(), &format!("removed {path}\n"))?;
            }
        }
    }
    print(io::stdout(), &edition)?;
    if stale.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let names = stale.iter().filter_map(ValueEnum::to_possible_value);
    let names: Vec<String> = names.map(|it| it.get_name().to_owned()).collect();
    let names = names.join(" ");
    let program = match &context.root {
        Some(_) => "cargo run -p atf-codegen --",
        None => "atf-codegen",
    };
    let line = format!("fix with: {program} generate {names}\n");
    print(io::stdout(), &line)?;
    Ok(ExitCode::FAILURE)
}

/// Renders the templates in a folder. Returns `None` if one has a fault, which was reported.
fn rendered(dir: &Path, context: &Context<'_>) -> io::Result<Option<Vec<GeneratedFile>>> {
    let mut templates = Templates::new();
    collect(dir, "", &mut templates)?;
    if !templates.keys().any(|path| folder::output(path).is_some()) {
        return Err(at(dir, "no file ends in .jinja"));
    }
    match folder::render(&templates, &context.layout, &context.spec.manifest, "") {
        Ok(files) => Ok(Some(files)),
        Err(error) => {
            let mut files = Files::default();
            let path = error.name().unwrap_or_default();
            let text = templates.get(path).cloned().unwrap_or_default();
            let file = files.add(&dir.join(path).display().to_string(), text);
            let range = error.range().unwrap_or_default();
            let [start, end] = [range.start, range.end].map(|at| u32::try_from(at).unwrap_or(0));
            let place = Place { file, start, end };
            let kind = || error.kind().to_string();
            let why = error.detail().map_or_else(kind, str::to_owned);
            refuse(&files, &[Diagnostic::error(place, why)])?;
            Ok(None)
        }
    }
}

/// Reads the files of a folder, and of those below it. Does not follow symlinks.
fn collect(dir: &Path, prefix: &str, templates: &mut Templates) -> io::Result<()> {
    for entry in std::fs::read_dir(dir).map_err(|error| at(dir, error))? {
        let entry = entry.map_err(|error| at(dir, error))?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name().into_string();
        let name = name.map_err(|_| at(&path, "the name is not UTF-8"))?;
        if kind.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), templates)?;
        } else if kind.is_file() && name.ends_with(".jinja") {
            if entry.metadata()?.len() > MAX_TEMPLATE {
                return Err(at(&path, format_args!("more than {MAX_TEMPLATE} bytes")));
            }
            let text = std::fs::read_to_string(&path).map_err(|error| at(&path, error))?;
            templates.insert(format!("{prefix}{name}"), text);
        }
    }
    Ok(())
}

/// A program's output.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    files: Vec<GeneratedFile>,
}

/// Runs a program with `layout.json` as its standard input, and reads the files from its standard
/// output. Its messages go to standard error.
fn answered(program: &Path, context: &Context<'_>) -> io::Result<Vec<GeneratedFile>> {
    let layout = emit::json::layout(&context.layout, context.spec);
    let failed = |error: io::Error| at(program, error);
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    // In a separate thread, because the program may write before it has read everything.
    let input = child.stdin.take();
    let writer = std::thread::spawn(move || {
        // A program may ignore its input.
        input.map(|mut input| input.write_all(layout.text.as_bytes()))
    });
    let output = child.wait_with_output().map_err(failed)?;
    let _ = writer.join();
    if !output.status.success() {
        return Err(at(program, output.status));
    }
    let answer: Answer = serde_json::from_slice(&output.stdout).map_err(|error| {
        let expected = "standard output: expected {\"files\": [{\"path\": …, \"text\": …}]}";
        at(program, format_args!("{expected}: {error}"))
    })?;
    let mut files: Vec<GeneratedFile> = Vec::new();
    for file in answer.files {
        let path = &file.path;
        // The path is joined to the output folder on every system.
        let is_inside = path
            .split('/')
            .all(|part| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']));
        if !is_inside {
            let why = format!("`{path}` is not a path below the output folder");
            return Err(at(program, why));
        }
        if files.iter().any(|other| other.path == *path) {
            return Err(at(program, format_args!("two files are named `{path}`")));
        }
        files.push(file);
    }
    Ok(files)
}

/// Writes the files that differ, or, with `check`, lists them. Returns whether it listed any.
fn update(root: &Path, files: &[GeneratedFile], check: bool) -> io::Result<bool> {
    let mut is_stale = false;
    for file in files {
        let path = root.join(&file.path);
        let is_fresh = match std::fs::read(&path) {
            Ok(bytes) => bytes == file.text.as_bytes(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(at(&path, error)),
        };
        if is_fresh {
            continue;
        }
        if check {
            print(io::stdout(), &format!("stale: {}\n", file.path))?;
            is_stale = true;
        } else {
            write(root, &file.path, &file.text).map_err(|error| at(&path, error))?;
            print(io::stdout(), &format!("wrote {}\n", file.path))?;
        }
    }
    Ok(is_stale)
}

fn files(target: Target, context: &Context<'_>) -> Vec<GeneratedFile> {
    let (spec, found, layout) = (context.spec, context.found, &context.layout);
    match target {
        Target::C => {
            let mut files = emit::c::headers(layout);
            files.push(emit::c::probe(layout));
            files
        }
        Target::Rust => emit::rust::library(layout, &spec.manifest),
        Target::Json => vec![emit::json::layout(layout, spec)],
        Target::Markdown => emit::markdown::files(spec, found, layout),
        Target::Schema => emit::schema::files(spec),
        Target::Rules => vec![emit::rules::table(spec), emit::rules::readings(spec, found)],
        Target::Dict => vec![emit::dict::dictionary(layout)],
        Target::Cpp
        | Target::Go
        | Target::Java
        | Target::Kaitai
        | Target::Magic
        | Target::Python
        | Target::Schemas
        | Target::Typescript => {
            let target = target.to_possible_value();
            let language = target.as_ref().map_or("", |target| target.get_name());
            emit::readers::render(language, layout, &spec.manifest)
        }
    }
}

/// Returns files that an earlier run generated in the same folders and this run did not. The mark
/// in their first lines identifies them.
fn leftovers(root: &Path, files: &[GeneratedFile]) -> io::Result<Vec<String>> {
    let paths = files.iter().filter_map(|file| file.path.rsplit_once('/'));
    let folders: BTreeSet<&str> = paths.map(|(folder, _)| folder).collect();
    let mark = GENERATED.trim_start_matches("@generated ");
    let mut leftovers = Vec::new();
    for folder in folders {
        let entries = match std::fs::read_dir(root.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(at(&root.join(folder), error)),
        };
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let path = format!("{folder}/{name}");
            if files.iter().any(|file| file.path == path) || !entry.file_type()?.is_file() {
                continue;
            }
            let mut head = Vec::new();
            std::fs::File::open(entry.path())?
                .take(512)
                .read_to_end(&mut head)?;
            let head = String::from_utf8_lossy(&head);
            // A file that merely mentions the mark does so after its first lines.
            if head.lines().take(2).any(|line| line.contains(mark)) {
                leftovers.push(path);
            }
        }
    }
    leftovers.sort();
    Ok(leftovers)
}

/// Replaces a file below `root`, and creates the folders that contain it. Follows no symlinks below
/// `root`, because another user may have put them there.
#[cfg(unix)]
fn write(root: &Path, path: &str, text: &str) -> io::Result<()> {
    use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, renameat, unlinkat};

    std::fs::create_dir_all(root)?;
    let place = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = open(root, place, Mode::empty())?;
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    for name in above.split('/').filter(|name| !name.is_empty()) {
        match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        folder = openat(&folder, name, place | OFlags::NOFOLLOW, Mode::empty())?;
    }
    let part = format!("{name}.part");
    // A killed run may have left this file.
    let _ = unlinkat(&folder, &*part, AtFlags::empty());
    let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = openat(&folder, &*part, new, Mode::from_raw_mode(0o666))?;
    std::fs::File::from(file).write_all(text.as_bytes())?;
    Ok(renameat(&folder, &*part, &folder, name)?)
}

#[cfg(not(unix))]
fn write(root: &Path, path: &str, text: &str) -> io::Result<()> {
    let path = root.join(path);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}
