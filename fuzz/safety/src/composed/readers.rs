//! The readers to compare.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use atf_conformance::reference;
use atf_samples::readers as generated;
use atf_samples::tools::has;
use serde::Deserialize;
use serde_json::{Deserializer, Value};

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

/// A program that prints a document for each path. It gets the paths as arguments or, if it serves,
/// as lines on standard input.
struct Program {
    name: String,
    command: Vec<OsString>,
    /// For a program that serves: the folder in which it runs.
    serves: Option<PathBuf>,
}

impl Program {
    fn read(&self, sessions: &[PathBuf]) -> io::Result<Vec<Document>> {
        let (program, arguments) = self.command.split_first().ok_or(io::ErrorKind::NotFound)?;
        let mut command = Command::new(program);
        command.args(arguments);
        let output = if let Some(folder) = &self.serves {
            let mut requests = tempfile::tempfile()?;
            for session in sessions {
                writeln!(requests, "{}", Value::from(session.display().to_string()))?;
            }
            requests.rewind()?;
            command.current_dir(folder).stdin(requests).output()?
        } else {
            command.args(sessions).output()?
        };
        let documents = Deserializer::from_slice(&output.stdout).into_iter();
        let documents = documents.collect::<Result<Vec<_>, _>>()?;
        // Exit status 1 means that it rejected a session.
        if documents.len() == sessions.len() && matches!(output.status.code(), Some(0 | 1)) {
            return Ok(documents);
        }
        let count = documents.len();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let (name, status) = (&self.name, output.status);
        let message = format!("{name}: {count} documents, {status}\n{stderr}");
        Err(io::Error::other(message))
    }
}

/// The part of a `TESTEE.toml` that describes how to start the reader.
#[derive(Deserialize)]
struct Testee {
    serve: Serve,
}

#[derive(Deserialize)]
struct Serve {
    read: Vec<String>,
}

/// Returns all readers, the library first. `folder` is for programs to be compiled. Prints which
/// programs cannot run here.
///
/// # Errors
///
/// Returns an error if a program cannot be compiled.
pub fn readers(folder: &Path) -> io::Result<Vec<Reader>> {
    let mut readers = vec![
        Reader::new("library", |sessions| Ok(library(sessions))),
        Reader::new("interpreter", interpreter),
    ];
    let mut add = |name: &str, command: Vec<OsString>, serves| {
        let program = Program {
            name: name.to_owned(),
            command,
            serves,
        };
        readers.push(Reader::new(name, move |sessions| program.read(sessions)));
    };
    let testees = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/testees");
    if has("cc") {
        let program = folder.join("reader");
        let mut compile = Command::new("cc");
        compile
            .args(["-std=c11", "-O2", "-I"])
            .arg(testees.join("../../atf/include"));
        let sources = [
            "reader", "index", "detail", "session", "manifest", "json", "bytes", "request",
        ];
        let sources = sources.map(|name| testees.join("c").join(name).with_extension("c"));
        let status = compile.args(sources).arg("-o").arg(&program).status()?;
        if !status.success() {
            return Err(io::Error::other("the reader in C does not compile"));
        }
        add("c", vec![program.into()], None);
    } else {
        println!("skipped: the reader in C needs cc");
    }
    if has("python3") {
        let program = testees.join("python/testee.py");
        let command = vec!["python3".into(), "-S".into(), program.into(), "read".into()];
        add("python", command, None);
    } else {
        println!("skipped: the reader in Python needs python3");
    }
    for language in generated::languages()? {
        let copy = folder.join(&language);
        if !generated::build(&language, &copy)? {
            println!("skipped: the generated reader in {language}");
            continue;
        }
        let testee = fs::read_to_string(copy.join("TESTEE.toml"))?;
        let testee: Testee = toml::from_str(&testee).map_err(io::Error::other)?;
        let mut command = testee.serve.read.into_iter().map(OsString::from);
        let program = command.next().ok_or(io::ErrorKind::InvalidInput)?;
        let program = match program.to_str().and_then(|name| name.strip_prefix("./")) {
            Some(name) => copy.join(name).into(),
            None => program,
        };
        let command = std::iter::once(program).chain(command).collect();
        add(&format!("generated {language}"), command, Some(copy));
    }
    Ok(readers)
}
