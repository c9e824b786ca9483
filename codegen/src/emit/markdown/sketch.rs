//! The picture that shows each file as a stack of its records.

use atf_spec::layout::{Layout, Record};
use serde_json::{Value, json};

use crate::emit;

// Lengths in pixels.
const MARGIN: u32 = 16;
const COLUMN_WIDTH: u32 = 372;
const COLUMN_GAP: u32 = 24;
const HEAD: u32 = 52;
const BLOCK_HEIGHT: u32 = 40;
const BLOCK_GAP: u32 = 4;
/// The space between a record that occurs once and repeated records.
const PART_GAP: u32 = 16;
const LINE_HEIGHT: u32 = 16;
/// The number of lower-case letters that fit into a column.
const LINE_LETTERS: usize = 54;

/// A file's column, from top to bottom.
struct File {
    x: u32,
    blocks: Vec<Value>,
    height: u32,
}

/// Returns the files, side by side.
pub(super) fn sketch(layout: &Layout) -> Value {
    let (mut files, mut x, mut height) = (Vec::new(), MARGIN, 0);
    for records in layout.records.chunk_by(|one, other| one.file == other.file) {
        let (file, bottom) = File::drawn(records, x);
        files.push(file);
        x += COLUMN_WIDTH + COLUMN_GAP;
        height = height.max(bottom);
    }
    json!({ "width": x - COLUMN_GAP + MARGIN, "height": height + MARGIN, "files": files })
}

impl File {
    /// Draws a file that starts with the first record and ends with the last. The other records
    /// repeat in between.
    fn drawn(records: &[Record], x: u32) -> (Value, u32) {
        let mut file = Self {
            x,
            blocks: Vec::new(),
            height: HEAD,
        };
        let mut dots = Vec::new();
        if let [first, between @ .., last] = records {
            file.record("once", first);
            file.height += PART_GAP - BLOCK_GAP;
            for record in between {
                file.record("repeated", record);
            }
            let tail = between
                .last()
                .and_then(|record| record.followed_by.as_ref());
            if let Some(tail) = tail {
                file.tail(tail);
            }
            // They show that the blocks before them repeat.
            dots.extend((0..3).map(|dot| file.height + 8 + dot * 8));
            file.height += 16 + PART_GAP + 4;
            file.record("once", last);
        } else {
            records
                .iter()
                .for_each(|record| file.record("once", record));
        }
        let drawn = json!({
            "name": records[0].file,
            "x": x,
            "middle": x + COLUMN_WIDTH / 2,
            "head_y": HEAD - 16,
            "blocks": file.blocks,
            "dots": dots,
        });
        (drawn, file.height)
    }

    fn record(&mut self, class: &str, record: &Record) {
        let content = json!({ "title": record.title, "size": record.size, "lines": [] });
        self.block(class, BLOCK_HEIGHT, content);
    }

    /// Adds the variable-size data that follows a record, as lines of text instead of a title.
    fn tail(&mut self, text: &str) {
        let top = self.height + LINE_HEIGHT + 6;
        let mut bottom = top;
        let lines = (0..)
            .zip(emit::wrap(text, LINE_LETTERS))
            .map(|(number, text)| {
                bottom = top + number * LINE_HEIGHT;
                json!({ "y": bottom, "text": text })
            });
        let lines: Vec<Value> = lines.collect();
        let content = json!({ "title": "", "size": null, "lines": lines });
        self.block("open", bottom + 12 - self.height, content);
    }

    fn block(&mut self, class: &str, height: u32, mut block: Value) {
        block["class"] = class.into();
        block["x"] = self.x.into();
        block["y"] = self.height.into();
        block["width"] = COLUMN_WIDTH.into();
        block["height"] = height.into();
        block["middle"] = (self.height + height / 2 + 4).into();
        self.blocks.push(block);
        self.height += height + BLOCK_GAP;
    }
}
