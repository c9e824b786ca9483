//! One emitter for each target language.
pub mod c;
pub mod rust;
