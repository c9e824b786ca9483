//! How files are written.

use crate::clock;
use crate::wire::{Arch, Clock, Os, Wire};

/// How files are written. [`Default`] describes this machine, in wire version 1.
///
/// ```
/// use atf::Wire;
/// use atf::write::{Durability, WriteOptions};
///
/// let options = WriteOptions {
///     wire: Wire::V2,
///     durability: Durability::Finalize,
///     ..WriteOptions::default()
/// };
/// # assert_eq!(options.durability, Durability::Finalize);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteOptions {
    /// The wire version. All tracers in the field write version 1.
    pub wire: Wire,
    /// The processor; by default that of this program, 0 where the format has no number for it.
    pub arch: Arch,
    /// The operating system; by default that of this program, 0 where the format has no number
    /// for it.
    pub os: Os,
    /// The clock of the timestamps; by default the one that [`clock::now_ns`] reads, 0 where the
    /// format has no number for it.
    pub clock_type: Clock,
    /// What survives a loss of power.
    pub durability: Durability,
    /// Whether every event whose call has returned survives the death of this process, SIGKILL
    /// included. It has nothing to do with a loss of power.
    pub survive_kill: bool,
    /// Whether events are written as they come. Otherwise one that is earlier than the last and
    /// one of unknown kind are refused, as the format demands of tracers. For tools that copy what
    /// another tracer wrote.
    pub verbatim: bool,
    /// Bytes of each file's buffer; at least 4 KiB are taken.
    pub buffer_size: usize,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            wire: Wire::V1,
            arch: native_arch(),
            os: native_os(),
            clock_type: clock::CLOCK,
            durability: Durability::default(),
            survive_kill: false,
            verbatim: false,
            buffer_size: 128 << 10,
        }
    }
}

/// What survives a loss of power, which may drop or reorder whatever was not synchronized.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// Nothing is promised: the system writes when it likes. The traced program never waits.
    #[default]
    None,
    /// A finalized file: files, folder and the folder's name are synchronized when it is finalized,
    /// the events before the header says that they are there.
    Finalize,
    /// All that was flushed: files are synchronized with each buffer that leaves.
    EachFlush,
}

fn native_arch() -> Arch {
    match () {
        () if cfg!(target_arch = "x86_64") => Arch::X86_64,
        () if cfg!(target_arch = "aarch64") => Arch::ARM64,
        () => Arch(0),
    }
}

fn native_os() -> Os {
    match () {
        () if cfg!(target_os = "linux") => Os::LINUX,
        () if cfg!(target_os = "android") => Os::ANDROID,
        () if cfg!(target_os = "macos") => Os::MACOS,
        () if cfg!(target_os = "ios") => Os::IOS,
        () if cfg!(target_os = "windows") => Os::WINDOWS,
        () => Os(0),
    }
}
