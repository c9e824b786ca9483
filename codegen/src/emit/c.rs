//! Emits C headers, which are also valid C++, and the probe that verifies them.
//!
//! The templates in `templates/c/` contain the C code. `view` prepares the names and numbers for
//! them. Fields appear in the layout's order without padding, and asserts check their offsets. If a
//! field has a different offset, the C compiler reports an error at that field.

mod text;
mod view;

use atf_spec::c_names::Names;
use atf_spec::layout::{Layout, Record, Wire};
use serde_json::{Value, json};

use crate::GeneratedFile;

const INCLUDE: &str = "atf/include";

/// The templates, with the names that `{% include %}` uses.
const TEMPLATES: [(&str, &str); 9] = templates!("c":
    "accessors.h" "definition.h" "header.h" "macros.h" "module.modulemap" "probe.c" "record.h"
    "shared.h" "undef.h"
);

/// Emits the headers for writers and readers in C, C++ and Swift, and the module map. `atf_v1.h`
/// and `atf_v2.h` each cover one wire version and use the sources' names. `atf_wire.h` covers all
/// wire versions.
///
/// # Panics
/// Never, because each header has a name.
#[must_use]
pub fn headers(layout: &Layout) -> Vec<GeneratedFile> {
    let wires = layout.wires.iter();
    let one = wires.map(|&wire| view::of_one_wire(layout, wire));
    let headers: Vec<Value> = one.chain([view::of_every_wire(layout)]).collect();
    let file = |name: &str, text| GeneratedFile::new(format!("{INCLUDE}/{name}"), text);
    let modules = render("module.modulemap", &json!({ "headers": headers }));
    let files = headers.iter().map(|header| {
        let name = header["file"].as_str().expect("a header has a name");
        file(name, render("header.h", header))
    });
    files.chain([file("module.modulemap", modules)]).collect()
}

/// Returns the packed C definition of one record and its asserts, as in `atf_v1.h` or `atf_v2.h`,
/// with the includes and macros that they need to compile on their own.
///
/// # Panics
/// Panics if the record has no layout in this wire version. In a resolved layout, each record has
/// one for every wire version.
#[must_use]
pub fn record_definition(layout: &Layout, record: &Record, wire: Wire) -> String {
    let record = view::record(layout, record, wire, Names::OfTheSources)
        .expect("a record has a layout in each wire version");
    render("definition.h", &json!({ "record": record }))
}

/// Emits a program, valid in C and C++, that prints the compiler's layout of `atf_wire.h`, one item
/// per line: records with their sizes, fields with their offsets and sizes, and constants with
/// their values.
#[must_use]
pub fn probe(layout: &Layout) -> GeneratedFile {
    let text = render("probe.c", &view::of_every_wire(layout));
    GeneratedFile::new("codegen/tests/c/generated/probe.c", text)
}

fn render(template: &str, data: &Value) -> String {
    let mut environment = super::environment(&TEMPLATES);
    environment.add_filter("wrap", text::wrap);
    super::render(&environment, template, data)
}
