//! Builds the site: a folder of static pages that need no server and no network.
//!
//! The pages are the repository's documents; one page for each rule, case, decision and claim; and
//! the results of implementations. Their addresses are permanent; see `docs/conformance/site.md`.
//!
//! [`build`] reads everything, renders all pages in memory (`output`), and replaces the folder at
//! the end.

#![forbid(unsafe_code)]

mod cases;
mod claims;
mod graded;
mod markdown;
mod output;
mod pages;
mod results;

use std::io;
use std::path::{Path, PathBuf};

use atf_spec::compile_with;
use atf_spec::origin::Origin;

use markdown::Docs;
use output::Output;
use pages::Model;
use results::Results;

/// Builds the site of ATF v2: static pages, without a server
#[derive(Debug, Clone, Default, clap::Parser)]
#[command(after_help = "Exit status: 0 success; 2 usage error, or a file error.")]
pub struct Options {
    /// The folder; an older site in it is replaced
    pub out: PathBuf,
    /// A folder with the results.json of implementations, in folders of any names
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// The start of the addresses of source files, up to the branch's name (default: in the
    /// workspace's repository; while that is not set, links to source files are plain text)
    #[arg(long, value_name = "URL")]
    pub source: Option<String>,
}

/// The size of a site.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// The number of pages.
    pub pages: usize,
    /// The size of all files in bytes.
    pub bytes: usize,
}

/// Returns the start of the addresses of source files, if the repository has an address.
fn source() -> Option<String> {
    let repository = env!("CARGO_PKG_REPOSITORY");
    let is_set = !repository.contains(".invalid/");
    is_set.then(|| format!("{repository}/blob/main"))
}

/// The addresses of all editions so far. Those missing from the current edition are withdrawn.
const ADDRESSES: &str = include_str!("../addresses.txt");

/// Builds the site.
///
/// # Errors
///
/// Returns a message with the path if a file cannot be read or written, or if a `results.json` is
/// not the JSON report of a run. The folder is then unchanged.
pub fn build(options: &Options) -> io::Result<Size> {
    build_with(options, ADDRESSES)
}

/// Like [`build`], with the addresses of all editions so far.
///
/// # Errors
///
/// See [`build`].
pub fn build_with(options: &Options, addresses: &str) -> io::Result<Size> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let results = options.results.as_deref().map(Results::read).transpose()?;
    let compiled = compile_with(&Origin::BuiltIn, None);
    let layout = compiled.layout();
    let (Some(spec), Some(found), Some(layout)) =
        (&compiled.spec, &compiled.reconciliation, &layout)
    else {
        return Err(io::Error::other("the spec has faults; run `spec check`"));
    };
    let model = Model {
        spec,
        found,
        layout,
        docs: Docs::read(&root, options.source.clone().or_else(source))?,
        results: results.unwrap_or_default(),
        claims: claims::collect(spec),
        cases: cases::all(),
    };
    let mut output = Output::new()?;
    model.write(&mut output)?;
    model.write_results(&mut output)?;
    for address in addresses.lines().filter(|line| line.ends_with('/')) {
        if !output.has(address) {
            pages::withdrawn(&mut output, address)?;
        }
    }
    output.finish();
    let (pages, bytes) = output.size();
    output.write(&options.out)?;
    Ok(Size { pages, bytes })
}
