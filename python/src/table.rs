//! The Python class of a table, which Arrow's consumers can read.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;
use atf_tables::{Error, Options, Outcome, Session, Stream, Table as Kind};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

use crate::error::{exception, problems};

/// A table of a session. Each read starts at the beginning.
#[pyclass(frozen, module = "adatrace")]
pub(crate) struct Table {
    origin: Origin,
    kind: Kind,
    options: Options,
    /// The outcome of the latest read.
    outcome: Mutex<Option<Arc<OnceLock<Outcome>>>>,
}

pub(crate) enum Origin {
    Session(Session),
    /// The table `check` for these paths.
    Paths(Vec<PathBuf>),
}

impl Table {
    pub(crate) fn new(origin: Origin, kind: Kind, options: Options) -> Self {
        Self {
            origin,
            kind,
            options,
            outcome: Mutex::new(None),
        }
    }

    fn stream(&self) -> Result<Stream, Error> {
        match &self.origin {
            Origin::Session(session) => session.stream(self.kind, &self.options),
            Origin::Paths(paths) => atf_tables::check(paths.clone(), &self.options),
        }
    }

    fn schema(&self, py: Python<'_>) -> PyResult<SchemaRef> {
        let schema = match &self.origin {
            Origin::Session(session) => session.schema(self.kind, &self.options),
            Origin::Paths(_) => self.options.schema(self.kind),
        };
        schema.map_err(|error| exception(py, &error))
    }

    /// Returns the outcome of the latest read, or `None` if it has not ended.
    fn outcome(&self) -> Option<Outcome> {
        let outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        outcome.as_ref()?.get().cloned()
    }
}

#[pymethods]
impl Table {
    /// Returns a stream of record batches, as Arrow's C stream interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows a producer to ignore the requested schema. In that case, the
        // consumer casts the data.
        drop(requested_schema);
        let stream = py.detach(|| self.stream());
        let stream = stream.map_err(|error| exception(py, &error))?;
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        *outcome = Some(stream.outcome());
        let stream: Box<dyn RecordBatchReader + Send> = Box::new(stream);
        let stream = FFI_ArrowArrayStream::new(stream);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Returns the schema, as Arrow's C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema(py)?.as_ref());
        let schema = schema.map_err(|error| exception(py, &error.into()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The name of the table, such as `events`.
    #[getter]
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let schema = self.schema(py)?;
        let fields = schema.fields().iter();
        Ok(fields.map(|field| field.name().clone()).collect())
    }

    /// Returns the problems that the last read found, or None if it has not ended. `Session.losses`
    /// lists what the tracer did not record.
    fn problems<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let outcome = self.outcome();
        let found = outcome.map(|outcome| problems(py, &outcome.problems));
        found.transpose()
    }

    /// Returns the threads that the last read covered only in part, without verifying their
    /// checksums, or None if that read has not ended.
    fn unverified(&self) -> Option<Vec<u32>> {
        Some(self.outcome()?.unverified.into_iter().collect())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let columns = self.columns(py)?.join(", ");
        Ok(format!("<adatrace.Table {}: {columns}>", self.kind))
    }
}
