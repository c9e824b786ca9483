//! Attacks on `atf`, each a detector of its own: what it does, and what must hold all the same.
//!
//! | module | what happens to a trace |
//! |---|---|
//! | [`exhaustive`] | each file of the corpus is cut at every byte, and each of its bits is flipped |
//! | [`faults`] | each call of the operating system fails in turn, and the disk is full at each byte |
//! | [`crashes`] | power is lost at each step of a writer, and any of what was not synchronized is missing |
//! | [`hostile`] | counts, lengths, links, names that are made to cost much memory and time |
//! | [`limits`] | few files may be open, small ones written, little memory taken; holes, deep folders, modes |
//! | [`races`] | files are cut, overwritten and replaced while they are read |
//!
//! `docs/safety.md` has the counts, the times, and for each detector the planted bug that it caught.
//! What is attacked is a [`Subject`](exhaustive::Subject) or a seam of that kind, so that tests can plant
//! bugs without a change of the library.

pub mod crashes;
pub mod exhaustive;
pub mod faults;
pub mod hostile;
#[cfg(target_os = "linux")]
pub mod limits;
pub mod races;
