//! Runs the steps of the CI examples, in repositories that consist of the files that the page names.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use atf_samples::tools::has;
use serde_json::Value;
use tempfile::TempDir;

use crate::guide::{path_with_kit, steps};
use crate::programs::root;

/// Returns the blocks of a language below a heading of the page.
fn blocks(heading: &str, language: &str) -> Vec<String> {
    let page = fs::read_to_string(root().join("docs/conformance/ci-examples.md")).unwrap();
    let (_, below) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let below = below.split_once("\n## ").map_or(below, |(part, _)| part);
    let fence = format!("```{language}\n");
    let blocks = below.split(&fence).skip(1);
    let blocks = blocks.map(|block| block.split_once("```").unwrap().0.to_owned());
    blocks.collect()
}

/// Runs the commands of a workflow up to the first failure, with an installed kit. Returns the
/// number of commands that were run, and the last output.
fn run_workflow(folder: &Path, heading: &str, kit: &str) -> (usize, Output) {
    let [workflow] = blocks(heading, "yaml").try_into().unwrap();
    let workflow: Value = serde_saphyr::from_str(&workflow).unwrap();
    let steps = steps(&workflow["jobs"]["conformance"]["steps"]);
    let used = steps.iter().filter_map(|step| step["uses"].as_str());
    let installs = used.filter(|uses| uses.contains("/setup-atf-conformance@"));
    assert_eq!(installs.count(), 1);
    let commands = steps.iter().filter_map(|step| step["run"].as_str());
    let commands: Vec<_> = commands.collect();
    let path = path_with_kit(folder, kit);
    let mut last = None;
    for (seq, command) in commands.iter().enumerate() {
        let mut shell = Command::new("sh");
        shell
            .args(["-e", "-c", command])
            .current_dir(folder)
            .env("PATH", &path)
            .env("ADATRACE", root().join("atf"));
        let output = shell.output().unwrap();
        if !output.status.success() {
            return (seq + 1, output);
        }
        last = Some(output);
    }
    (commands.len(), last.unwrap())
}

#[test]
#[ignore = "slow: the nightly job runs it"]
fn the_example_in_cpp_builds_with_cmake_and_is_graded() {
    if !(has("cmake") && has("ctest") && has("c++")) {
        return;
    }
    let repository = TempDir::new().unwrap();
    let folder = repository.path();
    for (path, bytes) in atf_samples::tree(&root().join("readers/cpp")).unwrap() {
        let path = folder.join("conformance").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let [lists] = blocks("A C++ tracer with CMake", "cmake")
        .try_into()
        .unwrap();
    fs::write(folder.join("CMakeLists.txt"), lists).unwrap();
    let kit = "exec \"$KIT\" \"$@\" $FEW";
    let (count, output) = run_workflow(folder, "A C++ tracer with CMake", kit);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(count, 3);
    for report in ["conformance.html", "conformance.xml"] {
        assert!(folder.join("build").join(report).is_file(), "{report}");
    }
}

#[test]
fn the_example_in_c_is_checked_and_a_broken_rule_fails_the_job() {
    if !has("cc") {
        return;
    }
    let tracer = fs::read_to_string(root().join("codegen/tests/c/s1_tracer.c")).unwrap();
    let run = |tracer: &str| {
        let repository = TempDir::new().unwrap();
        let folder = repository.path();
        fs::write(folder.join("tracer.c"), tracer).unwrap();
        let (count, output) = run_workflow(folder, "A C tracer", "exec \"$KIT\" \"$@\"");
        let log = fs::read_to_string(folder.join("traces.sarif")).unwrap();
        let log: Value = serde_json::from_str(&log).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap().clone();
        (count, output, results)
    };
    let (count, output, results) = run(&tracer);
    assert!(output.status.success(), "{output:?}");
    assert_eq!((count, results), (3, vec![]));

    let broken = tracer.replace(
        "atf_crc32c(section->checksum",
        "~atf_crc32c(section->checksum",
    );
    assert_ne!(broken, tracer);
    let (count, output, results) = run(&broken);
    assert_eq!((count, output.status.code()), (3, Some(1)), "{output:?}");
    let has_rule = |rule: &str| results.iter().any(|result| result["ruleId"] == rule);
    assert!(has_rule("ATF-IFTR-004"), "{results:?}");
}
