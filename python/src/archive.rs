//! Archives.

use std::path::PathBuf;

use atf_tables::{Error, PackOptions, Packed, UnpackOptions, Unpacked};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::exception;
use crate::options::table;
use crate::session::files_dict;

/// Packs a session.
#[pyfunction]
pub(crate) fn pack<'py>(
    py: Python<'py>,
    session: PathBuf,
    archive: PathBuf,
    host: Option<String>,
    name: Option<String>,
    tables: Option<Vec<String>>,
) -> PyResult<Bound<'py, PyDict>> {
    let packed = py.detach(|| {
        let mut options = PackOptions::default();
        (options.host, options.session) = (host, name);
        if let Some(names) = tables {
            let tables = names.iter().map(|name| table(name));
            options.tables = tables.collect::<Result<_, Error>>()?;
        }
        atf_tables::pack(session, archive, &options)
    });
    let Packed { written, bytes, .. } = packed.map_err(|error| exception(py, &error))?;
    let dict = files_dict(py, written)?;
    dict.set_item("session_bytes", bytes.total())?;
    dict.set_item("from_tables", bytes.from_tables)?;
    dict.set_item("header_footer", bytes.header_footer)?;
    dict.set_item("other", bytes.other)?;
    dict.set_item("unreproduced", bytes.unreproduced)?;
    Ok(dict)
}

/// Unpacks a session.
#[pyfunction]
pub(crate) fn unpack<'py>(
    py: Python<'py>,
    archive: PathBuf,
    session: PathBuf,
    host: Option<String>,
    name: Option<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let unpacked = py.detach(|| {
        let mut options = UnpackOptions::default();
        (options.host, options.session) = (host, name);
        atf_tables::unpack(archive, session, &options)
    });
    let Unpacked { files, bytes, .. } = unpacked.map_err(|error| exception(py, &error))?;
    let dict = PyDict::new(py);
    dict.set_item("files", files)?;
    dict.set_item("bytes", bytes)?;
    Ok(dict)
}
