//! Tests that every header compiles for every kind of target, alone and in every allowed
//! combination.

mod support;

use std::collections::BTreeSet;
use std::thread;

use atf_codegen::{GENERATED, emit};
use atf_spec::c_names::{self, Owner};
use atf_spec::layout::Value;

use support::{Bench, Compiler, headers, layout, name};

#[test]
fn each_header_compiles_alone_twice_and_with_the_combined_one() {
    let files = headers(&layout(), ".h");
    let bench = Bench::new(&files);
    let all = "#include \"atf_wire.h\"\n";
    for compiler in Compiler::all() {
        for file in &files {
            let one = format!("#include \"{}\"\n", name(file));
            let check = |source: &str, standard| {
                let message = compiler.check(&bench, source, &[standard]);
                assert_eq!(message, Ok(()), "{compiler} {standard}: {source}");
            };
            let [first, second] = compiler.standards();
            check(&one.repeat(2), first);
            check(&one.repeat(2), second);
            if one != all {
                check(&format!("{one}{all}"), first);
                check(&format!("{all}{one}"), first);
            }
        }
    }
}

#[test]
fn the_headers_of_the_c_api_and_the_cpp_reader_compile_alone() {
    let bench = Bench::new(&headers(&layout(), ".h"));
    let include = |folder| format!("-I{}/../{folder}", env!("CARGO_MANIFEST_DIR"));
    let (capi, reader) = (include("atf/capi/include"), include("readers/cpp/include"));
    let both = ["atf.h", "atf_record.h"];
    let only_cpp = [
        "atf/records.hpp",
        "atf/files.hpp",
        "atf/session.hpp",
        "atf/writers.hpp",
    ];
    let compiles = |compiler: Compiler| {
        let only_cpp = only_cpp.iter().filter(|_| compiler.is_cpp);
        for name in both.iter().chain(only_cpp) {
            let source = format!("#include <{name}>\n");
            for standard in compiler.standards() {
                let message = compiler.check(&bench, &source, &[&capi, &reader, standard]);
                assert_eq!(message, Ok(()), "{compiler} {standard}: {name}");
            }
        }
    };
    thread::scope(|scope| {
        for compiler in Compiler::all() {
            scope.spawn(move || compiles(compiler));
        }
    });
}

#[test]
fn including_both_single_headers_is_one_clear_error() {
    let bench = Bench::new(&headers(&layout(), ".h"));
    for compiler in Compiler::all() {
        for [first, second] in [["atf_v1.h", "atf_v2.h"], ["atf_v2.h", "atf_v1.h"]] {
            let source = format!("#include \"{first}\"\n#include \"{second}\"\n");
            let checked = compiler.check(&bench, &source, &[]);
            let message = checked.expect_err("the names are the same");
            let is_clear = message.contains("include atf_wire.h instead");
            let is_one = message.matches("error:").count() == 1;
            assert!(is_clear && is_one, "{compiler}: {message}");
        }
    }
}

/// The target platforms: Apple, Android (64-bit and 32-bit), Windows, 32-bit x86, and big-endian
/// hosts.
const TARGETS: [&str; 9] = [
    "arm64-apple-macos",
    "arm64-apple-ios",
    "aarch64-linux-android",
    "armv7a-linux-androideabi",
    "x86_64-pc-windows-msvc",
    "aarch64-pc-windows-msvc",
    "i686-linux-gnu",
    "s390x-linux-gnu",
    "powerpc64-linux-gnu",
];

#[test]
fn every_target_has_the_same_layout() {
    let bench = Bench::new(&headers(&layout(), ".h"));
    let sources =
        ["1", "2"].map(|wire| format!("#include \"atf_wire.h\"\n#include \"atf_v{wire}.h\"\n"));
    for compiler in Compiler::of_foreign_targets() {
        for target in TARGETS {
            for source in &sources {
                let options = ["-target", target, "-ffreestanding", "-nostdinc++"];
                let message = compiler.check(&bench, source, &options);
                assert_eq!(message, Ok(()), "{compiler} -target {target}");
            }
        }
    }
}

/// GCC and Clang support both the attribute and the pragma. MSVC supports only the pragma.
#[test]
fn each_way_of_packing_suffices_and_its_absence_is_detected() {
    let without = |marks: &[&str]| {
        let mut files = headers(&layout(), "atf_wire.h");
        for mark in marks {
            let text = &mut files[0].text;
            assert!(text.contains(mark), "{mark} is missing");
            *text = text.replace(mark, "");
        }
        Bench::new(&files)
    };
    let attribute = "__attribute__((packed))";
    let pragmas = ["#pragma pack(push, 1)", "#pragma pack(pop)"];
    let by_pragma = without(&[attribute]);
    let by_attribute = without(&pragmas);
    let unpacked = without(&[attribute, pragmas[0], pragmas[1]]);
    for compiler in Compiler::all() {
        let check = |bench| compiler.check(bench, "#include \"atf_wire.h\"\n", &[]);
        assert_eq!(check(&by_pragma), Ok(()), "{compiler}");
        assert_eq!(check(&by_attribute), Ok(()), "{compiler}");
        let message = check(&unpacked).expect_err("a detail header has unaligned fields");
        let field = "detail_header.events_offset";
        assert!(message.contains(field), "{compiler}: {message}");
    }
}

#[test]
fn the_module_map_names_each_header() {
    let files = emit::c::headers(&layout());
    let bench = Bench::new(&files);
    let folder = bench.path().display();
    let map = format!("-fmodule-map-file={folder}/module.modulemap");
    let cache = format!("-fmodules-cache-path={folder}/cache");
    let modules = [
        ("AtfV1", "ATF_INDEX_HEADER_VERSION == 1"),
        ("AtfV2", "ATF_INDEX_HEADER_VERSION == 2"),
        ("AtfWire", "ATF_V2_INDEX_HEADER_VERSION == 2"),
    ];
    assert_eq!(
        files.len(),
        modules.len() + 1,
        "one module per header, and the map"
    );
    for compiler in Compiler::of_foreign_targets() {
        for (module, has) in modules {
            let import = format!("#pragma clang module import {module}\n");
            let source = format!("{import}#if !({has})\n#error \"another header\"\n#endif\n");
            let options = [
                "-fmodules",
                "-fcxx-modules",
                "-Wno-empty-translation-unit",
                &map,
                &cache,
            ];
            let message = compiler.check(&bench, &source, &options);
            assert_eq!(message, Ok(()), "{compiler}: {module}");
        }
    }
}

#[test]
fn text_from_the_spec_never_ends_a_comment_or_a_string() {
    let text = "A */ \"b\" \\\n/* c */ ??/\n\nd \\".to_owned();
    let mut layout = layout();
    for record in &mut layout.records {
        (record.title, record.file, record.doc) = (text.clone(), text.clone(), text.clone());
        record.followed_by = Some(text.clone());
        for field in record.layouts.iter_mut().flat_map(|it| &mut it.fields) {
            (field.doc, field.units) = (text.clone(), Some(text.clone()));
            field.constraints = vec![text.clone()];
            if let Some(Value::Text(value)) = &mut field.value {
                *value = "??/\"".to_owned();
            }
        }
    }
    for enumeration in &mut layout.enums {
        enumeration.doc.clone_from(&text);
        for member in &mut enumeration.members {
            member.doc.clone_from(&text);
        }
    }
    for source in &mut layout.sources {
        source.title.clone_from(&text);
    }
    let files = headers(&layout, ".h");
    let bench = Bench::new(&files);
    // A trigraph would shorten the string.
    let size = "char four_bytes[sizeof(ATF_INDEX_HEADER_MAGIC) == 5 ? 1 : -1];\n";
    for compiler in Compiler::all() {
        for file in &files {
            let mut source = format!("#include \"{}\"\n", name(file));
            if name(file) != "atf_wire.h" {
                source += size;
            }
            let message = compiler.check(&bench, &source, &[]);
            assert_eq!(message, Ok(()), "{compiler}: {}", name(file));
        }
    }
}

/// Returns the name that a header's line defines: a macro, a type or a function.
fn defined(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("#define ") {
        rest.split([' ', '(']).next()
    } else if let Some(rest) = line.strip_prefix("static inline ") {
        rest.split_once('(')?.0.split(' ').next_back()
    } else {
        line.strip_prefix("} ")?.strip_suffix(';')
    }
}

/// The spec's compiler checks these names for clashes.
#[test]
fn the_compiler_knows_every_name_in_the_headers() {
    let layout = layout();
    let files = headers(&layout, ".h");
    let text = |ending: &str| {
        let file = files.iter().find(|file| name(file) == ending);
        file.expect("a header").text.as_str()
    };
    for &wire in &layout.wires {
        let one = format!("atf_v{wire}.h");
        let lines = text(&one).lines().chain(text("atf_wire.h").lines());
        let found: BTreeSet<&str> = lines.filter_map(defined).collect();
        let known = c_names::of_headers(&layout, wire);
        let names: BTreeSet<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), known.len());
        assert_eq!(&found - &names, BTreeSet::new(), "{one}");
        let own = known.iter().filter(|(_, owner)| *owner != Owner::Header);
        let own: BTreeSet<&str> = own.map(|(name, _)| name.as_str()).collect();
        assert_eq!(&own - &found, BTreeSet::new(), "{one}");
        assert!(own.len() > 200, "{one}: only {} names", own.len());
    }
}

#[test]
fn generated_files_are_marked_and_end_with_one_line_feed() {
    let layout = layout();
    let mut files = emit::c::headers(&layout);
    files.push(emit::c::probe(&layout));
    for file in files {
        let (path, text) = (&file.path, &file.text);
        let first = text.lines().next().unwrap_or_default();
        assert!(first.contains(GENERATED), "{path}");
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{path}");
        let blank_at_end = text.lines().find(|line| line.ends_with(' '));
        assert_eq!(blank_at_end, None, "{path}");
    }
}
