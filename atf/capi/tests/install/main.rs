//! Tests that the flags from `pkg-config` and `CMake` are enough to build and run a program.

#[path = "../c/support.rs"]
mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use atf_samples::tools::has;
use tempfile::TempDir;

use support::{accepted, package, run};

fn install(prefix: &Path) {
    run(Command::new(package("install.sh"))
        .args(["--profile", "dev"])
        .arg(prefix));
}

/// Asserts that the shared library exports exactly the functions in `abi.txt`, each with the major
/// version as its symbol version.
#[track_caller]
fn the_functions_have_a_version(prefix: &Path) {
    let version = concat!("@@ATF_", env!("CARGO_PKG_VERSION_MAJOR"));
    let interface = fs::read_to_string(package("abi.txt")).unwrap();
    let functions = interface
        .lines()
        .filter(|line| line.ends_with(')') && !line.starts_with("typedef"));
    let mut declared: Vec<String> = functions
        .filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next())
        .map(|name| format!("{name}{version}"))
        .collect();
    declared.sort();
    let symbols = run(Command::new("nm")
        .args(["--dynamic", "--defined-only"])
        .arg(prefix.join("lib/libadatrace.so")));
    let symbols = symbols.lines().filter(|line| line.contains(" T "));
    let mut exported: Vec<&str> = symbols.filter_map(|line| line.rsplit(' ').next()).collect();
    exported.sort_unstable();
    assert_eq!(exported, declared);
}

/// Asserts that `dlclose` does not unload the shared library.
#[track_caller]
fn the_library_is_not_unloaded(prefix: &Path) {
    let mut command = Command::new("readelf");
    command
        .arg("--dynamic")
        .arg(prefix.join("lib/libadatrace.so"));
    assert!(run(&mut command).contains("NODELETE"));
}

#[test]
#[ignore = "slow: the nightly job runs it"]
fn pkg_config_and_cmake_find_the_installed_library() {
    if !has("gcc") || !cfg!(target_os = "linux") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let prefix = folder.path().join("prefix");
    install(&prefix);
    the_functions_have_a_version(&prefix);
    the_library_is_not_unloaded(&prefix);
    let source = package("examples/tracer.c");

    if has("pkg-config") {
        let path = format!("-Wl,-rpath,{}", prefix.join("lib").display());
        for (package, more) in [("adatrace", Some(path)), ("adatrace-static", None)] {
            let config = |what: &str| -> Vec<String> {
                let mut command = Command::new("pkg-config");
                command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
                let flags = run(command.args([what, package]));
                flags.split_whitespace().map(str::to_owned).collect()
            };
            let program = folder.path().join(format!("program_{package}"));
            let mut compile = Command::new("gcc");
            compile.arg(&source).args(config("--cflags"));
            compile.args(config("--libs")).args(more).arg("-pthread");
            run(compile.arg("-o").arg(&program));

            let out = folder.path().join(format!("out_{package}"));
            let printed = run(Command::new(&program).arg(out));
            accepted(Path::new(printed.lines().last().unwrap()));

            for include in [
                "<atf.h>",
                "<atf/atf.h>",
                "<atf/atf_record.h>",
                "<atf/atf_v2.h>",
                "<ada_timing.h>",
                "<atf/ada_timing.h>",
            ] {
                let source = folder.path().join("include.c");
                fs::write(&source, format!("#include {include}\nint one;\n")).unwrap();
                let mut compile = Command::new("gcc");
                compile.args(config("--cflags")).arg("-fsyntax-only");
                run(compile.arg(source));
            }
        }
    }

    if has("cmake") {
        let project = folder.path().join("project");
        fs::create_dir(&project).unwrap();
        fs::copy(&source, project.join("tracer.c")).unwrap();
        let both = "#include <ada_timing.h>\n#include <atf.h>\n#include <atf/atf.h>\n\
            uint64_t (*both)(void) = ada_get_timestamp_ns;\n";
        fs::write(project.join("both.c"), both).unwrap();
        let text = "cmake_minimum_required(VERSION 3.16)\nproject(tracer C)\n\
            find_package(Threads REQUIRED)\nfind_package(adatrace 0.1 REQUIRED)\n\
            foreach(kind adatrace adatrace_static)\n  add_executable(tracer_${kind} tracer.c both.c)\n\
            \x20 target_link_libraries(tracer_${kind} PRIVATE adatrace::${kind} Threads::Threads)\n\
            endforeach()\n";
        fs::write(project.join("CMakeLists.txt"), text).unwrap();
        let build = project.join("build");
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(&project).arg("-B").arg(&build);
        let prefix = format!("-DCMAKE_PREFIX_PATH={}", prefix.display());
        run(configure.arg(prefix));
        run(Command::new("cmake").arg("--build").arg(&build));
        for kind in ["adatrace", "adatrace_static"] {
            let program = build.join(format!("tracer_{kind}"));
            let printed = run(Command::new(program).arg(folder.path().join(kind)));
            accepted(Path::new(printed.lines().last().unwrap()));
        }
    }
}
