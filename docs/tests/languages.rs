//! Runs the examples on the pages of `readers`, in each language whose tools are installed, and checks
//! what `docs/targets.md` states about each.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use atf::EventKind;
use atf::thread::ThreadReader;
use atf_docs::{Example, examples};
use atf_samples::tools::has;

/// A language: its name in `readers` and on its page, the tools that its examples need, the file of
/// an example, the code before and after the fragments on the page, and the script that runs the file.
struct Language {
    folder: &'static str,
    name: &'static str,
    tools: &'static [&'static str],
    file: &'static str,
    around: (&'static str, &'static str),
    script: &'static str,
}

const LANGUAGES: &[Language] = &[
    Language {
        folder: "cpp",
        name: "cpp",
        tools: &["g++"],
        file: "example.cpp",
        around: ("", ""),
        script: "g++ -std=c++17 -Wall -Wextra -Werror -I$READER/include -o example example.cpp
                 ./example",
    },
    Language {
        folder: "go",
        name: "go",
        tools: &["go"],
        file: "example.go",
        around: (
            "package main\nimport (\n\"fmt\"\n\"log\"\n\"atf.example/atf\"\n)\nfunc main() {\n",
            "}\n",
        ),
        script: "printf 'module example\ngo 1.19\n' >go.mod
                 go mod edit -require atf.example/atf@v0.0.0 -replace atf.example/atf=$READER
                 go run .",
    },
    Language {
        folder: "java",
        name: "java",
        tools: &["javac", "java"],
        file: "Example.java",
        around: (
            "import atf.format.*;\nimport atf.format.Records.*;\nimport java.nio.file.Path;\n\
             class Example { public static void main(String[] arguments) throws Exception {\n",
            "} }\n",
        ),
        script: "javac --release 17 -d build $(find $READER/src -name '*.java') Example.java
                 java -cp build Example",
    },
    Language {
        folder: "python",
        name: "python",
        tools: &["python3"],
        file: "example.py",
        around: ("", ""),
        script: "PYTHONPATH=$READER/src python3 -B example.py",
    },
    Language {
        folder: "typescript",
        name: "ts",
        tools: &["node", "tsc"],
        file: "example.ts",
        around: ("", ""),
        script: "mkdir -p node_modules/@adatrace/reader
                 cp $READER/package.json node_modules/@adatrace/reader
                 tsc -p $READER --outDir node_modules/@adatrace/reader/dist
                 echo '{\"type\": \"module\"}' >package.json
                 echo '{\"compilerOptions\": {\"strict\": true, \"target\": \"ES2022\", \"types\": [],
                        \"module\": \"Node16\", \"lib\": [\"ES2022\", \"WebWorker\"]},
                        \"files\": [\"example.ts\"]}' >tsconfig.json
                 tsc
                 node example.js",
    },
];

/// The first words of a fragment that is not a complete program, and the lines to put before it.
const FRAGMENT: (&str, &str) = (
    "for (const block",
    "import { IndexFile } from \"@adatrace/reader\";\nimport { FileSource } from \"@adatrace/reader/node\";\n\
     const file = new IndexFile(new FileSource(\"thread_0/index.atf\"));\n\
     const count = (kind: number, _: number) => console.log(kind);\n",
);

fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("the root")
}

fn kinds(thread: &Path) -> Vec<EventKind> {
    let thread = ThreadReader::open(thread).expect("a thread");
    let events = thread.index().events();
    let kinds = events.map(|event| event.expect("an event").event_kind);
    kinds.collect()
}

#[test]
fn the_examples_in_each_language_run() {
    let process = root().join("samples/sample-small/session_20260105_101500/pid_4242");
    let files = atf_samples::tree(&process).expect("a sample");
    for language in LANGUAGES {
        if language.tools.iter().filter(|tool| !has(tool)).count() > 0 {
            continue;
        }
        let reader = root().join("readers").join(language.folder);
        let page = fs::read_to_string(reader.join("README.md")).expect("a page");
        let mut count = 0;
        for example in examples(&page) {
            let Example::Block(name, text) = example else {
                continue;
            };
            if name != language.name {
                continue;
            }
            count += 1;
            let folder = tempfile::tempdir().expect("a temporary folder");
            let put = |path: &Path, bytes: &[u8]| {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                fs::write(path, bytes).expect("a temporary file");
            };
            for (path, bytes) in &files {
                put(&Path::new("pid_4242").join(path), bytes);
                if path.starts_with("thread_0") {
                    put(Path::new(path), bytes);
                }
            }
            let (mut before, after) = language.around;
            if text.starts_with(FRAGMENT.0) {
                before = FRAGMENT.1;
            }
            let whole = format!("{before}{text}{after}");
            put(Path::new(language.file), whole.as_bytes());
            let output = Command::new("sh")
                .args(["-e", "-c", language.script])
                .current_dir(folder.path())
                .env("READER", &reader)
                .output()
                .expect("sh runs");
            let printed = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{text}\n{output:?}");
            check(&text, &printed, folder.path());
        }
        assert!(count > 0, "{}: no examples", language.folder);
    }
}

/// Checks the output or the files of an example.
fn check(text: &str, printed: &str, folder: &Path) {
    let written = folder.join("traces/pid_4242/thread_0");
    if text.contains("SessionWriter") {
        assert_eq!(printed, "");
        assert_eq!(kinds(&written)[0], EventKind::CALL);
        let session = atf::session::SessionReader::open(folder.join("traces/pid_4242"));
        drop(session.expect("a session with a manifest"));
        return;
    }
    let lines: Vec<_> = printed.lines().collect();
    let events = kinds(&folder.join("thread_0"));
    if text.starts_with(FRAGMENT.0) {
        let all: Vec<_> = events.iter().map(|kind| kind.0.to_string()).collect();
        assert_eq!(lines, all);
        return;
    }
    let calls = events.iter().filter(|kind| **kind == EventKind::CALL);
    let start = format!("{} calls, finalized: ", calls.count());
    assert!(lines[0].starts_with(&start), "{printed}");
    let threads = fs::read_dir(folder.join("pid_4242")).expect("a session");
    let threads = threads.map(|entry| entry.expect("an entry").path());
    let threads = threads.filter(|path| path.is_dir());
    let all: usize = threads.map(|path| kinds(&path).len()).sum();
    assert_eq!(lines.len() - 1, all, "{text}");
}

/// Returns the numbers of generated and of typed lines in a language's library, in hundreds.
fn hundreds(folder: &Path) -> [usize; 2] {
    let mut lines = [0, 0];
    for (path, bytes) in atf_samples::tree(folder).expect("a folder of readers") {
        let top = path.split('/').next().unwrap_or_default();
        let is_library =
            ["include", "src"].contains(&top) || top.ends_with(".go") && !top.ends_with("_test.go");
        if !is_library || path.contains("__pycache__") {
            continue;
        }
        let text = String::from_utf8(bytes).expect("UTF-8");
        let first = text.lines().next().unwrap_or_default();
        let is_typed = !first.contains("@generated");
        lines[usize::from(is_typed)] += text.lines().count();
    }
    lines.map(|count| (count + 50) / 100)
}

#[test]
fn the_page_on_targets_states_tiers_and_lines() {
    let page = fs::read_to_string(root().join("docs/targets.md")).expect("the page");
    for language in LANGUAGES {
        let reader = root().join("readers").join(language.folder);
        let testee = fs::read_to_string(reader.join("TESTEE.toml")).expect("a testee");
        let testee: toml::Table = testee.parse().expect("TOML");
        let tier = if testee.contains_key("write") {
            "reader and writer | get, set"
        } else {
            "session | get"
        };
        let [generated, typed] = hundreds(&reader).map(|count| {
            let count = format!("{},{}00", count / 10, count % 10);
            count.trim_start_matches("0,").to_owned()
        });
        let row = format!(
            "(../readers/{}) | {tier} | {generated} generated, {typed} typed |",
            language.folder
        );
        assert!(page.contains(&row), "docs/targets.md has no row: {row}");
    }
}
