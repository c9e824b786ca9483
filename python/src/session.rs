//! Sessions and archives.

use std::path::PathBuf;

use atf::rewrite::{RecoverOptions, recover};
use atf::session::ThreadEntry;
use atf_tables::{Error, Options, Packed, Table as Kind, Unpacked, Written, write_files};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{exception, losses, problems};
use crate::options::{ReadOptions, WriteOptions, table};
use crate::table::{Origin, Table};

/// An open session.
#[pyclass(frozen, module = "adatrace._atf")]
pub(crate) struct Session {
    session: atf_tables::Session,
}

/// Opens a session's folder.
#[pyfunction]
pub(crate) fn open(py: Python<'_>, path: PathBuf) -> PyResult<Session> {
    let session = py.detach(|| atf_tables::Session::open(path));
    let session = session.map_err(|error| exception(py, &error))?;
    Ok(Session { session })
}

/// Opens all sessions at or below a path.
#[pyfunction]
pub(crate) fn open_all(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Session>> {
    let sessions = py.detach(|| atf_tables::Session::open_all(path));
    let sessions = sessions.map_err(|error| exception(py, &error))?;
    let sessions = sessions.into_iter();
    Ok(sessions.map(|session| Session { session }).collect())
}

/// Returns the table `check` for paths.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, paths: Vec<PathBuf>, read: ReadOptions) -> PyResult<Table> {
    let options = read.options().map_err(|error| exception(py, &error))?;
    let schema = options.schema(Kind::Check);
    schema.map_err(|error| exception(py, &error))?;
    Ok(Table::new(Origin::Paths(paths), Kind::Check, options))
}

/// Describes the files that were written.
fn files_dict(py: Python<'_>, written: Written) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("folders", written.folders)?;
    dict.set_item("files", written.files)?;
    dict.set_item("rows", written.rows)?;
    dict.set_item("bytes", written.bytes)?;
    dict.set_item("problems", problems(py, &written.problems)?)?;
    Ok(dict)
}

#[pymethods]
impl Session {
    #[getter]
    fn path(&self) -> PathBuf {
        self.session.reader().path().to_path_buf()
    }

    #[getter]
    fn thread_ids(&self) -> Vec<u32> {
        let threads = self.session.reader().threads().iter();
        threads.map(ThreadEntry::id).collect()
    }

    #[getter]
    fn losses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        losses(py, &self.session.losses(&Options::default()))
    }

    fn table(&self, py: Python<'_>, name: &str, read: ReadOptions) -> PyResult<Table> {
        let table = || {
            let (kind, options) = (table(name)?, read.options_for(&self.session)?);
            // Start reading, to validate the options.
            self.session.stream(kind, &options)?;
            let origin = Origin::Session(self.session.clone());
            Ok(Table::new(origin, kind, options))
        };
        table().map_err(|error: Error| exception(py, &error))
    }

    fn write_files<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
        write: WriteOptions,
        read: ReadOptions,
    ) -> PyResult<Bound<'py, PyDict>> {
        let written = py.detach(|| {
            let options = write.options(read.options_for(&self.session)?)?;
            write_files(&self.session, folder, &options)
        });
        files_dict(py, written.map_err(|error| exception(py, &error))?)
    }

    fn recover<'py>(
        &self,
        py: Python<'py>,
        out: PathBuf,
        salvage: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let path = self.session.reader().path();
        let report = py.detach(|| {
            let options = RecoverOptions::default().salvage(salvage);
            recover(path, out, &options)
        });
        let report = report.map_err(|error| exception(py, &error.into()))?;
        let dict = PyDict::new(py);
        dict.set_item("events", report.events())?;
        dict.set_item("details", report.details())?;
        dict.set_item("losses", report.losses())?;
        dict.set_item("changed", report.changed())?;
        dict.set_item("text", report.to_string())?;
        Ok(dict)
    }
}

/// Packs a session.
#[pyfunction]
pub(crate) fn pack<'py>(
    py: Python<'py>,
    session: PathBuf,
    archive: PathBuf,
    host: Option<&str>,
    name: Option<&str>,
    tables: Option<Vec<String>>,
) -> PyResult<Bound<'py, PyDict>> {
    let packed = py.detach(|| {
        let named = |names: Vec<String>| names.iter().map(|name| table(name)).collect();
        let tables: Option<Result<Vec<Kind>, Error>> = tables.map(named);
        let tables = tables.transpose()?;
        atf_tables::pack(session, archive, host, name, tables.as_deref())
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
    host: Option<&str>,
    name: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let unpacked = py.detach(|| atf_tables::unpack(archive, session, host, name));
    let Unpacked { files, bytes, .. } = unpacked.map_err(|error| exception(py, &error))?;
    let dict = PyDict::new(py);
    dict.set_item("files", files)?;
    dict.set_item("bytes", bytes)?;
    Ok(dict)
}
