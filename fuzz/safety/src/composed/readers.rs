//! The readers to compare.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use atf_conformance::reference;
use atf_samples::readers as generated;
use atf_samples::tools::{answers, has};
use serde::Deserialize;
use serde_json::Value;

/// The document that a reader prints about a session for the conformance kit.
pub type Document = Value;

type Read = dyn Fn(&[PathBuf]) -> io::Result<Vec<Document>> + Sync;

/// A reader of sessions.
pub struct Reader {
    pub(super) name: String,
    pub(super) read: Box<Read>,
}

impl Reader {
    /// Creates a reader from a function that returns a document for each session.
    pub fn new(
        name: &str,
        read: impl Fn(&[PathBuf]) -> io::Result<Vec<Document>> + Sync + 'static,
    ) -> Self {
        let (name, read) = (name.to_owned(), Box::new(read));
        Self { name, read }
    }
}

/// Reads sessions with the library.
#[must_use]
pub fn library(sessions: &[PathBuf]) -> Vec<Document> {
    sessions.iter().map(|path| reference::read(path)).collect()
}

/// Reads sessions with the decoder that interprets the layout at run time.
fn interpreter(sessions: &[PathBuf]) -> io::Result<Vec<Document>> {
    let documents = sessions.iter().map(|path| atf_interpreter::read_path(path));
    documents.collect()
}

/// The part of a `TESTEE.toml` that describes how to start a program that serves: for each line of
/// its input, a path as a JSON string, it prints a document.
#[derive(Deserialize)]
struct Testee {
    serve: Serve,
}

#[derive(Deserialize)]
struct Serve {
    read: Vec<String>,
}

/// Creates a reader from the program in `folder` that a `TESTEE.toml` describes.
fn program(name: &str, folder: PathBuf, testee: &Path) -> io::Result<Reader> {
    let testee = fs::read_to_string(testee)?;
    let testee: Testee = toml::from_str(&testee).map_err(io::Error::other)?;
    let named = name.to_owned();
    let read = move |sessions: &[PathBuf]| {
        let command = testee.serve.read.split_first();
        let (program, arguments) = command.ok_or(io::ErrorKind::NotFound)?;
        let mut program = Command::new(program);
        program.args(arguments).current_dir(&folder);
        let paths = sessions.iter().map(|path| path.display().to_string());
        let lines = paths.map(|path| format!("{}\n", Value::from(path)));
        let documents = answers(&mut program, lines.collect()).map_err(io::Error::other)?;
        let (count, expected) = (documents.len(), sessions.len());
        if count == expected {
            Ok(documents)
        } else {
            let message = format!("{named}: {count} documents of {expected}");
            Err(io::Error::other(message))
        }
    };
    Ok(Reader::new(name, read))
}

/// Returns all readers, the library first. `folder` is for programs to be compiled. [`has`] reports
/// the tools without which a program cannot run here.
///
/// # Errors
///
/// Returns an error if a program cannot be compiled.
pub fn readers(folder: &Path) -> io::Result<Vec<Reader>> {
    let mut readers = vec![
        Reader::new("library", |sessions| Ok(library(sessions))),
        Reader::new("interpreter", interpreter),
    ];
    let testees = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/testees");
    if has("cc") {
        let mut compile = Command::new("cc");
        compile
            .args(["-std=c11", "-O2", "-I"])
            .arg(testees.join("../../atf/include"));
        let sources = [
            "reader", "index", "detail", "session", "manifest", "json", "request",
        ];
        let sources = sources.map(|name| testees.join("c").join(name).with_extension("c"));
        compile.args(sources).arg("-o").arg(folder.join("reader"));
        if !compile.status()?.success() {
            return Err(io::Error::other("the reader in C does not compile"));
        }
        let testee = testees.join("c/TESTEE.toml");
        readers.push(program("c", folder.to_owned(), &testee)?);
    }
    if has("python3") {
        let testee = testees.join("python/TESTEE.toml");
        readers.push(program("python", testees.join("python"), &testee)?);
    }
    for language in generated::languages()? {
        let copy = folder.join(&language);
        if generated::build(&language, &copy)? {
            let (name, testee) = (format!("generated {language}"), copy.join("TESTEE.toml"));
            readers.push(program(&name, copy, &testee)?);
        }
    }
    Ok(readers)
}
