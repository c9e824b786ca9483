//! `generate --template` and `generate --target`: targets that are not part of this program.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use atf_codegen::GeneratedFile;
use atf_codegen::emit::folder::{self, Templates};
use atf_codegen::emit::json;
use atf_spec::diagnostic::{Diagnostic, Place};
use atf_spec::files::{File, Files};
use serde::Deserialize;

use super::{Context, at, refuse};

/// The largest file of a template folder, in bytes.
const MAX_TEMPLATE: u64 = 4 << 20;

/// Renders the templates in a folder. Returns `None` if one has a fault, which was reported.
pub(super) fn rendered(
    dir: &Path,
    context: &Context<'_>,
) -> io::Result<Option<Vec<GeneratedFile>>> {
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
            let file = files.add(File::new(&dir.join(path).display().to_string(), text));
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
pub(super) fn answered(program: &Path, context: &Context<'_>) -> io::Result<Vec<GeneratedFile>> {
    let layout = json::layout(&context.layout, context.spec);
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
