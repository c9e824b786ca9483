//! Tests `generate --template` and `generate --target`, with the example in Lua.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use atf_codegen::emit::folder::FORMS;
use atf_samples::tools::{has, skip_without};
use tempfile::TempDir;

use crate::{Ran, files, lua, put, real_spec, run, temp, utf8};

/// Runs `generate` with an option that names a target. Also returns the output folder.
fn generate(option: &str, target: &Path) -> (TempDir, Ran) {
    let out = temp();
    let arguments = ["generate", option, utf8(target), "--out", utf8(out.path())];
    let ran = run(&real_spec(), &arguments);
    (out, ran)
}

fn template(text: &str) -> TempDir {
    let folder = temp();
    put(folder.path(), "page.txt.jinja", text);
    folder
}

/// The generated reader must find as many events as the interpreter, or refuse the same files. The
/// files are the samples, truncated at every 61st byte.
#[test]
fn a_reader_from_templates_in_a_language_that_we_do_not_ship_reads_and_recovers() {
    if !has("lua5.4") {
        return skip_without("lua5.4");
    }
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lua");
    let (out, ran) = generate("--template", &example);
    assert_eq!(ran.succeeds(), "wrote atf.lua\n");
    let (mut files, mut expected) = (Vec::new(), Vec::new());
    for (name, bytes) in atf_samples::tree(&atf_samples::folder()).expect("the samples") {
        let ending = if name.ends_with("detail.atf") {
            "detail.atf"
        } else {
            "index.atf"
        };
        if !name.ends_with(ending) {
            continue;
        }
        for size in (0..bytes.len().min(2000)).step_by(61).chain([bytes.len()]) {
            let file = out.path().join(format!("{}.{ending}", files.len()));
            fs::write(&file, &bytes[..size]).expect("a temporary file");
            let document = atf_interpreter::read_path(&file).expect("a readable file");
            let count = document["derived"]["event_count"].as_str();
            expected.push(count.unwrap_or("refused").to_owned());
            files.push(file);
        }
    }
    assert!(files.len() > 100, "only {} files", files.len());
    assert!(expected.iter().any(|it| it == "refused"));
    let found = lua::read(out.path(), files.iter().map(PathBuf::as_path)).expect("Lua reads them");
    let found = found.lines().map(|line| {
        let is_rule = line.starts_with("ATF-");
        if is_rule { "refused" } else { line }
    });
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn file_1_recognises_both_kinds_of_files() {
    if !has("file") {
        return skip_without("file");
    }
    let magic = Path::new(env!("CARGO_MANIFEST_DIR")).join("../readers/magic/atf.magic");
    let thread =
        atf_samples::folder().join("sample-small/session_20260105_101500/pid_4242/thread_0");
    let said = |name: &str| {
        let mut file = Command::new("file");
        file.args(["--brief", "-m"])
            .arg(&magic)
            .arg(thread.join(name));
        let output = file.output().expect("file runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let rest = "wire version 1, x86-64, Linux, thread 0";
    let index = format!("ADA Trace Format v2, index file, {rest}, 900 events\n");
    let detail = format!("ADA Trace Format v2, detail file, {rest}, 118 events\n");
    assert_eq!([said("index.atf"), said("detail.atf")], [index, detail]);
}

#[test]
fn a_fault_in_a_template_is_shown_with_its_location_and_nothing_is_written() {
    let fault = |text: &str| {
        let folder = template(text);
        let (out, ran) = generate("--template", folder.path());
        ran.fails(1);
        assert!(files(out.path()).is_empty());
        ran.stderr.replace(utf8(folder.path()), "DIR")
    };
    assert_eq!(
        fault("one\n{{ record.index_heder.size }}\n"),
        "error: `record.index_heder` is undefined\n \
         --> DIR/page.txt.jinja:2:10\n  \
         |\n2 | {{ record.index_heder.size }}\n  |          ^^^^^^^^^^^^^^^^^\n\n1 fault\n"
    );
    let unclosed = fault("{% for wire in wires %}");
    assert!(unclosed.contains("--> DIR/page.txt.jinja:1:"), "{unclosed}");
    let form = fault("{{ grammars[0].functions[0].is|code({'iff': ''}) }}");
    assert!(form.contains("an expression has no form `iff`"), "{form}");
    let empty = temp();
    let (_, ran) = generate("--template", empty.path());
    assert_eq!(ran.status, 2);
    ran.reports("no file ends in .jinja");
    let (_, ran) = generate("--template", Path::new("no/such/folder"));
    assert_eq!(ran.status, 2);
    ran.reports("no/such/folder: ");
}

#[cfg(unix)]
#[test]
fn a_program_writes_only_below_the_output_folder() {
    let program = |body: &str| -> (TempDir, PathBuf) {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = temp();
        let file = folder.path().join("target");
        fs::write(&file, format!("#!/bin/sh\n{body}\n")).expect("a temporary file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a mode");
        (folder, file)
    };
    let (_folder, file) = program(
        r#"grep -c '"wires": \[1, 2\]' >&2; printf '{"files":[{"path":"a/b.txt","text":"text"}]}'"#,
    );
    let (out, ran) = generate("--target", &file);
    let found = (ran.status, &*ran.stdout, &*ran.stderr);
    assert_eq!(found, (0, "wrote a/b.txt\n", "1\n"));
    let text = fs::read_to_string(out.path().join("a/b.txt"));
    assert_eq!(text.expect("a file"), "text");

    let refused = |body: &str| {
        let (_folder, file) = program(body);
        let (out, ran) = generate("--target", &file);
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{body}");
        assert!(files(out.path()).is_empty(), "{body}");
        ran.stderr.replace(utf8(&file), "PROGRAM")
    };
    for path in [
        "../x",
        "/x",
        "a/../x",
        "a//x",
        ".",
        "",
        "a/",
        r"a\\..\\x",
        "C:x",
    ] {
        let answer = r#"{"files":[{"path":"good","text":""},{"path":"PATH","text":""}]}"#;
        let answer = answer.replace("PATH", path);
        let says = refused(&format!("cat <<'END'\n{answer}\nEND"));
        let why = "is not a path below the output folder";
        assert!(says.contains(why), "{path}: {says}");
    }
    let twice = r#"{"files":[{"path":"x","text":""},{"path":"x","text":""}]}"#;
    assert!(refused(&format!("echo '{twice}'")).contains("two files are named `x`"));
    assert!(refused("exit 3").contains("PROGRAM: exit status: 3"));
    assert!(refused("echo done").contains("PROGRAM: standard output: expected {\"files\""));
}

#[test]
fn the_guide_lists_each_form_with_its_default() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/targets.md");
    let guide = fs::read_to_string(guide).expect("the guide");
    let code = |text: &str| match text {
        "" => String::new(),
        text => format!("`{}`", text.replace('|', r"\|")),
    };
    for (name, default) in FORMS {
        let start = format!("| {} | ", code(name));
        let end = format!(" | {} |", code(default));
        let has_row = |line: &str| line.starts_with(&start) && line.ends_with(&end);
        assert!(guide.lines().any(has_row), "docs/targets.md: {start}{end}");
    }
}
