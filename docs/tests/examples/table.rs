//! How to test examples that cannot be run as they are. A command that is missing here must run as
//! written and succeed; the tests fail for any other missing example, and for an entry that is in
//! no document.

/// How an example is tested.
#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    /// Runs in the [sandbox](crate::sandbox), ends with this status, and prints the output shown in
    /// a console block. If an example has placeholders, the given command runs in its place.
    Runs(i32, Option<&'static str>),
    /// Is also in a test in `docs/tests/rust.rs`, word for word.
    Rust,
    /// Parses in its language.
    Parses,
    /// Does not run here. Contains the reason, the file that runs or checks the example, and words
    /// that this file contains.
    Elsewhere(&'static str, &'static str, &'static str),
    /// Shows the form of a command, so there is nothing to run. Contains the reason.
    Form(&'static str),
}

use How::{Elsewhere, Form, Parses, Runs, Rust};

/// Installs the Python package.
const PYTHON: How = Elsewhere("installs", ".ci/python", "pip install -q");

/// A workflow whose commands are checked.
const WORKFLOW: How = Elsewhere(
    "runs elsewhere",
    "conformance/tests/testees/guide.rs",
    "docs/conformance/ci.md",
);

/// Installs a package.
const PACKAGES: How = Elsewhere(
    "installs a package",
    "packaging/try",
    "adatrace run $testee",
);

/// Code blocks, by document and first line.
pub(crate) const BLOCKS: &[(&str, &str, How)] = &[
    (
        "docs/targets.md",
        r#"{"files": [{"path": "src/records.zig", "text": "// …"}]}"#,
        Parses,
    ),
    (
        "docs/conformance/README.md",
        "def content(parts):",
        Elsewhere(
            "a function for other programs",
            "python/tests/conftest.py",
            "def part_bytes(part):",
        ),
    ),
    (
        "docs/editions.md",
        "ATF-IFTR-008  the footer has our field build_number",
        Form("a file of allowed rules"),
    ),
    (
        "README.md",
        "uvx adatrace run TESTEE.toml                  # grade an implementation; or npx adatrace, or pip install adatrace",
        PACKAGES,
    ),
    ("docs/install.md", "pip install adatrace", PACKAGES),
    ("docs/install.md", "npx adatrace run TESTEE.toml", PACKAGES),
    (
        "docs/install.md",
        "apt install ./adatrace_*.deb                      # the programs, with manual pages and completion scripts",
        PACKAGES,
    ),
    ("docs/install.md", "include(FetchContent)", PACKAGES),
    (
        "docs/install.md",
        "cargo install --locked atf-conformance atf-cli atf-codegen",
        Form("the crates are not on crates.io yet"),
    ),
    (
        "docs/install.md",
        "cargo install --locked --path atf/cli         # the command atf",
        Elsewhere(
            "installs",
            ".github/workflows/nightly.yml",
            "cargo install --locked --path atf/cli",
        ),
    ),
    (
        "README.md",
        "git clone REPOSITORY atf && cd atf            # REPOSITORY: the project's address",
        Elsewhere(
            "downloads and installs",
            ".github/workflows/nightly.yml",
            "cargo install --locked --path atf/cli",
        ),
    ),
    (
        "README.md",
        "cc -g -finstrument-functions -o program program.c",
        Runs(
            0,
            Some(
                "echo 'int main(void) { return 0; }' >program.c && \
                 cc -g -finstrument-functions -o program program.c && \
                 atf record --out traces -- ./program && atf report traces",
            ),
        ),
    ),
    (
        "docs/archive.md",
        "atf-archive pack traces/session_20260105_101500/pid_4242 archive --host host-1",
        Elsewhere(
            "needs the Python package",
            "python/tests/test_archive.py",
            "command(\"pack\", CRASHED",
        ),
    ),
    (
        "docs/archive.md",
        "atf synth --threads 4 --events 2500000 --details 0 --out trace",
        Elsewhere(
            "measures for minutes",
            "python/tools/archive_bench.py",
            "atf synth --threads 4 --events 2500000 --details 0 --out trace",
        ),
    ),
    ("docs/python.md", "pip install ./python", PYTHON),
    (
        "docs/python.md",
        "atf synth --threads 4 --events 2500000 --details 0 --out trace",
        Elsewhere(
            "measures for minutes",
            "python/tools/bench.py",
            "atf synth --threads 4 --events 2500000 --details 0 --out trace",
        ),
    ),
    ("docs/spark.md", "pip install './python[spark]'", PYTHON),
    (
        "docs/spark.md",
        "atf synth --threads 4 --events 2500000 --details 10 --out trace",
        Elsewhere(
            "measures for minutes",
            "python/tools/spark_bench.py",
            "atf synth --threads 4 --events 2500000 --details 10 --out trace",
        ),
    ),
    (
        "docs/record.md",
        "atf: recorded 1204372 events of 1 thread in 0.249 s (4.8 M per second), no loss recorded",
        Form("times and paths vary"),
    ),
    (
        "docs/editions.md",
        "$ atf-codegen --overlay acme spec breaking",
        // A field in a struct is new.
        Runs(7, None),
    ),
    (
        "README.md",
        "$ atf dump --thread 1 --last 4 --spans samples/sample-crashed",
        // The thread's files were never finalized.
        Runs(1, None),
    ),
    (
        "README.md",
        "atf-conformance smoke TESTEE.toml   # does it speak the protocol?",
        Runs(
            0,
            Some(
                "atf-conformance smoke my-reader/TESTEE.toml --time-limit 60 && \
                 atf-conformance run my-reader/TESTEE.toml --role read --case 'v1/iftr-002-*' --time-limit 60",
            ),
        ),
    ),
    (
        "README.md",
        "cargo run --release -p atf-conformance -- run   # grade this implementation with the suite anyone else would use",
        Elsewhere(
            "minutes",
            ".github/workflows/nightly.yml",
            "cargo run --release -p atf-conformance -- run",
        ),
    ),
    (
        "docs/libraries.md",
        "use atf::{EventKind, write::{Event, SessionWriter, WriteOptions}};",
        Rust,
    ),
    (
        "docs/libraries.md",
        "export PKG_CONFIG_PATH=PREFIX/lib/pkgconfig",
        Elsewhere("installs", "atf/capi/tests/install/main.rs", "pkg-config"),
    ),
    (
        "README.md",
        "use atf::thread::{Linked, ThreadReader};",
        Rust,
    ),
    (
        "docs/libraries.md",
        "use atf_record::{RecordOptions, Recording};",
        Rust,
    ),
    (
        "docs/libraries.md",
        "#[tracing::instrument(skip_all)]",
        Rust,
    ),
    (
        "docs/libraries.md",
        "use atf::{rewrite::{RecoverOptions, recover}, trace::Trace};",
        Rust,
    ),
    (
        "docs/export.md",
        "atf export --format perfetto --out trace.pftrace samples/sample-small",
        // The last trace is damaged.
        Runs(1, None),
    ),
    (
        "docs/commands.md",
        "$ atf last --thread 1 --events 2 samples/sample-crashed",
        // The thread's files were never finalized.
        Runs(1, None),
    ),
    (
        "CONTRIBUTING.md",
        "cargo test --workspace",
        Elsewhere(
            "runs this test",
            ".ci/run",
            "step cargo test --locked --workspace",
        ),
    ),
    (
        "ARCHITECTURE.md",
        "spec/sources/*.yaml ─┐ claims                      ┌→ atf/include/*.h        C headers",
        Form("a sketch"),
    ),
    ("docs/conformance/README.md", "protocol = 1", Parses),
    ("docs/conformance/README.md", "cases = [", Parses),
    (
        "docs/conformance/README.md",
        "cp -r conformance/testees/c my-c",
        Elsewhere(
            "builds",
            "conformance/tests/testees/guide.rs",
            "follow(\"C\")",
        ),
    ),
    (
        "docs/conformance/README.md",
        "cp -r readers/cpp my-cpp",
        Elsewhere(
            "builds",
            "conformance/tests/testees/guide.rs",
            "follow(\"C++17\")",
        ),
    ),
    (
        "docs/conformance/README.md",
        "cp -r conformance/testees/starter/rust my-rust",
        Elsewhere(
            "builds",
            "conformance/tests/testees/guide.rs",
            "follow(\"Rust\")",
        ),
    ),
    (
        "docs/conformance/README.md",
        "cp -r conformance/testees/starter/go my-go",
        Elsewhere(
            "builds",
            "conformance/tests/testees/guide.rs",
            "follow(\"Go\")",
        ),
    ),
    (
        "docs/conformance/README.md",
        "cp -r conformance/testees/python my-python",
        Elsewhere(
            "a part of its cases runs there",
            "conformance/tests/testees/guide.rs",
            "follow(\"Python\")",
        ),
    ),
    (
        "docs/conformance/README.md",
        "ada-c: graded 92 %; data 290 of 327, labels 211 of 300",
        Form("the scores of an invented implementation"),
    ),
    (
        "docs/conformance/README.md",
        "graded     data  labels  passed  failed  known  skipped",
        Elsewhere(
            "a golden file",
            "conformance/tests/reports/summary.rs",
            "fn the_guide_shows_the_current_summary",
        ),
    ),
    (
        "docs/conformance/README.md",
        "FAILED ada-c read v1/iftr-004-off: wrong-accept: accept, expected reject",
        Form("a report on an invented implementation"),
    ),
    (
        "docs/conformance/README.md",
        "wrong-accept  v1/iftr-004-*        checksums are not verified yet, #12",
        Form("a failure list of an invented implementation"),
    ),
    (
        "docs/conformance/README.md",
        "rustup target add x86_64-unknown-linux-musl",
        Elsewhere(
            "installs",
            ".github/workflows/nightly.yml",
            "x86_64-unknown-linux-musl",
        ),
    ),
    (
        "docs/conformance/ci-examples.md",
        "cmake_minimum_required(VERSION 3.16)",
        Elsewhere(
            "builds",
            "conformance/tests/testees/ci.rs",
            "fn the_example_in_cpp_builds_with_cmake_and_is_graded",
        ),
    ),
    (
        "docs/conformance/ci-examples.md",
        "name: ATF conformance",
        Elsewhere(
            "builds",
            "conformance/tests/testees/ci.rs",
            "fn run_workflow",
        ),
    ),
    (
        "docs/conformance/files.md",
        "atf-corpus/index.csv",
        Form("the beginning of a listing"),
    ),
    (
        "docs/conformance/files.md",
        "import csv, json, subprocess, sys",
        Elsewhere(
            "takes the kit as an argument",
            "conformance/tests/corpus/export.rs",
            "fn the_guides_program_grades_from_the_files_alone",
        ),
    ),
    (
        "docs/conformance/ci.md",
        "on: [push, pull_request]",
        WORKFLOW,
    ),
    ("docs/conformance/ci.md", "conformance:", WORKFLOW),
    (
        "docs/conformance/ci.md",
        "repos:",
        Elsewhere(
            "installs a package",
            "packaging/try",
            "docs/conformance/ci.md",
        ),
    ),
    (
        "docs/conformance/ci.md",
        "name: ATF conformance",
        Form("a GitHub workflow"),
    ),
    (
        "docs/conformance/ci.md",
        "[![ATF v2 conformance](https://<you>.github.io/<your-repository>/badge.svg)](https://<you>.github.io/<your-repository>/)",
        Form("a link with placeholders"),
    ),
    (
        "docs/conformance/ci.md",
        "- run: >",
        Form("a step of that workflow"),
    ),
    (
        "docs/conformance/site.md",
        "cargo run -p atf-site -- target/site --results results",
        Elsewhere(
            "needs results",
            "site/tests/site.rs",
            "results: Some(results)",
        ),
    ),
    (
        "docs/conformance/site.md",
        "atf-conformance run TESTEE.toml --report json=results.json",
        Runs(
            0,
            Some(
                "atf-conformance run my-reader/TESTEE.toml --role read --case 'v1/iftr-002-*' --time-limit 60 \
                 --report json=results.json && grep -q '\"format\":2' results.json",
            ),
        ),
    ),
    ("docs/conformance/protocol.md", "protocol = 1", Parses),
    ("docs/conformance/protocol.md", "{", Parses),
    (
        "docs/conformance/protocol.md",
        "serve.write    = [\"./w\", \"--serve\"]",
        Parses,
    ),
    (
        "docs/conformance/protocol.md",
        "# class       cases                reason",
        Form("a failure list of an invented implementation"),
    ),
    (
        "docs/conformance/protocol.md",
        "open thread=0 wire=1 clock=3 arch=2 os=4",
        Form("a script; `atf-conformance scripts` has the kit's"),
    ),
    (
        "conformance/testees/README.md",
        "$ make -C conformance/testees/c",
        Elsewhere(
            "builds, then grades for minutes",
            "conformance/tests/testees/guide.rs",
            "follow(\"C\")",
        ),
    ),
];

/// Commands within sentences, by text, for all documents.
pub(crate) const SPANS: &[(&str, How)] = &[
    (
        "cargo run -p atf-site -- OUT",
        Elsewhere(
            "writes a folder of 20 MB",
            "site/tests/site.rs",
            "build(&options)",
        ),
    ),
    (
        "atf-conformance fingerprint TESTEE.toml",
        Elsewhere(
            "needs a program to grade",
            "conformance/tests/testees/fingerprint.rs",
            ".arg(\"fingerprint\")",
        ),
    ),
    (
        "atf-conformance compare OLD.json NEW.json",
        Elsewhere(
            "needs the reports of two runs",
            "conformance/tests/commands/compare.txt",
            "kit compare old.json new.json",
        ),
    ),
    (
        "atf export --format csv",
        Runs(
            0,
            Some("atf export --format csv --out calls.csv samples/sample-small"),
        ),
    ),
    (
        "atf record --out again -- ./program 250000",
        Runs(
            0,
            Some(
                "echo 'int main(void) { return 0; }' >program.c && cc -g -finstrument-functions -o program program.c && atf record --out again -- ./program 250000",
            ),
        ),
    ),
    (
        "atf export --format csv --out calls.csv traces && sqlite3 :memory: '.import --csv calls.csv calls' 'select function, count(*), avg(duration_ns) from calls group by 1 order by 2 desc'",
        Elsewhere("needs sqlite3", ".ci/questions", "docs/questions.md"),
    ),
    (
        "atf open PATH",
        Elsewhere(
            "waits for a browser",
            "atf/cli/tests/cli/open.rs",
            "\"open\", \"--port\"",
        ),
    ),
    (
        "atf dump …/thread_0/salvaged.atf",
        Elsewhere(
            "needs a trace with a hole",
            "atf/cli/tests/commands/recover.txt",
            "thread_7/salvaged.atf",
        ),
    ),
    (
        "cargo run -p atf-codegen -- spec check --sources DIR --bless",
        Elsewhere(
            "the documents are not in the repository",
            "spec/tests/documents.rs",
            "text::digests",
        ),
    ),
    (
        "cargo run -p atf-codegen -- generate",
        Elsewhere(
            "writes into the checkout",
            "codegen/tests/cli/generate.rs",
            "\"generate\"",
        ),
    ),
    (
        "cargo run -p atf-conformance -- corpus generate",
        Elsewhere(
            "writes into the checkout",
            "conformance/tests/corpus/main.rs",
            "corpus",
        ),
    ),
    (
        "cargo run --release -p atf-bench",
        Elsewhere("minutes", ".github/workflows/nightly.yml", "atf-bench"),
    ),
    (
        "cargo run --release -p atf-bench -- --markdown FILE",
        Elsewhere("minutes", ".github/workflows/nightly.yml", "atf-bench"),
    ),
    (
        "cargo run --release -p atf-safety -- NAME",
        Elsewhere("minutes", ".ci/run", "/atf-safety\" exhaustive"),
    ),
    (
        "cargo run --example atf-fuzz -- mutate 60",
        Elsewhere("a minute", "fuzz/run", "--example atf-fuzz"),
    ),
    (
        "cargo run --example atf-fuzz -- about TARGET NAME",
        Elsewhere(
            "needs a case found by fuzzing",
            "fuzz/run",
            "--example atf-fuzz",
        ),
    ),
    (
        "atf check --deny should",
        Runs(0, Some("atf check --deny should clean")),
    ),
    (
        "atf-conformance run",
        Elsewhere("minutes", ".ci/run", "/atf-conformance\" run"),
    ),
    (
        "atf-conformance run TESTEE.toml",
        Runs(
            0,
            Some(
                "atf-conformance run my-reader/TESTEE.toml --role read --case 'v1/iftr-002-*' --time-limit 60",
            ),
        ),
    ),
    (
        "atf-conformance run --pairs TESTEE.toml",
        Runs(
            0,
            Some(
                "atf-conformance run --pairs my-reader/TESTEE.toml --role read --case 'v1/pair-iftr-002-*' --time-limit 60",
            ),
        ),
    ),
    (
        "atf-conformance run --update TESTEE.toml",
        Elsewhere("needs failures", "conformance/tests/run/main.rs", "mod"),
    ),
];

/// Placeholder words in commands and their replacements, in the order in which they are replaced.
pub(crate) const STAND_FOR: &[(&str, &str)] = &[
    ("--deny should PATH", "--deny should clean"),
    ("--callers token", "--callers load"),
    ("--debug-dir DIR", "--debug-dir debug"),
    ("corpus export FOLDER", "corpus export exported"),
    ("corpus show NAME", "corpus show v1/iftr-002-one-too-many"),
    ("generate --out .", "generate --out acme"),
    ("--overlay DIR", "--overlay spec/experiments/vendor"),
    ("spec breaking OLD NEW", "spec breaking spec spec"),
    ("FILE", "thread_0/index.atf"),
    ("SESSION", "session_20260105_101500/pid_4242"),
    ("TESTEE.toml", "my-reader/TESTEE.toml --time-limit 60"),
    ("PATH", "samples/sample-small"),
    ("BEFORE", "samples/sample-small"),
    ("AFTER", "samples/sample-small"),
    ("before", "samples/sample-small"),
    ("crashed", "samples/sample-small"),
    ("traces", "samples/sample-small"),
];

/// The commands of `--help`, under `Example:`.
pub(crate) const HELP: &[(&str, How)] = &[
    (
        "atf-conformance run my-reader/TESTEE.toml --report json=new.json",
        Elsewhere(
            "minutes",
            "conformance/tests/commands/compare.txt",
            "kit compare old.json new.json",
        ),
    ),
    (
        "atf-conformance compare old.json new.json",
        Elsewhere(
            "needs the reports of two runs",
            "conformance/tests/commands/compare.txt",
            "kit compare old.json new.json",
        ),
    ),
    // The exit status is 1 because one thread was never finalized.
    (
        "atf diff --limit 3 samples/sample-small samples/sample-crashed",
        Runs(1, None),
    ),
    // The exit status is 1 because one thread was never finalized.
    ("atf info --verify samples/sample-crashed", Runs(1, None)),
    (
        "atf last --thread 1 --for 10us samples/sample-crashed",
        Runs(1, None),
    ),
    (
        "atf open samples/sample-small",
        Elsewhere(
            "waits for a browser",
            "atf/cli/tests/cli/open.rs",
            "\"open\", \"--port\"",
        ),
    ),
    (
        "atf record -- ./program arguments",
        Runs(
            0,
            Some(
                "echo 'int main(void) { return 0; }' >program.c && \
                 cc -finstrument-functions -o program program.c && \
                 atf record -- ./program arguments",
            ),
        ),
    ),
    (
        "atf record --out traces --depth 5 --module 'libz*' -- ./program",
        Elsewhere(
            "needs a program that uses zlib",
            "atf/cli/tests/cli/record/values.rs",
            "\"--module\", \"prog*\"",
        ),
    ),
    (
        "atf record --function 'parse*' --function '!parse_char' --min-size 64 -- ./program",
        Elsewhere(
            "needs a program with these functions",
            "atf/cli/tests/cli/record/values.rs",
            "\"--function\", \"outer\"",
        ),
    ),
    (
        "atf record --details trigger --pre-roll 100 --post-roll 50 --trigger-signal USR2 -- ./program",
        Elsewhere(
            "needs a program that runs for a while",
            "atf/cli/tests/cli/record/windows.rs",
            "\"--trigger-signal\", \"USR2\"",
        ),
    ),
    (
        "atf record --flight 10 -- ./program",
        Elsewhere(
            "needs a program that crashes",
            "atf/cli/tests/cli/record/windows.rs",
            "\"--flight\", \"10\"",
        ),
    ),
    (
        "atf-conformance run my-reader/TESTEE.toml --rule ATF-IFTR-004",
        Runs(
            0,
            Some("atf-conformance run my-reader/TESTEE.toml --rule ATF-IFTR-004 --time-limit 60"),
        ),
    ),
    (
        "atf-conformance corpus copy /tmp/cases 'v1/iftr-*'",
        Runs(0, Some("atf-conformance corpus copy cases 'v1/iftr-*'")),
    ),
    (
        "atf-codegen generate --check",
        Elsewhere(
            "shows a stale header there",
            "codegen/tests/cli/generate.rs",
            "stale: ",
        ),
    ),
];
