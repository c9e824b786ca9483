//! What safe Rust cannot say: the one module of this crate with unsafe code, each block or
//! declaration with its proof. Nothing outside of it needs to know.

#![allow(
    unsafe_code,
    reason = "the module for it; every block proves that it is sound"
)]
#![deny(clippy::undocumented_unsafe_blocks, unsafe_op_in_unsafe_fn)]

#[cfg(target_vendor = "apple")]
pub(crate) mod clock_apple;
#[cfg(windows)]
pub(crate) mod clock_windows;
mod map;
mod prefetch;
mod ring;

pub(crate) use map::{MapPermit, map};
pub(crate) use prefetch::prefetch;
pub(crate) use ring::RingArea;
#[cfg(test)]
pub(crate) use ring::watch;
