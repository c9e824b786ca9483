//! Finds the functions of a module that the settings treat specially.

use std::path::Path;

use crate::aside;
use crate::guest::complain;
use crate::marks::{Functions, MarkTable, Marks};
use crate::settings::Settings;

/// How the settings treat the functions of a module.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// `None` if the module is not recorded.
    functions: Option<Functions>,
    /// The problem with the module's names.
    complaint: Option<String>,
}

impl Found {
    /// Reports the problem with the names of a module whose function was called.
    pub(crate) fn report(self) -> Option<Functions> {
        self.complaint.as_deref().inspect(|text| complain(text));
        self.functions
    }
}

/// Determines which functions of a module have marks.
pub(crate) fn find_marked(path: &Path, build_id: &str, settings: &'static Settings) -> Found {
    if !settings.records(path) {
        return Found::default();
    }
    if !settings.marks_functions() {
        return Found {
            functions: Some(Functions::Alike),
            complaint: None,
        };
    }
    let (file, id) = (path.to_owned(), build_id.to_owned());
    let found = aside::run(move || marked(&file, &id, settings));
    let found = found.unwrap_or_else(|error| Err(error.to_string()));
    let (marked, complaint) = found.unwrap_or_else(|why| {
        let path = path.display();
        let text = "all its functions are recorded, as their names are not known";
        (Vec::new(), Some(format!("{path}: {text}: {why}")))
    });
    let functions = if marked.is_empty() {
        Functions::Alike
    } else {
        Functions::Marked(Box::leak(Box::new(MarkTable::new(&marked))))
    };
    Found {
        functions: Some(functions),
        complaint,
    }
}

/// The functions with marks, by offset, and the problem with the names of the others.
type Marked = (Vec<(u32, Marks)>, Option<String>);

fn marked(path: &Path, build_id: &str, settings: &Settings) -> Result<Marked, String> {
    let build_id = Some(build_id).filter(|id| !id.is_empty());
    let (found, table) = settings.symbols.find(path.to_str(), build_id);
    let (Some(file), Some(table)) = (found.path, table) else {
        let refused = found.refused.first().map(ToString::to_string);
        return Err(refused.unwrap_or_else(|| "the file does not exist".to_owned()));
    };
    let mut marked = Vec::new();
    for namesakes in table.namesakes() {
        let mut last = None;
        let names = namesakes.names();
        for (offset, size) in namesakes.places() {
            let Ok(offset) = u32::try_from(offset) else {
                continue;
            };
            // Functions with the same name usually have the same size.
            let same = last.filter(|(other, _)| *other == size);
            let (_, marks) =
                *last.insert(same.unwrap_or_else(|| (size, settings.marks(&names, size))));
            if marks != Marks::NONE {
                marked.push((offset, marks));
            }
        }
    }
    let complaint = if !settings.leaves_out() {
        None
    } else if table.gave_up() {
        Some("has C++ names that could not be demangled in time; these functions are recorded")
    } else {
        Some("has no names for functions that it does not export; these are recorded")
            .filter(|_| !table.has_statics())
    };
    let complaint = complaint.map(|text| format!("{} {text}", file.display()));
    Ok((marked, complaint))
}
