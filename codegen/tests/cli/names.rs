//! Tests that `spec check` refuses overlays whose names would clash in generated code.

use std::fs;

use tempfile::TempDir;

use crate::{Ran, real_spec, run};

/// Checks an overlay that consists of one file.
fn check(file: &str, text: &str) -> Ran {
    let overlay = tempfile::tempdir().expect("a temporary folder");
    let path = overlay.path().join(file);
    let folder = path.parent().expect("a file is in a folder");
    fs::create_dir_all(folder).expect("a temporary folder");
    fs::write(&path, text).expect("a temporary file");
    check_overlay(&overlay)
}

fn check_overlay(overlay: &TempDir) -> Ran {
    let overlay = overlay.path().to_str().expect("a path in UTF-8");
    run(&real_spec(), &["--overlay", overlay, "spec", "check"])
}

/// Checks an overlay that adds an enumeration with one member.
fn check_enum(name: &str, prefix: &str, member: &str) -> Ran {
    let text = format!(
        "enums:\n  - enum: {name}\n    c_prefix: {prefix}\n    means: Acme's.\n    members:\n      \
         - {{ name: {member}, value: 7, means: Seven., claims: [] }}\n"
    );
    check("enums.yaml", &text)
}

/// Checks an overlay that adds a constant.
fn check_constant(name: &str) -> Ran {
    let text = format!(
        "constants:\n  - constant: {name}\n    is: index_header.event_size.value\n    means: Hm.\n"
    );
    check("constants.yaml", &text)
}

/// Checks the vendor's example, which adds a footer field, with another name for that field.
fn check_field(name: &str) -> Ran {
    let overlay = tempfile::tempdir().expect("a temporary folder");
    for folder in ["sources", "records"] {
        fs::create_dir(overlay.path().join(folder)).expect("a temporary folder");
    }
    for file in [
        "format.yaml",
        "enums.yaml",
        "sources/ACME.yaml",
        "records/index_footer.yaml",
    ] {
        let example = real_spec().join("experiments/vendor").join(file);
        let text = fs::read_to_string(example).expect("a file of the example");
        let text = text.replace("dropped_count", name);
        fs::write(overlay.path().join(file), text).expect("a temporary file");
    }
    check_overlay(&overlay)
}

fn assert_refused(ran: &Ran, why: &str) {
    assert_eq!(ran.status, 1, "{why}: {}", ran.stdout);
    assert!(ran.stderr.contains(why), "{why}: {}", ran.stderr);
}

#[test]
fn names_that_clash_with_nothing_are_accepted() {
    let accepted = [
        check_enum("acme_event", "ATF_INDEX_EVENTS", "size"),
        check_enum("acme_event", "ACME_INT8", "linux"),
        check_constant("ACME_NONE"),
        check_field("dropped"),
        check_field("unix_time"),
    ];
    for ran in accepted {
        assert_eq!((ran.status, &*ran.stderr), (0, ""));
    }
}

#[test]
fn a_name_in_c_has_one_meaning() {
    let size = check_enum("acme_event", "ATF_INDEX_EVENT", "size");
    assert_refused(
        &size,
        "the C headers would define `ATF_INDEX_EVENT_SIZE` twice",
    );
    assert_refused(&size, "defines it too");
    let version = check_enum("acme", "ATF_V2_INDEX_HEADER", "version");
    assert_refused(&version, "would define `ATF_V2_INDEX_HEADER_VERSION` twice");
    let stem = check_field("_checksum");
    assert_refused(&stem, "would define `atf_index_footer_get_checksum` twice");
    let guard = check_constant("ATF_V1_H");
    assert_refused(&guard, "`ATF_V1_H` has another meaning in the C headers");
    let record = check("records/index_event.yaml", "c_name: record\n");
    assert_refused(&record, "`record` has another meaning in the C headers");
}

#[test]
fn names_that_compilers_and_standard_headers_define_are_refused() {
    for name in ["unix", "linux", "i386", "errno"] {
        assert_refused(&check_field(name), "is a macro in C");
        let record = format!("c_name: {name}\n");
        assert_refused(
            &check("records/index_event.yaml", &record),
            "is a macro in C",
        );
    }
    let standard = "is a name of the standard headers";
    assert_refused(&check_field("uint8_t"), standard);
    assert_refused(&check_enum("acme", "INT8", "max"), standard);
    assert_refused(&check_constant("\"NULL\""), standard);
    assert_refused(
        &check("records/index_event.yaml", "c_name: size_t\n"),
        standard,
    );
    let keyword = check("records/index_event.yaml", "c_name: int\n");
    assert_refused(&keyword, "`int` is a keyword of C, C++ or Rust");
}

#[test]
fn a_type_in_cpp_has_no_member_of_its_own_name() {
    let twin = check("records/index_footer.yaml", "c_name: checksum\n");
    assert_refused(&twin, "a field of the record has the same name");
}

#[test]
fn macros_are_in_capitals_so_that_they_replace_no_field() {
    assert_refused(
        &check_constant("checksum"),
        "`checksum` is not a valid name for a macro",
    );
    let prefix = check_enum("acme", "acme", "one");
    assert_refused(&prefix, "`acme` is not a valid name for a macro");
}
