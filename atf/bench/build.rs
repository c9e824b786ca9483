//! Compiles the C code for the C API rows.

fn main() {
    println!("cargo::rerun-if-changed=src/rows/capi.c");
    println!("cargo::rerun-if-changed=../capi/include");
    println!("cargo::rerun-if-changed=../include");
    cc::Build::new()
        .file("src/rows/capi.c")
        .include("../capi/include")
        .include("../include")
        .std("c11")
        .opt_level(2)
        .compile("atf_bench_loop");
}
