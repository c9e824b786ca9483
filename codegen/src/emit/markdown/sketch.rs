//! The picture that shows each file as a stack of its records.

use atf_spec::layout::{Layout, Record};
use serde::Serialize;

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

#[derive(Serialize)]
pub(super) struct Sketch<'a> {
    width: u32,
    height: u32,
    files: Vec<File<'a>>,
}

#[derive(Serialize)]
struct File<'a> {
    name: &'a str,
    x: u32,
    middle: u32,
    head_y: u32,
    blocks: Vec<Block<'a>>,
    /// The positions of the dots after repeating blocks.
    dots: Vec<u32>,
    height: u32,
}

#[derive(Serialize)]
struct Block<'a> {
    class: &'static str,
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    middle: u32,
    title: &'a str,
    size: Option<u32>,
    /// Lines of text instead of a title.
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    y: u32,
    text: String,
}

/// Returns the files, side by side.
pub(super) fn sketch(layout: &Layout) -> Sketch<'_> {
    let files: Vec<File<'_>> = layout
        .records
        .chunk_by(|one, other| one.file == other.file)
        .zip(0..)
        .map(|(records, number)| File::new(records, MARGIN + number * (COLUMN_WIDTH + COLUMN_GAP)))
        .collect();
    let right = files.iter().map(|file| file.x + COLUMN_WIDTH).max();
    let bottom = files.iter().map(|file| file.height).max();
    Sketch {
        width: right.unwrap_or(0) + MARGIN,
        height: bottom.unwrap_or(0) + MARGIN,
        files,
    }
}

impl<'a> File<'a> {
    /// Makes a file that starts with the first record and ends with the last. The other records
    /// repeat in between.
    fn new(records: &'a [Record], x: u32) -> Self {
        let mut file = Self {
            name: &records[0].file,
            x,
            middle: x + COLUMN_WIDTH / 2,
            head_y: HEAD - 16,
            blocks: Vec::new(),
            dots: Vec::new(),
            height: HEAD,
        };
        if let [first, between @ .., last] = records {
            file.record("once", first);
            file.height += PART_GAP - BLOCK_GAP;
            for record in between {
                file.record("repeated", record);
            }
            if let Some(tail) = between
                .last()
                .and_then(|record| record.followed_by.as_ref())
            {
                file.tail(tail);
            }
            for dot in 0..3 {
                file.dots.push(file.height + 8 + dot * 8);
            }
            file.height += 16 + PART_GAP + 4;
            file.record("once", last);
        } else {
            records
                .iter()
                .for_each(|record| file.record("once", record));
        }
        file
    }

    fn record(&mut self, class: &'static str, record: &'a Record) {
        let size = Some(record.size);
        self.block(class, &record.title, size, BLOCK_HEIGHT, Vec::new());
    }

    /// Adds the variable-size data that follows a record.
    fn tail(&mut self, text: &str) {
        let texts = wrap(text, LINE_LETTERS);
        let top = self.height + LINE_HEIGHT + 6;
        let lines: Vec<Line> = (0..)
            .zip(texts)
            .map(|(number, text)| Line {
                y: top + number * LINE_HEIGHT,
                text,
            })
            .collect();
        let bottom = lines.last().map_or(top, |line| line.y);
        self.block("open", "", None, bottom + 12 - self.height, lines);
    }

    fn block(
        &mut self,
        class: &'static str,
        title: &'a str,
        size: Option<u32>,
        height: u32,
        lines: Vec<Line>,
    ) {
        self.blocks.push(Block {
            class,
            x: self.x,
            y: self.height,
            width: COLUMN_WIDTH,
            height,
            middle: self.height + height / 2 + 4,
            title,
            size,
            lines,
        });
        self.height += height + BLOCK_GAP;
    }
}

/// Wraps words into lines of at most this many letters.
fn wrap(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
