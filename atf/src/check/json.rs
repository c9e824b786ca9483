//! Formats a check's findings as JSON.

use serde_core::{Serialize, Serializer};

use super::finding::{Kind, Place, Summary};
use super::rules::{Party, ReaderDoes, Severity};
use super::verdict::Verdict;
use crate::json::{names, objects};

objects! {
    Place { field, offset }
    Summary {
        files, accept, recover, reject, events, details, must, should, advice, unreadable,
    }
}

names! {
    Party { Writer = "writer", Reader = "reader", Validator = "validator" }
    ReaderDoes { Ignore = "ignore", Warn = "warn", Recover = "recover", Reject = "reject" }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for Severity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
