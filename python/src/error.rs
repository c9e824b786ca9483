//! Converts errors, problems and losses to the Python classes defined in `adatrace/errors.py`.

use atf::ErrorKind;
use atf::manifest::Missing;
use atf_tables::{Error, Loss, Problem, kind_name};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

const MODULE: &str = "adatrace.errors";

/// Converts an error to an exception.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let exception = match error {
        Error::Usage(message) => return PyValueError::new_err(message.clone()),
        Error::Atf(error) => of_trace(py, error),
        Error::Output { path, why } | Error::File { path, why } => {
            let class = match error {
                Error::Output { .. } => "OutputError",
                _ => "ArchiveError",
            };
            let (message, path) = (error.to_string(), path.to_string_lossy());
            call(py, class, (message, path, None::<&str>, None::<u64>, why))
        }
        Error::Incomplete(incomplete) => problems(py, &incomplete.problems).and_then(|list| {
            let arguments = (error.to_string(), incomplete.rows, list);
            call(py, "IncompleteError", arguments)
        }),
        error => {
            let nothing = None::<&str>;
            let arguments = (error.to_string(), nothing, nothing, None::<u64>, "Internal");
            call(py, "AtfError", arguments)
        }
    };
    exception.unwrap_or_else(|error| error)
}

fn of_trace(py: Python<'_>, error: &atf::Error) -> PyResult<PyErr> {
    let class = match error.kind() {
        ErrorKind::NotASession
        | ErrorKind::NotATrace { .. }
        | ErrorKind::TooDeep
        | ErrorKind::SessionsBelow { .. }
        | ErrorKind::SeveralProcesses { .. } => "NotASessionError",
        ErrorKind::Io(std::io::ErrorKind::NotFound) => "MissingFileError",
        ErrorKind::OutputExists | ErrorKind::OutputInside => "OutputError",
        _ => "AtfError",
    };
    let path = error.path().map(|path| path.to_string_lossy());
    let (message, kind) = (error.to_string(), kind_name(error.kind()));
    let place = (error.field(), error.offset());
    call(py, class, (message, path, place.0, place.1, kind))
}

/// Converts problems to a list of `adatrace.Problem`.
pub(crate) fn problems<'py>(py: Python<'py>, problems: &[Problem]) -> PyResult<Bound<'py, PyList>> {
    let class = py.import(MODULE)?.getattr("Problem")?;
    let problem = |problem: &Problem| {
        let error = &problem.error;
        let path = error.path().map(|path| path.to_string_lossy());
        let (field, offset, kind) = (error.field(), error.offset(), problem.kind());
        class.call1((problem.thread, path, field, offset, kind, error.to_string()))
    };
    let all: Vec<_> = problems.iter().map(problem).collect::<PyResult<_>>()?;
    PyList::new(py, all)
}

/// Converts losses to a list of `adatrace.Loss`.
pub(crate) fn losses<'py>(py: Python<'py>, losses: &[Loss]) -> PyResult<Bound<'py, PyList>> {
    let class = py.import(MODULE)?.getattr("Loss")?;
    let loss = |loss: &Loss| {
        let (kind, count, times) = match loss.missing {
            Missing::Lost(kind, lost) => {
                let times = (lost.first_ns, lost.last_ns);
                (format!("{}s", kind.noun()), lost.count, Some(times))
            }
            Missing::Unwritten { events, .. } => ("unwritten".to_owned(), events, None),
            _ => ("other".to_owned(), 0, None),
        };
        let (first_ns, last_ns) = times.unzip();
        let message = loss.to_string();
        class.call1((loss.thread, kind, count, first_ns, last_ns, message))
    };
    let all: Vec<_> = losses.iter().map(loss).collect::<PyResult<_>>()?;
    PyList::new(py, all)
}

fn call<'py>(
    py: Python<'py>,
    class: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<PyErr> {
    let class = py.import(MODULE)?.getattr(class)?;
    Ok(PyErr::from_value(class.call1(arguments)?))
}
