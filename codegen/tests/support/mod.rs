//! This machine's C and C++ compilers, and a working folder for them.
//!
//! If a compiler is missing, its tests are skipped with a message, or fail if `ATF_REQUIRE_TOOLS=1`
//! is set. At least one C compiler is always required.

#![allow(dead_code, reason = "no test program uses all of it")]

use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use atf_codegen::{GeneratedFile, emit};
use atf_samples::tools::has;
use atf_spec::layout::Layout;
use tempfile::TempDir;

/// Returns the committed resolved layout.
pub(crate) fn layout() -> Layout {
    serde_json::from_str(include_str!("../../../spec/layout.json"))
        .expect("the committed layout is a layout")
}

/// Returns the layout's header files whose paths have this ending.
pub(crate) fn headers(layout: &Layout, ending: &str) -> Vec<GeneratedFile> {
    let mut files = emit::c::headers(layout);
    files.retain(|file| file.path.ends_with(ending));
    assert!(!files.is_empty(), "no file ends with {ending}");
    files
}

/// Returns the last part of a generated file's path.
pub(crate) fn name(file: &GeneratedFile) -> &str {
    let name = file.path.rsplit('/').next();
    name.expect("rsplit gives at least one part")
}

/// A temporary folder with headers, which is on the include path of everything compiled in it.
pub(crate) struct Bench(TempDir);

impl Bench {
    /// Creates a folder with these files, each named by the last part of its path.
    pub(crate) fn new(files: &[GeneratedFile]) -> Self {
        let bench = Self(tempfile::tempdir().expect("a temporary folder"));
        for file in files {
            bench.write(name(file), &file.text);
        }
        bench
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).expect("a temporary file");
        path
    }
}

/// A compiler of C or C++.
#[derive(Clone, Copy)]
pub(crate) struct Compiler {
    program: &'static str,
    pub(crate) is_cpp: bool,
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program)
    }
}

impl Compiler {
    const WANTED: [Self; 4] = [
        Self::new("gcc", false),
        Self::new("g++", true),
        Self::new("clang", false),
        Self::new("clang++", true),
    ];

    const fn new(program: &'static str, is_cpp: bool) -> Self {
        Self { program, is_cpp }
    }

    /// Returns the installed compilers: gcc, g++, clang and clang++. For a language without any of
    /// these, uses cc or c++.
    pub(crate) fn all() -> Vec<Self> {
        let mut found: Vec<Self> = Self::WANTED.into_iter().filter(Self::is_here).collect();
        for other in [Self::new("cc", false), Self::new("c++", true)] {
            let is_other = |compiler: &Self| compiler.is_cpp != other.is_cpp;
            if found.iter().all(is_other) && other.is_here() {
                found.push(other);
            }
        }
        let has_c = found.iter().any(|compiler| !compiler.is_cpp);
        assert!(has_c, "these tests need a C compiler");
        found
    }

    /// Returns the compilers that support foreign targets: clang and clang++.
    pub(crate) fn of_foreign_targets() -> Vec<Self> {
        let clang = |compiler: &Self| compiler.program.starts_with("clang");
        let wanted = Self::WANTED.into_iter().filter(clang);
        wanted.filter(Self::is_here).collect()
    }

    /// Returns the options that select the language's standards.
    pub(crate) const fn standards(&self) -> [&'static str; 2] {
        if self.is_cpp {
            ["-std=c++17", "-std=c++20"]
        } else {
            ["-std=c11", "-std=c17"]
        }
    }

    fn is_here(&self) -> bool {
        has(self.program)
    }

    /// Compiles source code without output. The error is the compiler's message. C++ has to do
    /// without C's casts and null pointers.
    pub(crate) fn check(
        &self,
        bench: &Bench,
        source: &str,
        options: &[&str],
    ) -> Result<(), String> {
        let mut command = self.command(bench);
        if self.is_cpp {
            command.args(["-Wold-style-cast", "-Wzero-as-null-pointer-constant"]);
        }
        command.arg("-fsyntax-only").args(options).arg("-");
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let child = command.stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{self}: {error}"));
        let mut stdin = child.stdin.take().expect("stdin is a pipe");
        let written = stdin.write_all(source.as_bytes());
        written.expect("the compiler reads its source");
        drop(stdin);
        let output = child.wait_with_output().expect("the compiler ends");
        if output.status.success() {
            Ok(())
        } else {
            Err(text(&output.stderr))
        }
    }

    /// Builds a program from a file and runs it.
    ///
    /// # Panics
    /// Panics if it does not compile.
    pub(crate) fn run(
        &self,
        bench: &Bench,
        source: &Path,
        options: &[&str],
        arguments: &[&Path],
    ) -> Output {
        let program = tempfile::tempdir_in(bench.path()).expect("a temporary folder");
        let program = program.path().join("program");
        let mut command = self.command(bench);
        command.args(options).arg(source).arg("-o").arg(&program);
        let built = command.output();
        let built = built.unwrap_or_else(|error| panic!("{self}: {error}"));
        let message = text(&built.stderr);
        let source = source.display();
        assert!(built.status.success(), "{self} {source}:\n{message}");
        let output = Command::new(&program).args(arguments).output();
        output.expect("the program was just built")
    }

    fn command(&self, bench: &Bench) -> Command {
        let language = if self.is_cpp { "c++" } else { "c" };
        let warnings = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wcast-align \
                        -Wshadow -Werror";
        let mut command = Command::new(self.program);
        command.args(["-x", language, self.standards()[0]]);
        command
            .args(warnings.split(' '))
            .arg("-I")
            .arg(bench.path());
        command.env("LC_ALL", "C");
        command
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
