//! Formats a check's findings as JSON, and names their parts.

use super::finding::{Kind, Place, Summary};
use crate::json::{names, objects};
use crate::rules::Verdict;
use crate::rules::{Party, ReaderDoes, Severity};

objects! {
    Place { field, offset }
    Summary {
        files, absent, accept, recover, reject, events, details, missing, must, should, advice, unreadable,
    }
}

names! {
    pub Kind {
        Index = "index", Detail = "detail", Ring = "ring", Manifest = "manifest", Folder = "folder",
    }
    pub Verdict { Accept = "accept", Recover = "recover", Reject = "reject" }
    pub Severity { Advice = "advice", Should = "should", Must = "must" }
    Party { Writer = "writer", Reader = "reader", Validator = "validator" }
    ReaderDoes { Ignore = "ignore", Warn = "warn", Recover = "recover", Reject = "reject" }
}
