//! Tests that `spec check` refuses overlays whose names would clash in generated code.

use std::collections::BTreeSet;
use std::fs;

use atf_spec::layout::camel_case;
use atf_spec::rust_names::{DECODED, METHODS};
use syn::{ImplItem, Item, Type};
use tempfile::TempDir;

use crate::{Ran, files, put, real_spec, run_over, temp, utf8};

const TAKEN_IN_RUST: &str = "already has a meaning in the Rust library";

/// Checks an overlay that consists of one file.
fn check(file: &str, text: &str) -> Ran {
    let overlay = temp();
    put(overlay.path(), file, text);
    check_overlay(&overlay)
}

fn check_overlay(overlay: &TempDir) -> Ran {
    run_over(utf8(overlay.path()), &["spec", "check"])
}

/// Checks an overlay that adds an enumeration with one member.
fn check_enum(name: &str, prefix: &str, member: &str) -> Ran {
    let text = format!(
        "enums:\n  - enum: {name}\n    c_prefix: {prefix}\n    means: Acme's.\n    members:\n      \
         - {{ name: {member}, value: 7, means: Seven., claims: [] }}\n"
    );
    check("enums.yaml", &text)
}

fn check_constant(name: &str) -> Ran {
    let text = format!(
        "constants:\n  - constant: {name}\n    is: index_header.event_size.value\n    means: Hm.\n"
    );
    check("constants.yaml", &text)
}

/// Checks the vendor's example, which adds a footer field, with that field renamed.
fn check_field(name: &str) -> Ran {
    let overlay = temp();
    let example = real_spec().join("experiments/vendor");
    for file in [
        "format.yaml",
        "enums.yaml",
        "sources/ACME.yaml",
        "records/index_footer.yaml",
    ] {
        let text = fs::read_to_string(example.join(file)).expect("a file of the example");
        put(overlay.path(), file, text.replace("dropped_count", name));
    }
    check_overlay(&overlay)
}

/// Checks an overlay that adds a record of one field.
fn check_record(name: &str, field: &str) -> Ran {
    let overlay = temp();
    let records = format!("records: [{name}]\n");
    put(overlay.path(), "format.yaml", records);
    let record = format!(
        "record: {name}\nc_name: AcmeThing\ntitle: Acme's thing\nfile: acme.atf\nmeans: Hm.\n\
         size: 8\nfields:\n  \
         - {{ name: {field}, offset: 0, type: u64, means: Hm., claims: [] }}\n"
    );
    put(overlay.path(), &format!("records/{name}.yaml"), record);
    check_overlay(&overlay)
}

/// Checks an overlay that renames the type of the index footer in C.
fn check_c_name(name: &str) -> Ran {
    check("records/index_footer.yaml", &format!("c_name: {name}\n"))
}

fn assert_refused(ran: &Ran, why: &str) {
    assert_eq!(ran.status, 1, "{why}: {}", ran.stdout);
    ran.reports(why);
}

/// Documents cite sources by their ids, in tables and links.
#[test]
fn a_sources_id_has_no_special_characters() {
    for (id, status) in [("AC|ME", 1), ("AC ME", 1), ("AC*/", 1), ("ACME-2.1_a", 0)] {
        let overlay = temp();
        let sources = format!("sources: [\"{id}\"]\n");
        put(overlay.path(), "format.yaml", sources);
        let source =
            format!("source: \"{id}\"\ntitle: Acme's\ndocument: acme\nabout: Hm.\nwire: 1\n");
        put(overlay.path(), "sources/ACME.yaml", source);
        let ran = check_overlay(&overlay);
        assert_eq!(ran.status, status, "{id}: {}", ran.stderr);
        let why = format!("`{id}` is not a valid id for a source");
        assert_eq!(ran.stderr.contains(&why), status == 1, "{}", ran.stderr);
    }
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
        ran.succeeds();
    }
}

#[test]
fn a_name_in_c_has_one_meaning() {
    let size = check_enum("acme_event", "ATF_INDEX_EVENT", "size");
    assert_refused(&size, "would define `ATF_INDEX_EVENT_SIZE` twice");
    assert_refused(&size, "defines it too");
    let version = check_enum("acme", "ATF_V2_INDEX_HEADER", "version");
    assert_refused(&version, "would define `ATF_V2_INDEX_HEADER_VERSION` twice");
    let stem = check_field("_checksum");
    assert_refused(&stem, "would define `atf_index_footer_get_checksum` twice");
    for (ran, name) in [
        (check_constant("ATF_V1_H"), "ATF_V1_H"),
        (check_c_name("record"), "record"),
    ] {
        let why = format!("`{name}` already has a meaning in the C headers");
        assert_refused(&ran, &why);
    }
}

#[test]
fn names_that_compilers_and_standard_headers_define_are_refused() {
    let macros = "unix linux i386 errno stdin small interface near far hyper pascal cdecl";
    for name in macros.split(' ') {
        assert_refused(&check_field(name), "is a macro in C");
    }
    assert_refused(&check_c_name("unix"), "is a macro in C");
    for ran in [
        check_field("uint8_t"),
        check_enum("acme", "INT8", "max"),
        check_constant("\"NULL\""),
        check_c_name("size_t"),
    ] {
        assert_refused(&ran, "is a name of the standard headers");
    }
    let keyword = check_c_name("int");
    assert_refused(&keyword, "`int` is a keyword of C, C++ or Rust");
}

#[test]
fn a_type_in_cpp_has_no_member_of_its_own_name() {
    let twin = check_c_name("checksum");
    assert_refused(&twin, "a field of the record has the same name");
}

/// Checks an overlay that adds a key to the manifest's object `thread`.
fn check_key(key: &str) -> Ran {
    let text =
        format!("objects:\n  - object: thread\n    fields:\n      - {{ {key}, means: Hm. }}\n");
    check("manifest.yaml", &text)
}

/// Checks an overlay that adds an object to the manifest.
fn check_object(name: &str) -> Ran {
    let text = format!(
        "objects:\n  - object: {name}\n    means: Hm.\n    fields: [{{ name: id, type: u8, means: Hm. }}]\n"
    );
    check("manifest.yaml", &text)
}

#[test]
fn an_overlay_can_add_a_record() {
    let ran = check_record("acme", "thing");
    ran.succeeds();
    let accessor = check_record("v1_index_footer", "checksum_");
    assert_refused(&accessor, "`checksum_` is not a valid name for a field");
    let accessor = check_record("v1_index_footer", "event_count");
    let twice = "would define `atf_v1_index_footer_get_event_count` twice";
    assert_refused(&accessor, twice);
}

#[test]
fn a_record_cannot_have_the_name_of_another_page() {
    let reference = real_spec().join("../docs/reference");
    let mut pages = BTreeSet::new();
    for (path, _) in files(&reference) {
        let name = path.rsplit('/').next().unwrap_or_default();
        let (stem, _) = name.rsplit_once('.').expect("a page's name");
        let stem = stem.to_lowercase();
        let record = stem.split('.').next().unwrap_or_default();
        let file = real_spec().join(format!("records/{record}.yaml"));
        if !file.exists() {
            pages.insert(stem);
        }
    }
    assert!(pages.len() > 5, "{pages:?}");
    for page in pages {
        let ran = check_record(&page, "thing");
        assert_refused(&ran, &format!("`{page}` is another page of the reference"));
    }
}

#[test]
fn a_type_in_rust_has_one_meaning() {
    let record = check_enum("index_header", "ACME", "one");
    assert_refused(&record, "the Rust library would define `IndexHeader` twice");
    check_enum("index_flags1", "ACME", "one").succeeds();
    check_enum("o_s", "ACME", "one").succeeds();
    let digits = "enums:\n
  - { enum: a_1, c_prefix: AA, means: Hm., members: [] }\n
  - { enum: a1, c_prefix: AB, means: Hm., members: [] }\n";
    let twins = check("enums.yaml", digits);
    assert_refused(&twins, "the Rust library would define `A1` twice");
    for name in ["wire", "option", "u16", "field"] {
        assert_refused(&check_enum(name, "ACME", "one"), TAKEN_IN_RUST);
    }
    for name in ["error", "string", "manifest_thread"] {
        assert_refused(&check_object(name), TAKEN_IN_RUST);
    }
    let clock = check_object("clock");
    assert_refused(&clock, "the Rust library would define `Clock` twice");
}

#[test]
fn a_constant_in_rust_has_one_meaning() {
    let members = check_enum("acme", "ACME", "members");
    assert_refused(&members, &format!("`MEMBERS` {TAKEN_IN_RUST}"));
    let size =
        "fields:\n  - name: event_size\n    wire: { 1: { name: size }, 2: { name: size } }\n";
    let size = check("records/index_header.yaml", size);
    assert_refused(&size, &format!("`SIZE` {TAKEN_IN_RUST}"));
}

#[test]
fn a_field_cannot_have_the_name_of_a_method_of_its_record() {
    for name in ["wire", "bytes", "encode", "clone"] {
        assert_refused(&check_field(name), TAKEN_IN_RUST);
    }
}

#[test]
fn a_manifest_key_cannot_have_a_name_that_its_reader_uses() {
    for name in ["reader", "object", "place", "position"] {
        let ran = check_key(&format!("name: {name}, type: u8"));
        assert_refused(&ran, TAKEN_IN_RUST);
    }
}

#[test]
fn a_manifest_keys_type_fits_its_enumeration() {
    for ty in ["text", "hex, digits: 2", "i64", "boolean"] {
        let ran = check_key(&format!("name: acme, enum: os, type: {ty}"));
        assert_refused(&ran, "only u8, u32 and u64 can have an enumeration");
    }
    let wide = check_key("name: acme, enum: os, type: u32");
    assert_refused(
        &wide,
        "u32 does not fit in the enumeration `os`, which has the type u8",
    );
    check_key("name: acme, enum: os, type: u8").succeeds();
}

/// Generates the library with an overlay that consists of one file, and returns one of its files.
fn library(file: &str, text: &str, of: &str) -> String {
    let (overlay, out) = (temp(), temp());
    put(overlay.path(), file, text);
    let generate = ["generate", "rust", "--out", utf8(out.path())];
    let ran = run_over(utf8(overlay.path()), &generate);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    fs::read_to_string(out.path().join(of)).expect("a file of the library")
}

#[test]
fn the_manifests_code_imports_the_enumerations_of_its_keys() {
    let text = "objects:\n  - object: thread\n    fields:\n      \
                - { name: acme_os, enum: os, type: u8, means: Hm. }\n";
    let code = library("manifest.yaml", text, "atf/src/manifest/generated.rs");
    for name in ["Clock", "Os"] {
        let import = format!("\nuse crate::wire::{name};\n");
        assert!(code.contains(&import), "{import}");
    }
}

/// An unused import is a warning, which the lints of CI deny.
#[test]
fn an_enumeration_that_no_field_uses_is_not_imported() {
    let text = "enums:\n  - { enum: acme, c_prefix: ACME, means: Hm., members: [] }\n";
    let code = library("enums.yaml", text, "atf/src/wire/generated/decoded.rs");
    assert!(code.contains("EventKind") && !code.contains("Acme"));
}

/// Returns the methods of the library's decoded records in a file, except for generated ones.
fn methods(text: &str) -> Vec<String> {
    let decoded = DECODED.map(camel_case);
    let file = syn::parse_file(text).expect("Rust");
    let mut methods = Vec::new();
    for item in file.items {
        let Item::Impl(block) = item else { continue };
        let Type::Path(ty) = &*block.self_ty else {
            continue;
        };
        if decoded.iter().any(|name| ty.path.is_ident(name)) {
            methods.extend(block.items.into_iter().filter_map(|item| match item {
                ImplItem::Fn(method) => Some(method.sig.ident.to_string()),
                _ => None,
            }));
        }
    }
    methods
}

/// A field's setter would duplicate such a method.
#[test]
fn the_compiler_knows_every_method_of_the_decoded_records() {
    let mut found = BTreeSet::new();
    for folder in ["index", "detail"] {
        for (path, bytes) in files(&real_spec().join("../atf/src").join(folder)) {
            let text = String::from_utf8(bytes).unwrap_or_else(|_| panic!("{path}"));
            found.extend(methods(&text));
        }
    }
    assert!(found.len() > 8, "{found:?}");
    let is_keyword = |name: &str| matches!(name, "default" | "new");
    let is_known = |name: &String| METHODS.contains(&name.as_str()) || is_keyword(name);
    found.retain(|name| !is_known(name));
    let add = "add them to METHODS in spec/src/rust_names.rs";
    assert_eq!(found, BTreeSet::new(), "{add}");
}
