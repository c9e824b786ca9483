//! The golden corpus: small traces, each with what a reader must make of it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Verdict;

/// One small trace with what a reader must make of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its permanent name: `v1/iftr-004-one-bit-off`.
    pub name: String,
    /// The wire version of its files.
    pub wire: u8,
    /// The rules that it is about.
    pub rules: Vec<&'static str>,
    /// What was done to it.
    pub class: Class,
    /// What is to be read: a file, from the trace's folder, or empty for the folder itself.
    pub path: String,
    /// What kind of thing `path` is.
    pub subject: Subject,
    /// Which known mistakes of implementations it finds; explained in the corpus.
    pub flags: Vec<&'static str>,
    /// What is wrong with it and what that does to a reader that does not look.
    pub note: String,
    /// The documents that say so: S0 to S4, FIELD.
    pub sources: Vec<&'static str>,
    /// The files, by their paths in the trace's folder.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Folders without files.
    pub folders: Vec<String>,
    /// Symbolic links, by their paths, with where they lead.
    pub symlinks: BTreeMap<String, String>,
    /// The verdicts that satisfy it: one, or several where a flag says why either is right.
    pub verdicts: Vec<Verdict>,
    /// The canonical document that a reader must give, unless the verdict is reject.
    pub expected: serde_json::Value,
    /// The broken rules that a checker must find, by file: `("thread_7/index.atf", "ATF-IFTR-004")`.
    pub broken: Vec<(String, &'static str)>,
}

/// What was done to a case's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Nothing that breaks a MUST.
    Valid,
    /// A field has a value that it must not have.
    Malformed,
    /// Bytes at the end are missing.
    Truncated,
    /// The bytes make no trace.
    Invalid,
}

/// What a case gives to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// An `index.atf`.
    Index,
    /// A `detail.atf`.
    Detail,
    /// A session's folder.
    Session,
}
