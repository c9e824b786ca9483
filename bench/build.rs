//! Compiles the C side of the row on the C API.

fn main() {
    println!("cargo::rerun-if-changed=src/rows/capi.c");
    println!("cargo::rerun-if-changed=../atf/capi/include");
    println!("cargo::rerun-if-changed=../atf/include");
    cc::Build::new()
        .file("src/rows/capi.c")
        .include("../atf/capi/include")
        .include("../atf/include")
        .std("c11")
        .opt_level(2)
        .compile("atf_bench_loop");
}
