//! Attacks on `atf`: detectors, one per module, which attack the library and check its guarantees.
//!
//! | module | attack |
//! |---|---|
//! | [`composed`] | several faults at once, read by readers that share no code |
//! | [`exhaustive`] | every file of the corpus is truncated at every byte, and every bit is flipped |
//! | [`faults`] | every system call fails in turn, and the disk fills up after any number of bytes |
//! | [`crashes`] | power is lost at every step of a writer, and any unsynchronized data may be missing |
//! | [`hostile`] | counts, lengths, links and names are crafted to cost a lot of memory and time |
//! | [`limits`] | limits on open files, file sizes and memory; sparse files, deep folders, file modes |
//! | [`races`] | files are truncated, overwritten and replaced while they are being read |
//!
//! `docs/safety.md` lists the counts and the planted bugs that each detector finds.
//! The attacks run on a [`Subject`](exhaustive::Subject) or a similar interface, so that tests can
//! plant bugs without changing the library.

pub mod composed;
pub mod crashes;
pub mod exhaustive;
pub mod faults;
pub mod hostile;
#[cfg(target_os = "linux")]
pub mod limits;
pub mod races;

pub use atf_conformance::run::Shard;
