//! Runs the commands in the guide.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use atf_samples::tools::has;
use serde_json::Value;
use tempfile::TempDir;

use crate::programs::{self, Testee, path, root, succeeds};

/// Returns the commands below a heading of the guide.
fn commands<'a>(guide: &'a str, heading: &str) -> &'a str {
    let below = guide.split_once(&format!("\n### {heading}\n"));
    let (_, below) = below.unwrap_or_else(|| panic!("no heading {heading}"));
    let (_, block) = below.split_once("```sh\n").expect("commands");
    block.split_once("```").expect("their end").0
}

/// Returns a `PATH` with a script `atf-conformance`, which is created in the folder. In the script,
/// `$KIT` is the kit and `$FEW` selects a few cases.
pub(crate) fn path_with_kit(folder: &Path, script: &str) -> OsString {
    let bin = folder.join("bin");
    fs::create_dir(&bin).unwrap();
    let kit = env!("CARGO_BIN_EXE_atf-conformance");
    let program = bin.join("atf-conformance");
    let few = "--case v1/iftr-002-a* --case v1/write-one-detail --time-limit 60";
    let text = format!("#!/bin/sh\nset -f\nKIT='{kit}' FEW='{few}'\n{script}\n");
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    env::join_paths([bin].into_iter().chain(env::split_paths(path()))).unwrap()
}

/// Runs the commands on a few cases, in a folder that is laid out like a checkout, and expects that
/// all of them pass.
fn follow(heading: &str) {
    let folder = TempDir::new().unwrap();
    for entry in fs::read_dir(root()).unwrap().map(Result::unwrap) {
        if !["target", ".git"]
            .map(OsStr::new)
            .contains(&&*entry.file_name())
        {
            symlink(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
    }
    let path = path_with_kit(folder.path(), "exec \"$KIT\" \"$@\" $FEW");
    let guide = fs::read_to_string(root().join("docs/conformance/README.md")).unwrap();
    let mut shell = Command::new("sh");
    shell.current_dir(folder.path()).env("PATH", path);
    // Use only the crates that this build has already downloaded, and skip optimization to save
    // time.
    shell.env("CARGO_NET_OFFLINE", "true");
    shell.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
    let said = succeeds(shell.args(["-e", "-c", commands(&guide, heading)]));
    assert!(said.contains("\nAll "), "{said}");
}

#[test]
fn the_guides_commands_for_c_produce_a_verdict() {
    if has("make") && has("cc") {
        follow("C");
    }
}

#[test]
fn the_guides_commands_for_cpp_produce_a_verdict() {
    if has("make") && has("c++") {
        follow("C++17");
    }
}

#[test]
fn the_guides_commands_for_rust_produce_a_verdict() {
    follow("Rust");
}

#[test]
fn the_guides_commands_for_go_produce_a_verdict() {
    if has("go") {
        follow("Go");
    }
}

#[test]
fn the_guides_commands_for_python_produce_a_verdict() {
    if has("python3") {
        follow("Python");
    }
}

/// The starters are examples: they need not pass every case, but they must follow the protocol and
/// must not crash.
#[test]
fn the_starters_answer_every_case_that_they_support() {
    let rustc = ["rustc", "--edition", "2024", "-D", "warnings", "-o"];
    gives_an_answer_to_every_case("rust", &rustc);
    if has("go") {
        gives_an_answer_to_every_case("go", &["go", "build", "-o"]);
    }
}

fn gives_an_answer_to_every_case(language: &str, compile: &[&str]) {
    let folder = TempDir::new().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testees/starter");
    let source = source.join(language);
    let program = folder.path().join("starter");
    let files = fs::read_dir(&source).unwrap();
    let mut files = files.map(|file| file.unwrap().path());
    let code = files.find(|file| file.file_stem() == Some(OsStr::new("starter")));
    let mut command = Command::new(compile[0]);
    succeeds(command.args(&compile[1..]).arg(&program).arg(code.unwrap()));
    let manifest = folder.path().join("TESTEE.toml");
    fs::copy(source.join("TESTEE.toml"), manifest).unwrap();
    let (_, results) = programs::run(&[&Testee::new(folder)], &["--time-limit", "60"]);
    assert_eq!(results["testees"][0]["refused"], Value::Null);
    let cases = results["cases"].as_array().unwrap();
    let those = |test: &dyn Fn(&Value) -> bool| -> Vec<_> {
        cases.iter().filter(|case| test(case)).collect()
    };
    let broken = ["crash", "timeout", "memory", "garbage"];
    let is_broken = |case: &Value| broken.iter().any(|class| case["class"] == *class);
    assert_eq!(those(&is_broken), [&Value::Null; 0]);
    let written = those(&|case| case["role"] == "write" && case["outcome"] == "failed");
    assert_eq!(written, [&Value::Null; 0]);
    let [passed, failed] =
        ["passed", "failed"].map(|outcome| those(&|case| case["outcome"] == outcome).len());
    assert!(passed > 2 * failed, "{passed} passed, {failed} failed");
}

/// Returns the guide's workflows: the smallest, GitLab's, pre-commit's, the one with a page, and steps for another job.
fn workflows() -> [Value; 5] {
    let guide = fs::read_to_string(root().join("docs/conformance/ci.md")).unwrap();
    let blocks = guide.split("```yaml\n").skip(1);
    let blocks = blocks.map(|block| block.split_once("```").unwrap().0);
    let parsed = blocks.map(|text| {
        let value = serde_saphyr::from_str(text);
        value.unwrap_or_else(|error| panic!("{error}\n{text}"))
    });
    let parsed: Vec<Value> = parsed.collect();
    parsed.try_into().unwrap()
}

pub(crate) fn steps(of: &Value) -> Vec<&Value> {
    of.as_array().unwrap().iter().collect()
}

#[test]
fn the_guides_workflow_publishes_even_if_the_smoke_test_fails() {
    let [.., workflow, _] = workflows();
    let steps = steps(&workflow["jobs"]["conformance"]["steps"]);
    let at = |part: &str| {
        let has = |step: &&Value| step.to_string().contains(part);
        let found = steps.iter().position(has);
        found.unwrap_or_else(|| panic!("no step contains {part}"))
    };
    let order = [
        "/setup-atf-conformance@",
        "atf-conformance smoke",
        "atf-conformance run",
        "upload-pages-artifact",
    ];
    let order = order.map(at);
    assert!(order.is_sorted(), "{order:?}");
    // After a step has failed, steps without a condition are skipped.
    let [_, smoke, run, upload] = order;
    assert!(steps[smoke]["if"].is_null());
    assert_eq!(steps[run]["if"], "${{ !cancelled() }}");
    let publish = &workflow["jobs"]["publish"];
    for always in [steps[upload], publish] {
        assert!(always["if"].as_str().unwrap().starts_with("always()"));
    }
    assert_eq!(publish["needs"], "conformance");
    assert_eq!(publish["permissions"]["pages"], "write");
    assert_eq!(publish["permissions"]["id-token"], "write");
    let deploys = publish["steps"].to_string();
    assert!(deploys.contains("actions/deploy-pages@"), "{deploys}");
}

/// Checks that the options in the workflows exist.
#[test]
fn the_guides_workflows_use_existing_options() {
    let [smallest, gitlab, hooks, workflow, others] = workflows();
    assert_eq!(hooks["repos"][0]["hooks"][0]["entry"], "atf check");
    let mut commands = 0;
    let [smallest, workflow] =
        [&smallest, &workflow].map(|it| steps(&it["jobs"]["conformance"]["steps"]));
    let steps = [smallest, workflow, steps(&others)].concat();
    let runs = steps.iter().map(|step| &step["run"]);
    for run in runs.chain(gitlab["conformance"]["script"].as_array().unwrap()) {
        let Some((_, command)) = run
            .as_str()
            .and_then(|run| run.split_once("atf-conformance "))
        else {
            continue;
        };
        let mut words = command.split_whitespace();
        let mut help = Command::new(env!("CARGO_BIN_EXE_atf-conformance"));
        let help = succeeds(help.arg(words.next().unwrap()).arg("--help"));
        for option in words.filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{option} in {command}");
        }
        commands += 1;
    }
    assert_eq!(commands, 5);
}
