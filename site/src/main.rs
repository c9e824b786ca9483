//! `cargo run -p atf-site -- OUT`: builds the site.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use atf_site::{Options, Size, build};
use clap::Parser;

fn main() -> ExitCode {
    let options = Options::parse();
    match build(&options) {
        Ok(Size { pages, bytes }) => {
            let megabytes = bytes.div_ceil(1_000_000);
            let out = options.out.display();
            anstream::println!("{out}: {pages} pages, {megabytes} MB");
            ExitCode::SUCCESS
        }
        Err(error) => {
            anstream::eprintln!("atf-site: {error}");
            ExitCode::from(2)
        }
    }
}
