//! The installation: what `pkg-config` and `CMake` say is enough to build and run a program.

#[path = "../c/support.rs"]
mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use support::{accepted, has, package, run};

fn install(prefix: &Path) {
    run(Command::new(package("install.sh"))
        .args(["--profile", "dev"])
        .arg(prefix));
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_program_finds_the_installed_library_by_pkg_config_and_by_cmake() {
    if !has("gcc") || !cfg!(target_os = "linux") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let prefix = folder.path().join("prefix");
    install(&prefix);
    let source = package("examples/tracer.c");

    let shared = prefix.join("lib/libatf.so");
    if has("pkg-config") {
        for is_static in [false, true] {
            let config = |what: &str| {
                let mut command = Command::new("pkg-config");
                command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
                if is_static {
                    command.arg("--static");
                }
                words(&run(command.args([what, "atf"])))
            };
            if is_static {
                // The linker takes the archive where there is no shared library beside it.
                fs::remove_file(&shared).unwrap();
            }
            let program = folder.path().join(format!("program_{is_static}"));
            let mut compile = Command::new("gcc");
            compile.arg(&source).args(config("--cflags"));
            compile.args(config("--libs")).arg("-pthread");
            run(compile.arg("-o").arg(&program));

            let mut command = Command::new(&program);
            if !is_static {
                command.env("LD_LIBRARY_PATH", prefix.join("lib"));
            }
            let printed = run(command.arg(folder.path().join(format!("out_{is_static}"))));
            accepted(Path::new(printed.lines().last().unwrap()));
        }
    }

    if has("cmake") {
        let project = folder.path().join("project");
        fs::create_dir(&project).unwrap();
        fs::copy(&source, project.join("tracer.c")).unwrap();
        let text = "cmake_minimum_required(VERSION 3.16)\nproject(tracer C)\n\
            find_package(Threads REQUIRED)\nfind_package(atf 0.1 REQUIRED)\n\
            foreach(kind atf atf_static)\n  add_executable(tracer_${kind} tracer.c)\n\
            \x20 target_link_libraries(tracer_${kind} PRIVATE atf::${kind} Threads::Threads)\n\
            endforeach()\n";
        fs::write(project.join("CMakeLists.txt"), text).unwrap();
        let build = project.join("build");
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(&project).arg("-B").arg(&build);
        let prefix = format!("-DCMAKE_PREFIX_PATH={}", prefix.display());
        run(configure.arg(prefix));
        run(Command::new("cmake").arg("--build").arg(&build));
        for kind in ["atf", "atf_static"] {
            let program = build.join(format!("tracer_{kind}"));
            let printed = run(Command::new(program).arg(folder.path().join(kind)));
            accepted(Path::new(printed.lines().last().unwrap()));
        }
    }
}
