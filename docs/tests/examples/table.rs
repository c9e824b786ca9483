//! How each example is tested. The tests fail for an example that is missing here, and for an entry
//! that is in no document.

/// How an example is tested.
#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    /// Runs in the [sandbox](crate::sandbox), ends with this status, and prints the output shown in
    /// a console block. The text, if any, is run instead of an example with placeholders.
    Runs(i32, Option<&'static str>),
    /// Is part of a test in `docs/tests/rust.rs`, word for word.
    Rust,
    /// Parses in its language.
    Parses,
    /// Does not run here. Contains the reason, the file that runs or checks the example, and words
    /// in that file.
    Elsewhere(&'static str, &'static str, &'static str),
    /// Shows a form, so there is nothing to run. Contains the reason.
    Form(&'static str),
}

use How::{Elsewhere, Form, Parses, Runs, Rust};

/// Runs unchanged.
const RUNS: How = Runs(0, None);

/// A step of the tutorial, which downloads sources.
const TUTORIAL: How = Elsewhere("downloads", ".ci/tutorial", "docs/record.md");

/// Installs the Python package.
const PYTHON: How = Elsewhere("installs", ".ci/python", "pip install -q");

/// Blocks, by document and first line.
pub(crate) const BLOCKS: &[(&str, &str, How)] = &[
    (
        "README.md",
        "git clone REPOSITORY atf && cd atf            # REPOSITORY: this page's address",
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
        "python -m atf pack traces/session_20260105_101500/pid_4242 archive --host host-1",
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
        "cargo build --release --locked -p atf-cli -p atf-instrument",
        TUTORIAL,
    ),
    (
        "docs/record.md",
        "apt-get source --download-only zlib",
        TUTORIAL,
    ),
    (
        "docs/record.md",
        "seq 200000 | atf record --out details --details trigger --trigger-function deflateEnd --pre-roll 1 --post-roll 1 \\",
        TUTORIAL,
    ),
    (
        "docs/record.md",
        "seq 200000 | atf record --out flight --flight 10 -- ./minigzip > numbers.gz",
        TUTORIAL,
    ),
    (
        "docs/record.md",
        "seq 200000 | atf record --out segments --segment 10M --keep 2 -- ./minigzip > numbers.gz",
        TUTORIAL,
    ),
    ("docs/record.md", "cd zlib", TUTORIAL),
    ("docs/record.md", "rm -rf traces", TUTORIAL),
    (
        "docs/record.md",
        "atf: recorded 1204372 events of 1 thread in 0.097 s (12.4 M per second), no loss recorded",
        Form("times and paths vary"),
    ),
    ("docs/record.md", "atf check --deny should traces", TUTORIAL),
    ("docs/record.md", "atf report traces", TUTORIAL),
    ("docs/record.md", "atf dump --limit 12 traces", TUTORIAL),
    ("README.md", "$ atf check samples/sample-crashed", RUNS),
    (
        "README.md",
        "$ atf dump --thread 1 --last 4 --spans samples/sample-crashed",
        // The thread's files were never finalized.
        Runs(1, None),
    ),
    (
        "README.md",
        "mkdir traced && cc -I atf/include -o tracer codegen/tests/c/s1_tracer.c && ./tracer traced",
        RUNS,
    ),
    (
        "README.md",
        "atf-conformance smoke TESTEE.toml   # does it speak the protocol?",
        Runs(
            0,
            Some(
                "atf-conformance smoke my-reader/TESTEE.toml && \
                 atf-conformance run my-reader/TESTEE.toml --role read --case 'v1/iftr-002-*'",
            ),
        ),
    ),
    (
        "README.md",
        "cargo run --release -p atf-conformance -- run   # grade this implementation with the suite anyone else would use",
        Elsewhere("minutes", ".ci/run", "step cargo test --locked --workspace"),
    ),
    (
        "docs/editions.md",
        "atf-codegen --overlay spec/experiments/vendor generate c markdown --out acme",
        RUNS,
    ),
    (
        "docs/editions.md",
        "$ atf-codegen --overlay spec/experiments/vendor spec edition",
        RUNS,
    ),
    (
        "README.md",
        "use atf::{EventKind, write::{Event, SessionWriter, WriteOptions}};",
        Rust,
    ),
    (
        "README.md",
        "export PKG_CONFIG_PATH=PREFIX/lib/pkgconfig",
        Elsewhere("installs", "atf/capi/tests/install/main.rs", "pkg-config"),
    ),
    (
        "README.md",
        "use atf::thread::{Linked, ThreadReader};",
        Rust,
    ),
    ("README.md", "#[tracing::instrument(skip_all)]", Rust),
    (
        "README.md",
        "$ atf report --limit 3 samples/sample-small",
        RUNS,
    ),
    (
        "README.md",
        "atf flamegraph --out flame.svg samples/sample-small",
        RUNS,
    ),
    (
        "docs/export.md",
        "atf export --format perfetto --out trace.pftrace samples/sample-small",
        // The last trace is damaged.
        Runs(1, None),
    ),
    (
        "README.md",
        "$ atf last --thread 1 --events 2 samples/sample-crashed",
        // The thread's files were never finalized.
        Runs(1, None),
    ),
    (
        "README.md",
        "$ atf recover samples/sample-crashed --out recovered",
        RUNS,
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
        "ada-c: data 290 of 327, labels 211 of 300",
        Form("the scores of an invented implementation"),
    ),
    (
        "docs/conformance/README.md",
        "data  labels  passed  failed  known  skipped",
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
    ("docs/conformance/protocol.md", "protocol = 1", Parses),
    ("docs/conformance/protocol.md", "{", Parses),
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
        "atf record --out again -- ./program 250000",
        Runs(
            0,
            Some(
                "echo 'int main(void) { return 0; }' >program.c && cc -g -finstrument-functions -o program program.c && atf record --out again -- ./program 250000",
            ),
        ),
    ),
    (
        "atf report traces",
        Runs(0, Some("atf report samples/sample-small")),
    ),
    (
        "atf report --tree traces",
        Runs(0, Some("atf report --tree samples/sample-small")),
    ),
    (
        "atf report --callers token traces",
        Runs(0, Some("atf report --callers load samples/sample-small")),
    ),
    (
        "atf last crashed",
        Runs(0, Some("atf last samples/sample-small")),
    ),
    (
        "atf dump --spans traces",
        Runs(
            0,
            Some("atf dump --spans samples/sample-small/session_20260105_101500"),
        ),
    ),
    (
        "atf export --format perfetto --out trace.pftrace traces",
        Runs(
            0,
            Some("atf export --format perfetto --out trace.pftrace samples/sample-small"),
        ),
    ),
    (
        "atf flamegraph --out flame.svg traces",
        Runs(
            0,
            Some("atf flamegraph --out flame.svg samples/sample-small"),
        ),
    ),
    (
        "atf diff before traces",
        Runs(
            0,
            Some("atf diff samples/sample-small samples/sample-small"),
        ),
    ),
    (
        "atf export --format csv --out calls.csv traces && sqlite3 :memory: '.import --csv calls.csv calls' 'select function, count(*), avg(duration_ns) from calls group by 1 order by 2 desc'",
        Elsewhere("needs sqlite3", ".ci/questions", "docs/questions.md"),
    ),
    (
        "atf info PATH",
        Runs(0, Some("atf info samples/sample-small")),
    ),
    (
        "atf diff BEFORE AFTER",
        Runs(
            0,
            Some("atf diff samples/sample-small samples/sample-small"),
        ),
    ),
    (
        "atf dump PATH",
        Runs(0, Some("atf dump samples/sample-small")),
    ),
    (
        "atf symbolize --debug-dir DIR SESSION",
        Runs(
            0,
            Some("atf symbolize --debug-dir debug session_20260105_101500/pid_4242"),
        ),
    ),
    (
        "atf symbolize SESSION",
        Runs(0, Some("atf symbolize session_20260105_101500/pid_4242")),
    ),
    (
        "atf report PATH",
        Runs(0, Some("atf report samples/sample-small")),
    ),
    (
        "atf report --tree PATH",
        Runs(0, Some("atf report --tree samples/sample-small")),
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
        "atf last PATH",
        Runs(0, Some("atf last samples/sample-small")),
    ),
    (
        "atf explain FILE",
        Runs(0, Some("atf explain thread_0/index.atf")),
    ),
    (
        "atf dump --thread 1 --last 20 PATH",
        Runs(
            0,
            Some("atf dump --thread 1 --last 20 samples/sample-small"),
        ),
    ),
    (
        "atf dump …/thread_0/salvaged.atf",
        Elsewhere(
            "needs a trace with a hole",
            "atf/cli/tests/cli/told.rs",
            "thread_7/salvaged.atf",
        ),
    ),
    (
        "cargo run -p atf-codegen -- spec why index_footer.reserved",
        RUNS,
    ),
    ("cargo run -p atf-codegen -- spec check", RUNS),
    (
        "atf-codegen --overlay DIR spec edition",
        Runs(
            0,
            Some("atf-codegen --overlay spec/experiments/vendor spec edition"),
        ),
    ),
    (
        "atf-codegen --overlay DIR spec check",
        Runs(
            0,
            Some("atf-codegen --overlay spec/experiments/vendor spec check"),
        ),
    ),
    (
        "atf-codegen --overlay DIR generate rust",
        Runs(
            0,
            Some("atf-codegen --overlay spec/experiments/vendor generate rust --out acme"),
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
        "cargo run --release -p atf-bench -- --markdown FILE",
        Elsewhere("minutes", ".github/workflows/nightly.yml", "atf-bench"),
    ),
    (
        "cargo run --release -p atf-safety -- NAME",
        Elsewhere("minutes", ".ci/run", "-p atf-safety -- exhaustive"),
    ),
    (
        "cargo run --no-default-features --example atf-fuzz -- mutate 60",
        Elsewhere("a minute", ".ci/run", "fuzz/Cargo.toml"),
    ),
    (
        "cargo run --no-default-features --example atf-fuzz -- about TARGET NAME",
        Elsewhere(
            "needs a case found by fuzzing",
            ".ci/run",
            "fuzz/Cargo.toml",
        ),
    ),
    ("atf-codegen generate --check", RUNS),
    ("atf-conformance corpus list", RUNS),
    ("atf-conformance corpus list --verdicts", RUNS),
    (
        "atf check --deny should",
        Runs(0, Some("atf check --deny should clean")),
    ),
    (
        "atf-conformance check --deny should PATH",
        Runs(0, Some("atf-conformance check --deny should clean")),
    ),
    (
        "atf-conformance run",
        Elsewhere("minutes", ".ci/run", "-p atf-conformance -- run"),
    ),
    (
        "atf-conformance smoke TESTEE.toml",
        Runs(0, Some("atf-conformance smoke my-reader/TESTEE.toml")),
    ),
    (
        "atf-conformance run TESTEE.toml",
        Runs(
            0,
            Some("atf-conformance run my-reader/TESTEE.toml --role read --case 'v1/iftr-002-*'"),
        ),
    ),
    (
        "atf-conformance run --update TESTEE.toml",
        Elsewhere("needs failures", "conformance/tests/run/main.rs", "mod"),
    ),
];

/// The commands of `--help`, under `Example:`.
pub(crate) const HELP: &[(&str, How)] = &[
    (
        "atf completions bash > ~/.local/share/bash-completion/completions/atf",
        RUNS,
    ),
    (
        "atf convert --wire 2 samples/sample-small --out converted",
        RUNS,
    ),
    (
        "atf cut --from +50us --to +60us samples/sample-small --out part",
        RUNS,
    ),
    // The status reports a thread that was never finalized.
    (
        "atf diff --limit 3 samples/sample-small samples/sample-crashed",
        Runs(1, None),
    ),
    (
        "atf dump --from +1ms --to +2ms --function 'parse*' session_20260105_101500/pid_4242",
        RUNS,
    ),
    ("atf explain --events 3..5 thread_0/index.atf", RUNS),
    // The status reports a thread that was never finalized.
    ("atf info --verify samples/sample-crashed", Runs(1, None)),
    ("atf last --thread 1 samples/sample-crashed", Runs(1, None)),
    ("atf report --limit 5 samples/sample-small", RUNS),
    (
        "atf export --format perfetto --out trace.pftrace samples/sample-small",
        RUNS,
    ),
    ("atf flamegraph --out flame.svg samples/sample-small", RUNS),
    (
        "atf open samples/sample-small",
        Elsewhere(
            "waits for a browser",
            "atf/cli/tests/cli/open.rs",
            "\"open\", \"--port\"",
        ),
    ),
    ("atf recover samples/sample-crashed --out recovered", RUNS),
    (
        "atf scrub --module-names-only samples/sample-small --out shared",
        RUNS,
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
        "atf symbolize --debug-dir debug session_20260105_101500/pid_4242",
        RUNS,
    ),
    (
        "atf synth --threads 8 --events 100000 --shape runs=10..1000 --out trace",
        RUNS,
    ),
    (
        "atf check samples/sample-crashed --report html=report.html",
        RUNS,
    ),
    (
        "atf-conformance corpus list --rule ATF-IFTR-002 --wire 1",
        RUNS,
    ),
    ("atf-conformance corpus list --verdicts 'v1/ihdr-*'", RUNS),
    ("atf-conformance corpus show v1/iftr-002-one-too-many", RUNS),
    (
        "atf-conformance corpus copy /tmp/cases 'v1/iftr-*'",
        Runs(0, Some("atf-conformance corpus copy cases 'v1/iftr-*'")),
    ),
    (
        "atf-conformance run my-reader/TESTEE.toml --rule ATF-IFTR-004",
        RUNS,
    ),
    ("atf-conformance scripts show v1/write-one-detail", RUNS),
    (
        "atf-codegen generate --check",
        Elsewhere(
            "shows a stale header there",
            "codegen/tests/cli/generate.rs",
            "stale: ",
        ),
    ),
    ("atf-codegen spec check", RUNS),
    (
        "atf-codegen --overlay spec/experiments/vendor spec edition",
        RUNS,
    ),
    ("atf-codegen spec why index_footer.reserved", RUNS),
    ("atf-codegen spec diff 1 2", RUNS),
];
