//! The emitter does not check the layout, so rustc must: every wrong offset fails the build with an
//! error that shows the field.

mod support;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use atf_codegen::emit::rust::{self, Options};
use atf_spec::layout::{Layout, Record, RecordLayout, Wire};
use quote::{format_ident, quote};
use support::layout;
use syn::{Attribute, Item, ItemMod};
use tempfile::TempDir;

/// A substitute for zerocopy that lets rustc alone compile the emitted structs. This test does not
/// need zerocopy's derive macros.
const ZEROCOPY: &str = "
    pub mod little_endian {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)] pub struct U16([u8; 2]);
        #[derive(Clone, Copy, Debug, PartialEq, Eq)] pub struct U32([u8; 4]);
        #[derive(Clone, Copy, Debug, PartialEq, Eq)] pub struct U64([u8; 8]);
    }
";

/// Returns a record in one wire version as a module, without zerocopy's derives.
fn module(name: &str, layout: &Layout, record: &Record, wire: Wire) -> ItemMod {
    let name = format_ident!("{name}");
    let tokens = rust::record(layout, record, wire, &Options::new("Emitted"));
    let module = syn::parse2(quote!(pub mod #name { #tokens }));
    let mut module: ItemMod = module.expect("a module of items");
    let items = module.content.as_mut().map(|(_, items)| items.iter_mut());
    for item in items.into_iter().flatten() {
        if let Item::Struct(item) = item {
            let is_core =
                |attribute: &Attribute| !quote!(#attribute).to_string().contains("zerocopy");
            item.attrs.retain(is_core);
        }
    }
    module
}

fn compile(modules: &[ItemMod]) -> Output {
    let folder = TempDir::new().expect("a temporary folder");
    rustc(folder.path(), "zerocopy", ZEROCOPY);
    let file = syn::parse2(quote!(#(#modules)*)).expect("a file of modules");
    rustc(folder.path(), "records", &prettyplease::unparse(&file))
}

fn rustc(folder: &Path, name: &str, text: &str) -> Output {
    let source = folder.join(name).with_extension("rs");
    fs::write(&source, text).expect("a temporary folder can be written");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    Command::new(rustc)
        .args(["--edition", "2024", "--crate-type", "rlib"])
        .args(["--emit", "metadata", "--extern", "zerocopy"])
        .args(["-L", ".", "--crate-name", name])
        .arg(source)
        .current_dir(folder)
        .output()
        .expect("rustc runs")
}

fn failed_assertions(output: &Output) -> BTreeSet<String> {
    let errors = String::from_utf8_lossy(&output.stderr);
    let messages = errors
        .lines()
        .filter_map(|line| line.split_once("evaluation panicked: "));
    messages.map(|(_, message)| message.to_owned()).collect()
}

#[test]
fn each_wrong_offset_and_size_stops_rustc_there() {
    let layout = layout();
    let (mut modules, mut expected) = (Vec::new(), BTreeSet::new());
    for record in &layout.records {
        let mut wrong = record.clone();
        wrong.size += 4;
        modules.push(module(&record.name, &layout, &wrong, 1));
        expected.insert(format!(
            "{} must be {} bytes in wire version 1",
            record.name, wrong.size
        ));
        for (version, RecordLayout { wire, fields }) in record.layouts.iter().enumerate() {
            for (index, field) in fields.iter().enumerate() {
                let mut wrong = record.clone();
                wrong.layouts[version].fields[index].offset += 1;
                let name = format!("{}_v{wire}_{}", record.name, field.name);
                modules.push(module(&name, &layout, &wrong, *wire));
                expected.insert(format!(
                    "{}.{} must be at offset {} in wire version {wire}",
                    record.name,
                    field.name,
                    field.offset + 1
                ));
            }
        }
    }
    assert_eq!(failed_assertions(&compile(&modules)), expected);
}
