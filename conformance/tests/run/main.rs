//! Tests how implementations behave in a run, and how they are graded.
#![cfg(unix)]

mod causes;
mod compare;
mod cross;
mod documents;
mod folders;
mod lists;
mod locate;
mod manifest;
mod named_causes;
mod outcomes;
mod outside;
mod persistent;
#[cfg(target_os = "linux")]
mod proc;
mod processes;
mod shards;
mod shortage;
mod streams;
mod support;
