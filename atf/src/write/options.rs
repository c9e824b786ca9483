//! Options for writing.

use crate::clock;
use crate::index::IndexEvent;
use crate::wire::{Arch, Clock, Os, Wire};
use crate::with_setters;

/// The minimum buffer size in bytes.
const LEAST_BUFFER: usize = 4 << 10;

with_setters! {
    /// Options for writing files. [`Default`] describes this machine and uses wire version 1.
    ///
    /// ```
    /// use atf::Wire;
    /// use atf::write::{Durability, WriteOptions};
    ///
    /// let options = WriteOptions::default()
    ///     .wire(Wire::V2)
    ///     .durability(Durability::Finalize);
    /// # assert_eq!(options.durability, Durability::Finalize);
    /// ```
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct WriteOptions {
        /// The wire version. All known tracers write version 1.
        pub wire: Wire,
        /// The processor architecture. The default is that of the machine this program was built
        /// for, or 0 if the format has no number for it.
        pub arch: Arch,
        /// The operating system. The default is that of the machine this program was built for, or
        /// 0 if the format has no number for it.
        pub os: Os,
        /// The clock of the timestamps. The default is the one that [`clock::now_ns`] reads, or 0
        /// if the format has no number for it.
        pub clock_type: Clock,
        /// Which data survives a power loss.
        pub durability: Durability,
        /// Whether an event survives the death of this process, even by SIGKILL, once the call that
        /// wrote it has returned. For power loss, see [`durability`](Self::durability). On a file
        /// system that copies on write, such as btrfs, bcachefs and ZFS, a full disk can end the
        /// process with SIGBUS: the events are stored in a mapped file, whose blocks cannot be
        /// allocated in advance there.
        pub survive_kill: bool,
        /// Whether events are written without checks, for tools that copy another tracer's events.
        /// Otherwise, the writer rejects events of unknown kind and events earlier than their
        /// predecessor, because the format does not allow tracers to write them.
        pub verbatim: bool,
        /// The size of each file's buffer in bytes: at least 4 KiB, and at most 16 MiB with
        /// [`survive_kill`](Self::survive_kill).
        pub buffer_size: usize,
    }
}

impl WriteOptions {
    /// Returns the size of each file's buffer in bytes, rounded to whole index events.
    #[doc(hidden)]
    pub fn buffer_capacity(&self) -> usize {
        let whole = self.buffer_size / IndexEvent::SIZE;
        whole.saturating_mul(IndexEvent::SIZE).max(LEAST_BUFFER)
    }
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

/// Which data survives a power loss. Unsynchronized writes may be lost or reordered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// No guarantee: the operating system decides when to write. The traced program never waits.
    #[default]
    None,
    /// Finalized files: finalizing synchronizes the files, the folder and the folder's name. Events
    /// are synchronized before the header that counts them is written.
    Finalize,
    /// Everything flushed: files are synchronized after each buffer is written.
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
