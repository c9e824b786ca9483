//! Runs: what testees do and what is made of it.
#![cfg(unix)]

mod command;
mod compare;
mod cross;
mod documents;
mod lists;
mod locate;
mod manifest;
mod outcomes;
mod processes;
mod support;
