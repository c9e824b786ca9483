//! Descriptors in a program that may close them and use their numbers for its own files.

use std::fs::File;
use std::os::fd::RawFd;

use super::Identity;
use crate::sys;

/// A descriptor with a high number. Each use checks that it still refers to the same file.
#[derive(Debug)]
pub(crate) struct Lent {
    number: RawFd,
    identity: Identity,
}

impl Lent {
    /// Duplicates a file's descriptor. Returns `None` if there is no free high number.
    pub(crate) fn new(file: &File) -> Option<Self> {
        let identity = Identity::new(&file.metadata().ok()?);
        let number = sys::duplicate_high(file)?;
        Some(Self { number, identity })
    }

    /// Calls `work` with the file. Returns `None` if the program has closed it.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&File) -> T) -> Option<T> {
        let file = sys::borrow(self.number);
        let found = file.metadata().ok()?;
        (Identity::new(&found) == self.identity).then(|| work(&file))
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if self.with(|_| ()).is_some() {
            sys::close(self.number);
        }
    }
}
