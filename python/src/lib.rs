//! The compiled part of the Python package `adatrace`: it opens sessions and passes their tables to
//! Arrow's C interface.
//!
//! The package's own modules, in the folder `adatrace`, contain the public classes with their
//! documentation and types.

#![forbid(unsafe_code)]
// As in `atf`, no content of a file may cause a panic.
#![warn(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod error;
mod options;
mod session;
mod table;

use pyo3::prelude::*;

/// The module `adatrace._atf`.
#[pymodule]
fn _atf(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<session::Session>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(session::pack, module)?)?;
    module.add_function(wrap_pyfunction!(session::unpack, module)?)?;
    module.add_function(wrap_pyfunction!(session::open, module)?)?;
    module.add_function(wrap_pyfunction!(session::open_all, module)?)?;
    module.add_function(wrap_pyfunction!(session::check, module)?)
}
