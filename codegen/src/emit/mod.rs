//! Emitters, one per target.

pub mod c;
pub mod json;
pub mod rust;

#[cfg(feature = "command")]
pub mod dict;
#[cfg(feature = "command")]
pub mod markdown;
#[cfg(feature = "command")]
pub mod rules;
#[cfg(feature = "command")]
pub mod schema;
