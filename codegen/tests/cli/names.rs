//! Tests that the compiler knows the names with which a name in the spec would clash.
//! `spec/tests/broken/clashes.txt` tests that it refuses those.

use std::collections::BTreeSet;
use std::fs;

use atf_spec::layout::camel_case;
use atf_spec::rust_names::{DECODED, METHODS};
use syn::{ImplItem, Item, Type};

use crate::{files, put, real_spec, run_over, temp, utf8};

/// An overlay adds a record of one field.
#[test]
fn a_record_can_have_any_name_but_that_of_another_page() {
    let check = |name: &str| {
        let overlay = temp();
        let records = format!("records: [{name}]\n");
        put(overlay.path(), "format.yaml", records);
        let record = format!(
            "record: {name}\nc_name: AcmeThing\ntitle: Acme's thing\nfile: acme.atf\nmeans: Hm.\n\
             size: 8\nfields:\n  \
             - {{ name: thing, offset: 0, type: u64, means: Hm., claims: [] }}\n"
        );
        put(overlay.path(), &format!("records/{name}.yaml"), record);
        run_over(utf8(overlay.path()), &["spec", "check"])
    };
    check("acme").succeeds();
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
        let ran = check(&page);
        ran.fails(1);
        ran.reports(&format!("`{page}` is another page of the reference"));
    }
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
