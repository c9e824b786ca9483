//! Tests that C programs read and write the bytes given in the sources' tables.
//!
//! All expected bytes here and in `c/` are written by hand or from the hand-typed table in `samples`, never taken from the
//! layout.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use atf_samples::files::hex;
use atf_samples::layout::{Field, FieldKind, Record, little_endian};
use atf_spec::layout::camel_case;
use support::{Bench, Compiler, headers, layout, text};

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/c")
        .join(name)
}

/// Returns C code that reads and writes each field of each record at the offsets from the hand-typed table.
fn records(wire: u8) -> String {
    let (mut code, mut main) = (String::new(), String::new());
    let records = Record::ALL.into_iter();
    for record in records.filter(|it| *it != Record::RingHeader) {
        let name = record.name();
        let is_shared = matches!(
            record,
            Record::IndexEvent | Record::DetailEventHeader | Record::DetailFunctionPayload
        );
        let c_name = if is_shared {
            camel_case(name)
        } else {
            format!("Atf{}", camel_case(name))
        };
        let bytes: Vec<u8> = (1..=record.size()).map(|at| at.to_le_bytes()[0]).collect();
        let listed: Vec<_> = bytes.iter().map(ToString::to_string).collect();
        let listed = listed.join(", ");
        code += &format!(
            "static void {name}(void) {{\nstatic const uint8_t bytes[] = {{ {listed} }};\nBEGIN({c_name});\n"
        );
        for Field {
            name: field,
            offset,
            size,
            is,
        } in record.fields(wire)
        {
            let value = |start: usize, size: usize| {
                format!("{:#x}u", little_endian(&bytes[start..start + size]))
            };
            code += &match is {
                FieldKind::Registers => (0..size / 8)
                    .map(|at| {
                        format!(
                            "ELEMENT({name}, {field}, {at}, {});\n",
                            value(offset + 8 * at, 8)
                        )
                    })
                    .collect(),
                FieldKind::Magic | FieldKind::Reserved => format!("BYTES({field}, {size});\n"),
                _ if *size == 1 => format!("BYTES({field}, 1);\n"),
                _ => format!("FIELD({name}, {field}, {});\n", value(*offset, *size)),
            };
        }
        code += &format!("END({name});\n}}\n");
        main += &format!("{name}();\n");
    }
    format!("{code}static void records(void) {{\n{main}}}\n")
}

#[test]
fn accessors_read_and_write_the_bytes_of_both_wire_versions() {
    let bench = Bench::new(&headers(&layout(), ".h"));
    for wire in [1, 2] {
        fs::write(bench.path().join("records.h"), records(wire)).expect("a temporary folder");
        let wire = &*format!("-DWIRE={wire}");
        for compiler in Compiler::all() {
            for options in [[wire].as_slice(), &[wire, "-DSIDE_BY_SIDE"]] {
                let output = compiler.run(&bench, &program("accessors.c"), options, &[]);
                let log = text(&output.stdout);
                assert!(output.status.success(), "{compiler} {options:?}:\n{log}");
            }
        }
    }
}

#[test]
fn a_tracer_written_to_s1_compiles_and_writes_the_bytes_of_s1() {
    let bench = Bench::new(&headers(&layout(), "atf_v1.h"));
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = compiler.run(&bench, &program("s1_tracer.c"), &[], &[folder.path()]);
        let log = text(&output.stderr);
        assert!(output.status.success(), "{compiler}: {log}");
        for (name, expected) in [("index.atf", INDEX), ("detail.atf", DETAIL)] {
            let path = folder.path().join("thread_5").join(name);
            let found = fs::read(path).expect("the tracer wrote it");
            assert_eq!(lines(&found), lines(&hex(expected)), "{compiler}: {name}");
        }
    }
}

/// The index file of thread 5 on arm64 macOS: calls and returns of symbols 7 and 9 in module 1.
const INDEX: &str = "
    41 54 49 32  01 01 02 03  01 00 00 00  05 00 00 00
    01 00 00 00  00 00 00 00  20 00 00 00  04 00 00 00
    40 00 00 00  00 00 00 00  C0 00 00 00  00 00 00 00
    E8 03 00 00  00 00 00 00  A0 0F 00 00  00 00 00 00

    E8 03 00 00  00 00 00 00  07 00 00 00  01 00 00 00
    05 00 00 00  01 00 00 00  01 00 00 00  FF FF FF FF
    D0 07 00 00  00 00 00 00  07 00 00 00  01 00 00 00
    05 00 00 00  02 00 00 00  01 00 00 00  00 00 00 00
    B8 0B 00 00  00 00 00 00  09 00 00 00  01 00 00 00
    05 00 00 00  01 00 00 00  01 00 00 00  FF FF FF FF
    A0 0F 00 00  00 00 00 00  09 00 00 00  01 00 00 00
    05 00 00 00  02 00 00 00  01 00 00 00  01 00 00 00

    32 49 54 41  46 DF AA BE  04 00 00 00  00 00 00 00
    E8 03 00 00  00 00 00 00  A0 0F 00 00  00 00 00 00
    80 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
    00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00";

/// The details of the two returns, the first with four bytes of stack.
const DETAIL: &str = "
    41 54 44 32  01 01 02 03  00 00 00 00  05 00 00 00
    00 00 00 00
    40 00 00 00 00 00 00 00
    02 00 00 00 00 00 00 00
    FC 00 00 00 00 00 00 00
    01 00 00 00 00 00 00 00
    03 00 00 00 00 00 00 00
    00 00 00 00

    80 00 00 00  04 00  00 00  01 00 00 00  05 00 00 00
    D0 07 00 00 00 00 00 00
    07 00 00 00 01 00 00 00
    00 11 00 00 00 00 00 00
    01 11 00 00 00 00 00 00
    02 11 00 00 00 00 00 00
    03 11 00 00 00 00 00 00
    04 11 00 00 00 00 00 00
    05 11 00 00 00 00 00 00
    06 11 00 00 00 00 00 00
    07 11 00 00 00 00 00 00
    01 22 00 00 00 00 00 00
    02 22 00 00 00 00 00 00
    03 22 00 00 00 00 00 00
    04 00  00 00
    DE AD BE EF

    7C 00 00 00  04 00  00 00  03 00 00 00  05 00 00 00
    A0 0F 00 00 00 00 00 00
    09 00 00 00 01 00 00 00
    00 11 00 00 00 00 00 00
    01 11 00 00 00 00 00 00
    02 11 00 00 00 00 00 00
    03 11 00 00 00 00 00 00
    04 11 00 00 00 00 00 00
    05 11 00 00 00 00 00 00
    06 11 00 00 00 00 00 00
    07 11 00 00 00 00 00 00
    01 22 00 00 00 00 00 00
    02 22 00 00 00 00 00 00
    03 22 00 00 00 00 00 00
    00 00  00 00

    32 44 54 41  3E 5C 8B ED  02 00 00 00  00 00 00 00
    FC 00 00 00  00 00 00 00  D0 07 00 00  00 00 00 00
    A0 0F 00 00  00 00 00 00  00 00 00 00  00 00 00 00
    00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00";

/// Formats bytes as lines of sixteen, each with its offset, so that a difference is easy to find.
fn lines(bytes: &[u8]) -> Vec<String> {
    let line = |(row, bytes): (usize, &[u8])| format!("{:04x}: {bytes:02X?}", 16 * row);
    bytes.chunks(16).enumerate().map(line).collect()
}
