//! Byte diagrams, which show a record as rows of bytes with a box per field.

use std::collections::BTreeSet;

use atf_spec::layout::{Field, Layout, Record, Type, Wire};
use serde::Serialize;
use serde_json::{Value, json};

const BYTES_A_ROW: u32 = 8;

// Lengths in pixels.
const ROW_HEIGHT: u32 = 44;
const MARGIN: u32 = 16;
/// The space to the left of the rows, for their offsets.
const GUTTER: u32 = 44;
/// The space above the rows, for the title and the byte numbers.
const HEAD: u32 = 64;
/// The space below the rows, for the legend.
const FOOT: u32 = 44;
/// The space between a row's edge and its boxes.
const GAP: u32 = 2;
/// The space between a box's edge and its text.
const PADDING: u32 = 6;
const MIN_BYTE_WIDTH: u32 = 56;

/// The kind of a field, shown by colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Class {
    Fixed,
    Named,
    Number,
    Reserved,
}

/// Groups a record's wire versions that have the same layout.
pub(super) fn alike(record: &Record) -> Vec<Vec<Wire>> {
    let wires = record.layouts.iter().map(|layout| layout.wire);
    if record.is_same_in_every_wire() {
        vec![wires.collect()]
    } else {
        wires.map(|wire| vec![wire]).collect()
    }
}

/// Returns the path of the diagram for these wire versions, relative to the pages' folder.
pub(super) fn path(record: &Record, wires: &[Wire]) -> String {
    match wires {
        [wire] => format!("svg/{}.v{wire}.svg", record.name),
        _ => format!("svg/{}.svg", record.name),
    }
}

/// Returns the fields of a record in these wire versions, which have the same layout.
pub(super) fn fields<'a>(record: &'a Record, wires: &[Wire]) -> &'a [Field] {
    let layout = record.layout(wires[0]);
    layout.map_or(&[], |layout| &layout.fields)
}

/// Returns the diagrams of a record and their paths, with this width of a byte.
pub(super) fn diagrams(record: &Record, byte: u32) -> Vec<(String, Value)> {
    let diagram = |wires: Vec<Wire>| (path(record, &wires), diagram(record, &wires, byte));
    alike(record).into_iter().map(diagram).collect()
}

/// Returns the width of a byte at which all text in all diagrams fits into its box.
pub(super) fn byte_width(layout: &Layout) -> u32 {
    let mut width = MIN_BYTE_WIDTH;
    for record in &layout.records {
        for wires in alike(record) {
            let widths = pieces(record, &wires).into_iter().map(|it| it.byte_width());
            width = widths.fold(width, u32::max);
        }
    }
    width
}

fn diagram(record: &Record, wires: &[Wire], byte: u32) -> Value {
    let left = MARGIN + GUTTER;
    let rows = record.size.div_ceil(BYTES_A_ROW);
    let row = |row: u32| HEAD + row * ROW_HEIGHT;
    let column = |number: u32| {
        let x = left + number * byte + byte / 2;
        json!({ "x": x, "y": HEAD - 8, "number": number })
    };
    let mark = |number: u32| {
        let y = row(number) + ROW_HEIGHT / 2 + 4;
        json!({ "x": left - 10, "y": y, "number": number * BYTES_A_ROW })
    };
    let field = |field: &Field| {
        let bytes = bytes(field.offset, field.ty.size());
        json!({ "name": field.name, "type": field.ty, "bytes": bytes })
    };
    let pieces = pieces(record, wires);
    let legend = legend(&pieces);
    let boxes = pieces.into_iter().map(|piece| piece.place(byte));
    json!({
        "record": record.name,
        "title": record.title,
        "size": record.size,
        "wires": wires,
        "width": left + BYTES_A_ROW * byte + MARGIN,
        "height": row(rows) + FOOT,
        // The byte numbers above a row, and the offset of each row, shown to its left.
        "columns": (0..BYTES_A_ROW).map(column).collect::<Vec<_>>(),
        "rows": (0..rows).map(mark).collect::<Vec<_>>(),
        // The fields as listed in the picture's text alternative.
        "fields": fields(record, wires).iter().map(field).collect::<Vec<_>>(),
        "legend": legend,
        "legend_y": row(rows) + FOOT / 2,
        "boxes": boxes.collect::<Vec<_>>(),
    })
}

/// Formats a range of byte numbers: `4` or `8–11`.
fn bytes(offset: u32, size: u32) -> String {
    match size {
        1 => offset.to_string(),
        _ => format!("{offset}–{}", offset + size - 1),
    }
}

/// A run of bytes shown as one rectangle: part of a row, or whole rows.
struct Piece<'a> {
    field: &'a Field,
    offset: u32,
    size: u32,
    /// Whether the field continues from the row above.
    open_left: bool,
    /// Whether the field continues in the row below.
    open_right: bool,
    /// The label, which only the field's largest piece has. The other pieces merely show that the
    /// field continues.
    label: Option<(String, String)>,
    name: String,
}

impl Piece<'_> {
    /// Returns the piece's width in bytes.
    fn columns(&self) -> u32 {
        self.size.min(BYTES_A_ROW)
    }

    /// Returns the width of a byte at which the label fits.
    fn byte_width(&self) -> u32 {
        let Some((name, detail)) = &self.label else {
            return 0;
        };
        let text = name_width(name).max(detail_width(detail));
        (text + 2 * (PADDING + GAP)).div_ceil(self.columns())
    }

    fn place(self, byte: u32) -> Value {
        let (row, column) = (self.offset / BYTES_A_ROW, self.offset % BYTES_A_ROW);
        // An open side extends to the row's edge.
        let left = if self.open_left { 0 } else { GAP };
        let right = if self.open_right { 0 } else { GAP };
        let width = self.columns() * byte - left - right;
        let rows = self.size.div_ceil(BYTES_A_ROW);
        let (name, detail) = self.label.unwrap_or_else(|| {
            let name = format!("… {}", self.name);
            let fits = name_width(&name) + 2 * PADDING <= width;
            (if fits { name } else { "…".to_owned() }, String::new())
        });
        json!({
            "class": Class::new(self.field),
            "field": self.field.name,
            "offset": self.offset,
            "size": self.size,
            "x": MARGIN + GUTTER + column * byte + left,
            "y": HEAD + row * ROW_HEIGHT + GAP,
            "width": width,
            "height": rows * ROW_HEIGHT - 2 * GAP,
            "open_left": self.open_left,
            "open_right": self.open_right,
            "name": name,
            "detail": detail,
        })
    }
}

/// Returns the width of a name at 12 pixels, assuming 7.25 pixels per letter, which is wider than
/// in any common monospace font.
fn name_width(text: &str) -> u32 {
    (letters(text) * 29).div_ceil(4)
}

/// Returns the width of a detail at 10 pixels, assuming 6.25 pixels per letter.
fn detail_width(text: &str) -> u32 {
    (letters(text) * 25).div_ceil(4)
}

fn letters(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX / 32)
}

/// Divides a record into pieces, for wire versions with the same layout.
fn pieces<'a>(record: &'a Record, wires: &[Wire]) -> Vec<Piece<'a>> {
    let pieces = fields(record, wires).iter().flat_map(|field| {
        let layouts = wires.iter().filter_map(|wire| record.layout(*wire));
        let mut values = layouts.map(|layout| layout.field(&field.name)?.value.as_ref());
        let one = values.next().flatten();
        let one = one.filter(|one| values.all(|value| value == Some(one)));
        let suffix = one.map_or_else(String::new, |value| format!(" = {value}"));
        let units = units(field).into_iter();
        units.flat_map(move |(index, offset, ty)| {
            let name = format!("{}{index}", field.name);
            let detail = format!("{ty} · {}", bytes(offset, ty.size()));
            let label = (format!("{name}{suffix}"), detail);
            cut(field, offset, ty.size(), &name, label)
        })
    });
    pieces.collect()
}

/// Returns the parts of a field that have their own labels: an array's elements, unless they are
/// single bytes.
fn units(field: &Field) -> Vec<(String, u32, Type)> {
    let Type { scalar, count } = field.ty;
    let element = Type {
        scalar,
        count: None,
    };
    match count {
        Some(count) if element.size() > 1 => (0..count)
            .map(|index| {
                let offset = field.offset + index * element.size();
                (format!("[{index}]"), offset, element)
            })
            .collect(),
        _ => vec![(String::new(), field.offset, field.ty)],
    }
}

/// Splits a run of bytes at the ends of rows, but keeps whole rows together.
fn cut<'a>(
    field: &'a Field,
    offset: u32,
    size: u32,
    name: &str,
    label: (String, String),
) -> Vec<Piece<'a>> {
    let end = offset + size;
    let mut pieces = Vec::new();
    let mut at = offset;
    while at < end {
        let column = at % BYTES_A_ROW;
        let rest = end - at;
        let size = if column == 0 && rest >= BYTES_A_ROW {
            rest - rest % BYTES_A_ROW
        } else {
            rest.min(BYTES_A_ROW - column)
        };
        pieces.push(Piece {
            field,
            offset: at,
            size,
            open_left: at > offset,
            open_right: at + size < end,
            label: None,
            name: name.to_owned(),
        });
        at += size;
    }
    let greatest = pieces.iter().map(Piece::columns).max();
    let mut widest = pieces
        .iter_mut()
        .filter(|it| Some(it.columns()) == greatest);
    if let Some(piece) = widest.next() {
        piece.label = Some(label);
    }
    pieces
}

impl Class {
    const fn new(field: &Field) -> Self {
        if field.reserved {
            Self::Reserved
        } else if field.value.is_some() {
            Self::Fixed
        } else if field.enumeration.is_some() {
            Self::Named
        } else {
            Self::Number
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Fixed => "fixed value",
            Self::Named => "enumeration or flags",
            Self::Number => "number",
            Self::Reserved => "reserved",
        }
    }
}

/// Returns the colours in use, in order.
fn legend(pieces: &[Piece<'_>]) -> Vec<Value> {
    let classes = pieces.iter().map(|piece| Class::new(piece.field));
    let classes: BTreeSet<Class> = classes.collect();
    let mut x = MARGIN + GUTTER + GAP;
    let swatch = |class: Class| {
        let label = class.label();
        let swatch = json!({ "class": class, "x": x, "label": label });
        x += 22 + detail_width(label) + 30;
        swatch
    };
    classes.into_iter().map(swatch).collect()
}
