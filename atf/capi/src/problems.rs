//! The problems of a reader's events, as strings for C.

use std::ffi::{CString, c_char};
use std::sync::OnceLock;

use atf::Error;
use atf_record::uncancelled;

use crate::status::{Failure, c_string};

/// Problems, computed when first requested.
#[derive(Debug, Default)]
pub(crate) struct Problems(OnceLock<Vec<(Error, CString)>>);

impl Problems {
    /// Returns all problems; the first call computes them with `ask`.
    pub(crate) fn get(&self, ask: impl FnOnce() -> Vec<Error>) -> &[(Error, CString)] {
        let text = |error: Error| {
            let text = c_string(error.text_with_rule().as_bytes());
            (error, text)
        };
        // `ask` may open other files of the reader's thread.
        let ask = || uncancelled(ask);
        self.0.get_or_init(|| ask().into_iter().map(text).collect())
    }

    /// Returns the result after the last event: [`Failure::Nothing`], or the first problem.
    pub(crate) fn end(&self, ask: impl FnOnce() -> Vec<Error>) -> Failure {
        match self.get(ask).first() {
            Some((first, _)) => Failure::Damaged(first.clone()),
            None => Failure::Nothing,
        }
    }

    /// Returns a problem as text, or null.
    pub(crate) fn text(&self, position: usize, ask: impl FnOnce() -> Vec<Error>) -> *const c_char {
        let problem = self.get(ask).get(position);
        problem.map_or(std::ptr::null(), |(_, text)| text.as_ptr())
    }
}
