//! In a checkout, fails the build if `spec/layout.json` is older than the spec, and shows the
//! changed line. A published package has no spec to compare with.

use std::path::Path;

use atf_spec::freshness::changes;
use atf_spec::layout::Layout;

fn main() {
    println!("cargo::rerun-if-changed=../spec");
    let spec = Path::new("../spec");
    if !spec.join("records").is_dir() {
        return;
    }
    let layout = std::fs::read_to_string("../spec/layout.json").map_err(|error| error.to_string());
    let layout = layout
        .and_then(|text| serde_json::from_str::<Layout>(&text).map_err(|error| error.to_string()));
    match layout {
        Err(error) => println!("cargo::error=spec/layout.json: {error}"),
        Ok(layout) => {
            for change in changes(&layout, |path| std::fs::read_to_string(spec.join(path))) {
                println!(
                    "cargo::error=spec/{change} has changed since spec/layout.json was generated; \
                     check it with `cargo run -p atf-codegen -- spec check`, then run \
                     `cargo run -p atf-codegen -- generate`"
                );
            }
        }
    }
}
