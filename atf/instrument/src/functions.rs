//! Finds the functions of a module that the settings treat specially.

use std::path::Path;

use atf_symbolize::SymbolTable;

use crate::aside;
use crate::guest::complain;
use crate::marks::{Functions, MarkTable, Marks};
use crate::settings::Settings;

/// Determines which functions of a module have marks. Returns `None` if the module is not recorded.
pub(crate) fn of(path: &Path, build_id: &str, settings: &'static Settings) -> Option<Functions> {
    if !settings.records(path) {
        return None;
    }
    if !settings.marks_functions() {
        return Some(Functions::Alike);
    }
    let (file, id) = (path.to_owned(), build_id.to_owned());
    let found = aside::run(move || marked(&file, &id, settings));
    Some(match found.unwrap_or_else(|error| Err(error.to_string())) {
        Ok(marked) if marked.is_empty() => Functions::Alike,
        Ok(marked) => Functions::Marked(Box::leak(Box::new(MarkTable::new(&marked)))),
        Err(why) => {
            complain(&format!(
                "{}: all its functions are recorded, as their names are not known: {why}",
                path.display()
            ));
            Functions::Alike
        }
    })
}

/// Returns the functions with marks, by offset.
fn marked(path: &Path, build_id: &str, settings: &Settings) -> Result<Vec<(u32, Marks)>, String> {
    let build_id = Some(build_id).filter(|id| !id.is_empty());
    let found = settings.symbols.find(path.to_str(), build_id);
    let Some((file, table)) = found.file else {
        let refused = found.refused.first().map(ToString::to_string);
        return Err(refused.unwrap_or_else(|| "the file is not there".to_owned()));
    };
    if settings.leaves_out() && !table.has_statics() {
        complain(&format!(
            "{} has no names for functions that it does not export; these are recorded",
            file.display()
        ));
    }
    let mark = |function: atf_symbolize::Function<'_>| {
        let offset = u32::try_from(function.offset).ok()?;
        let marks = settings.marks(&function);
        (marks != Marks::NONE).then_some((offset, marks))
    };
    let marked = SymbolTable::functions(&table).filter_map(mark).collect();
    if table.gave_up() {
        return Err("a C++ name could not be demangled in time".to_owned());
    }
    Ok(marked)
}
