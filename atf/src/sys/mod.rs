//! The only module of this crate with unsafe code. Each unsafe block and declaration has a safety
//! comment. All other modules contain only safe code.

#![allow(
    unsafe_code,
    reason = "the module for unsafe code; every block has a safety proof"
)]
#![deny(clippy::undocumented_unsafe_blocks, unsafe_op_in_unsafe_fn)]

#[cfg(unix)]
mod at;
mod cancel;
#[cfg(target_vendor = "apple")]
pub(crate) mod clock_apple;
#[cfg(windows)]
pub(crate) mod clock_windows;
mod fork;
mod map;
mod processor;
mod ring;
#[cfg_attr(not(unix), path = "spare_elsewhere.rs")]
mod spare;
mod turns;
#[cfg(unix)]
mod unix;

#[cfg(unix)]
pub(crate) use at::{
    borrow, close, duplicate_high, exists_at, make_folder_at, open_at, remove_at, rename_at,
    set_mode_at,
};
pub use cancel::uncancelled;
pub use fork::Origin;
pub(crate) use map::{MapPermit, Memory, map};
pub(crate) use processor::{prefetch, with_avx2};
#[cfg(feature = "testing")]
pub use ring::watch;
pub use ring::{JournalArea, write_zeros};
pub use spare::Spare;
pub use turns::Turns;
#[cfg(unix)]
pub(crate) use unix::file_size_limit;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use unix::{allocate, boottime, seek_data};
