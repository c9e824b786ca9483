//! The options for CSV that `report` and `diff` share.

use atf_export::csv::Formulas;

/// The CSV output of `report` and `diff`.
#[derive(clap::Args)]
pub(super) struct CsvOption {
    /// Write CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Write ' before text that spreadsheets would run as a formula
    #[arg(long, requires = "csv")]
    escape_formulas: bool,
}

impl CsvOption {
    /// Returns how to write text in CSV; `None` for another form.
    pub(super) fn formulas(&self) -> Option<Formulas> {
        let formulas = if self.escape_formulas {
            Formulas::Escape
        } else {
            Formulas::Keep
        };
        self.csv.then_some(formulas)
    }
}
