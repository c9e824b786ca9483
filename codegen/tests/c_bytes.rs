//! Tests that C programs read and write the bytes given in the sources' tables.
//!
//! All expected bytes here and in `c/` are typed by hand, never taken from the layout.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{Bench, Compiler, headers, layout, text};

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/c")
        .join(name)
}

#[test]
fn accessors_read_and_write_the_bytes_of_both_wire_versions() {
    let bench = Bench::new(&headers(&layout(), ".h"));
    for compiler in Compiler::all() {
        for wire in ["-DWIRE=1", "-DWIRE=2"] {
            for options in [[wire].as_slice(), &[wire, "-DSIDE_BY_SIDE"]] {
                let output = compiler.run(&bench, &program("accessors.c"), options, &[]);
                let said = text(&output.stdout);
                assert!(output.status.success(), "{compiler} {options:?}:\n{said}");
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
        assert!(
            output.status.success(),
            "{compiler}: {}",
            text(&output.stderr)
        );
        for (name, expected) in [("index.atf", INDEX), ("detail.atf", DETAIL)] {
            let path = folder.path().join("thread_5").join(name);
            let found = fs::read(path).expect("the tracer wrote it");
            assert_eq!(lines(&found), lines(&bytes(expected)), "{compiler}: {name}");
        }
    }
}

/// Computes the published check value of CRC-32C, in one call and in parts.
#[test]
fn the_checksum_in_the_header_is_crc_32c() {
    let bench = Bench::new(&headers(&layout(), ".h"));
    let source = bench.path().join("crc.c");
    let program = "#include \"atf_v2.h\"\n#include \"atf_wire.h\"\nint main(void) {\n\
        uint32_t half = atf_crc32c(0, \"1234\", 4);\n\
        return atf_crc32c(0, \"123456789\", 9) != 0xE3069283u || atf_crc32c(0, \"\", 0) != 0 ||\n\
               atf_crc32c(half, \"56789\", 5) != 0xE3069283u;\n}\n";
    fs::write(&source, program).expect("a temporary file");
    for compiler in Compiler::all() {
        let output = compiler.run(&bench, &source, &[], &[]);
        assert!(output.status.success(), "{compiler}");
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

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |digits| u8::from_str_radix(digits, 16).expect("two hexadecimal digits");
    hex.split_whitespace().map(byte).collect()
}

/// Formats bytes as lines of sixteen, each with its offset, so that a difference is easy to find.
fn lines(bytes: &[u8]) -> Vec<String> {
    let line = |(row, bytes): (usize, &[u8])| format!("{:04x}: {bytes:02X?}", 16 * row);
    bytes.chunks(16).enumerate().map(line).collect()
}
