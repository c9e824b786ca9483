//! Tests how implementations behave in a run, and how they are graded.
#![cfg(unix)]

mod causes;
mod compare;
mod cross;
mod documents;
mod lists;
mod locate;
mod manifest;
mod outcomes;
mod persistent;
mod processes;
mod shortage;
mod support;
mod watch;
