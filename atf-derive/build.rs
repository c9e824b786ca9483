//! In a checkout, refuses to build with a `layout.json` that is older than the spec it was made
//! from. In a published package there is no spec beside it, and nothing to compare.

use std::path::Path;

use atf_spec::layout::{Layout, digest};

fn main() {
    println!("cargo::rerun-if-changed=layout.json");
    println!("cargo::rerun-if-changed=../spec");
    let spec = Path::new("../spec");
    if !spec.join("records").is_dir() {
        return;
    }
    let layout = std::fs::read_to_string("layout.json").map_err(|error| error.to_string());
    let layout = layout.and_then(|text| {
        serde_json::from_str::<Layout>(&text).map_err(|error| error.to_string())
    });
    match layout {
        Err(error) => println!("cargo::error=atf-derive/layout.json: {error}"),
        Ok(layout) => {
            for (path, known) in &layout.inputs {
                let now = std::fs::read(spec.join(path)).map(|bytes| digest(&bytes));
                if now.as_ref().ok() != Some(known) {
                    println!(
                        "cargo::error=spec/{path} is not what atf-derive/layout.json was made from; \
                         run `cargo run -p atf-codegen -- generate`, which names what is wrong with it if \
                         anything is"
                    );
                }
            }
        }
    }
}
