//! Tests that users of the macros compile neither a YAML parser nor a command-line parser.

use std::process::Command;

#[test]
fn the_macro_needs_no_yaml_or_command_line_parser() {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--package",
            "atf-derive",
            "--edges",
            "normal,build",
        ])
        .args(["--prefix", "none", "--format", "{lib}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8_lossy(&output.stdout);
    assert!(tree.lines().any(|name| name == "atf_codegen"), "{tree}");
    for unwanted in ["serde_saphyr", "annotate_snippets", "schemars", "clap"] {
        assert!(
            !tree.lines().any(|name| name == unwanted),
            "{unwanted} in\n{tree}"
        );
    }
}
