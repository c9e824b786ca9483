//! The macros' expansions equal the emitter's output and the committed files in `expanded/`.
//!
//! With `ATF_BLESS=1` in the environment, the test rewrites the folder instead of comparing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use atf_codegen::emit::rust;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::{layout, open_enum, record};

/// Returns the emitter's files, by name.
fn emitted() -> BTreeMap<String, String> {
    let files = rust::files(layout()).into_iter();
    let name = |path: &str| path.strip_prefix("atf-derive/expanded/").map(str::to_owned);
    files
        .map(|file| (name(&file.path).expect("a file in expanded/"), file.text))
        .collect()
}

/// Returns the text of an expansion, without a file's `@generated` line.
fn text(expansion: TokenStream) -> String {
    let tree = syn::parse2(expansion).expect("an expansion is a list of items");
    prettyplease::unparse(&tree)
}

fn assert_emitted(files: &BTreeMap<String, String>, name: &str, expansion: TokenStream) {
    let (_, code) = files[name]
        .split_once("\n\n")
        .expect("a comment line first");
    assert_eq!(code, text(expansion), "{name}");
}

#[test]
fn the_macro_expands_each_record_to_the_emitted_file() {
    let files = emitted();
    for item in &layout().records {
        for fields in &item.layouts {
            let (name, ident, wire) = (
                format_ident!("{}", item.name),
                format_ident!("{}", item.rust_name()),
                fields.wire,
            );
            let arguments = quote!(#name, wire = #wire);
            let expansion = record::expand(layout(), arguments, quote!(pub struct #ident;));
            assert_emitted(&files, &format!("{name}.v{wire}.rs"), expansion);
        }
    }
}

#[test]
fn the_macro_expands_all_enumerations_to_the_emitted_file() {
    let expansions = layout().enums.iter().map(|item| {
        let (name, ident) = (
            format_ident!("{}", item.name),
            format_ident!("{}", item.rust_name()),
        );
        open_enum::expand(layout(), quote!(#name), quote!(pub struct #ident;))
    });
    assert_emitted(&emitted(), "enums.rs", expansions.collect());
}

#[test]
fn the_committed_expansions_are_the_emitted_ones() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("expanded");
    let bless = std::env::var_os("ATF_BLESS").is_some_and(|value| value == "1");
    if bless {
        fs::create_dir_all(&folder).expect("the crate's folder can be written");
        for (name, text) in emitted() {
            fs::write(folder.join(name), text).expect("the crate's folder can be written");
        }
    }
    let committed = fs::read_dir(&folder)
        .expect("expanded/ is committed")
        .map(|entry| {
            let path = entry.expect("expanded/ can be read").path();
            let name = path
                .file_name()
                .expect("an entry has a name")
                .to_string_lossy()
                .into_owned();
            (
                name,
                fs::read_to_string(path).expect("the expansions are text"),
            )
        });
    let committed: BTreeMap<_, _> = committed.collect();
    let emitted = emitted();
    for (name, text) in &emitted {
        let stale = "is stale; ATF_BLESS=1 cargo test -p atf-derive --lib rewrites it";
        assert!(committed.get(name) == Some(text), "expanded/{name} {stale}");
    }
    for name in committed.keys() {
        assert!(
            emitted.contains_key(name),
            "expanded/{name} is no longer generated: delete it"
        );
    }
}
