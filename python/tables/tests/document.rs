//! Tests that `docs/tables.md` lists the actual tables and columns. `ATF_BLESS=1` rewrites the
//! lists.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use atf::Wire;
use atf::wire::Record;
use atf_tables::{Column, ColumnKind, Table};

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md")
}

/// The line after which the document lists the tables.
const START: &str = "<!-- The rest is generated: ATF_BLESS=1 .ci/python -->\n";

fn lists() -> String {
    let mut text = String::new();
    for table in Table::ALL {
        writeln!(text, "\n## `{table}`\n\n{}\n", table.about()).unwrap();
        text.push_str("| column | type | meaning | null | source |\n|---|---|---|---|---|\n");
        for column in table.columns() {
            let Column { name, about, .. } = column;
            let null = column.null.unwrap_or("never");
            let source = match record_and_field(column.source) {
                Some(_) => format!("`{}`", column.source),
                None => column.source.to_owned(),
            };
            let kind = kind(column.kind);
            writeln!(text, "| `{name}` | {kind} | {about} | {null} | {source} |").unwrap();
        }
    }
    text
}

fn kind(kind: ColumnKind) -> String {
    match kind {
        ColumnKind::Number => "number".to_owned(),
        ColumnKind::Name => "name".to_owned(),
        ColumnKind::Word(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
        ColumnKind::Text => "text".to_owned(),
        ColumnKind::Bytes => "bytes".to_owned(),
        ColumnKind::Flag => "boolean".to_owned(),
        kind => panic!("the document does not explain {kind:?}"),
    }
}

/// Splits a source such as `index_event.timestamp_ns`.
fn record_and_field(source: &str) -> Option<(&str, &str)> {
    let (record, field) = source.split_once('.')?;
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    (is_name(record) && is_name(field) && field != "json" && field != "atf")
        .then_some((record, field))
}

#[test]
fn the_document_matches_the_columns() {
    let text = std::fs::read_to_string(document()).unwrap();
    let (head, found) = text.split_once(START).expect("the line exists");
    let expected = lists();
    if std::env::var_os("ATF_BLESS").is_some() {
        std::fs::write(document(), format!("{head}{START}{expected}")).unwrap();
    } else {
        assert!(
            found == expected,
            "docs/tables.md is stale; ATF_BLESS=1 .ci/python fixes it"
        );
    }
}

#[test]
fn source_fields_exist_in_the_format() {
    let fields = |record: &str| {
        let known = Record::ALL.iter().find(|known| known.name() == record);
        let record = known.unwrap_or_else(|| panic!("unknown record {record}"));
        record.fields(Wire::V1)
    };
    let mut count = 0;
    for column in Table::ALL.iter().flat_map(|table| table.columns()) {
        for source in column.source.split(&[' ', ',']) {
            if let Some((record, field)) = record_and_field(source) {
                let is_known = fields(record).iter().any(|known| known.name == field);
                assert!(is_known, "{}: {source}", column.name);
                count += 1;
            }
        }
    }
    assert!(count >= 20, "only {count} columns name a field");
}
