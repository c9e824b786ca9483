//! The layout spec of ATF v2.
pub mod layout;
