//! Prevents the shared library from being unloaded, because a recording's thread runs its code.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_apple = env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor == "apple");
    if env::var_os("CARGO_CFG_UNIX").is_some() && !is_apple {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
