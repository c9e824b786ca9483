//! Draws the SVG.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use super::tree::{Changes, Names, Node, Tree};

/// The width of the outermost frame, and the space around it, in pixels.
const WIDTH: f64 = 1180.0;
const MARGIN: f64 = 10.0;
/// The height of a frame.
const ROW: f64 = 16.0;
/// The space above the frames, without notes.
const HEAD: f64 = 52.0;
/// The maximum number of notes to show.
const MOST_NOTES: usize = 8;
/// The minimum width of a frame. Narrower frames are omitted, along with all frames above them.
const NARROWEST: f64 = 0.1;
/// The width of a letter.
const LETTER: f64 = 7.0;

const SCRIPT: &str = include_str!("flame.js");

struct Frame<'t> {
    place: u32,
    node: &'t Node,
    depth: u32,
    x: f64,
    width: f64,
}

/// Writes a tree; the root is at the bottom.
pub(super) fn write(
    tree: &Tree,
    names: &Names,
    changes: Option<&Changes>,
    title: &str,
    notes: &[String],
    mut out: impl Write,
) -> io::Result<()> {
    let (frames, left_out) = frames(tree);
    let deepest = frames.iter().map(|frame| frame.depth).max().unwrap_or(0);
    let notes = shown(notes);
    let height = HEAD + (notes.len() as f64 + f64::from(deepest) + 1.0) * ROW + MARGIN;
    let full = WIDTH + 2.0 * MARGIN;
    writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full} {height}" width="{full}" height="{height}" font-family="monospace" font-size="12">
<style>.f{{cursor:pointer}}.f:hover rect{{stroke:#000}}.faded{{opacity:.5}}.found rect{{fill:#e6f}}#back,#search{{cursor:pointer}}</style>
<rect width="100%" height="100%" fill="#fffaf0"/>
<text x="{}" y="20" text-anchor="middle" font-size="16">{}</text>"##,
        full / 2.0,
        Escaped(title),
    )?;
    let all_ns = tree.nodes.first().map_or(0, |root| root.total_ns);
    let mut about = match changes {
        None => "click: zoom".to_owned(),
        Some(changes) => format!(
            "red: more self time than before, blue: less; stacks only in the first trace: {}",
            Time(changes.vanished_ns)
        ),
    };
    if left_out > 0 {
        write!(about, "; {left_out} narrow frames left out").map_err(io::Error::other)?;
    }
    let right = full - MARGIN;
    writeln!(
        out,
        r#"<text id="about" x="{MARGIN}" y="42">{}</text><text id="back" x="{right}" y="20" text-anchor="end" visibility="hidden">reset zoom</text><text id="search" x="{right}" y="42" text-anchor="end">search</text>"#,
        Escaped(&about)
    )?;
    for (place, note) in notes.iter().enumerate() {
        writeln!(
            out,
            r##"<text x="{MARGIN}" y="{}" fill="#b00000"><title>{}</title>{}</text>"##,
            HEAD + (place as f64) * ROW + 6.0,
            Escaped(note),
            Escaped(&label(note, WIDTH)),
        )?;
    }
    let most = changes.map_or(0, |changes| greatest_change(&frames, changes));
    for frame in &frames {
        let y = height - MARGIN - (f64::from(frame.depth) + 1.0) * ROW;
        let name = names.get(frame.node.name);
        let before = changes.and_then(|changes| changes.before.get(frame.place as usize));
        let colour = match before {
            None => colour_of(name),
            Some((before_ns, _)) => colour_of_change(*before_ns, frame.node.self_ns, most),
        };
        let (x, width) = (frame.x, frame.width);
        let tip = Tip {
            node: frame.node,
            is_minimum: tree.minimums.contains(&frame.place),
            all_ns,
            before,
        };
        let (name, label) = (Escaped(name), label(name, width));
        writeln!(
            out,
            r#"<g class="f"><title>{name}{tip}</title><rect x="{x:.2}" y="{y}" width="{width:.2}" height="{}" rx="1" fill="{colour}"/><text x="{:.2}" y="{}">{}</text></g>"#,
            ROW - 1.0,
            x + 3.0,
            y + 12.0,
            Escaped(&label),
        )?;
    }
    writeln!(out, "<script><![CDATA[\n{SCRIPT}]]></script>\n</svg>")?;
    out.flush()
}

/// Returns the first few notes, and a line with the number of the others.
fn shown(notes: &[String]) -> Vec<String> {
    let mut shown: Vec<String> = notes.iter().take(MOST_NOTES).cloned().collect();
    let more = notes.len().saturating_sub(shown.len());
    if more > 0 {
        shown.push(format!("and {more} more notes on missing or damaged data"));
    }
    shown
}

/// Returns the frames that are wide enough, and the number of frames that are not.
fn frames(tree: &Tree) -> (Vec<Frame<'_>>, usize) {
    let all_ns = tree.nodes.first().map_or(0, |root| root.total_ns);
    let scale = WIDTH / (all_ns.max(1) as f64);
    let mut frames = Vec::new();
    let root = tree.nodes.first().map(|root| (0, root, 0_u32, MARGIN));
    let mut next: Vec<_> = root.into_iter().collect();
    while let Some((place, node, depth, x)) = next.pop() {
        let width = if depth == 0 {
            WIDTH
        } else {
            node.total_ns as f64 * scale
        };
        if width < NARROWEST {
            continue;
        }
        frames.push(Frame {
            place,
            node,
            depth,
            x,
            width,
        });
        let mut left = x;
        for (place, child) in tree.children(place) {
            next.push((place, child, depth.saturating_add(1), left));
            left += child.total_ns as f64 * scale;
        }
    }
    let left_out = tree.nodes.len().saturating_sub(frames.len());
    (frames, left_out)
}

/// Returns the largest change in a frame's self time.
fn greatest_change(frames: &[Frame<'_>], changes: &Changes) -> u64 {
    let changes = frames.iter().filter_map(|frame| {
        let (before_ns, _) = changes.before.get(frame.place as usize)?;
        Some(before_ns.abs_diff(frame.node.self_ns))
    });
    changes.max().unwrap_or(0)
}

/// Returns a warm colour that depends only on the name.
fn colour_of(name: &str) -> String {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let [first, second, third, ..] = hash.to_be_bytes();
    let part = |byte: u8, low: u16, span: u16| {
        low.saturating_add(u16::from(byte).saturating_mul(span).wrapping_shr(8))
    };
    let (red, green, blue) = (
        part(first, 205, 50),
        part(second, 90, 140),
        part(third, 40, 50),
    );
    format!("rgb({red},{green},{blue})")
}

/// Returns white for no change, and the deepest red or blue for the largest change.
fn colour_of_change(before_ns: u64, after_ns: u64, most: u64) -> String {
    let share = before_ns.abs_diff(after_ns) as f64 / most.max(1) as f64;
    let rest = 245.0 - 185.0 * share.sqrt();
    if after_ns >= before_ns {
        format!("rgb(245,{rest:.0},{rest:.0})")
    } else {
        format!("rgb({rest:.0},{rest:.0},245)")
    }
}

/// Returns as much of a name as fits into a frame.
fn label(name: &str, width: f64) -> String {
    let letters = name.chars().take(1000).count();
    if (letters as f64) * LETTER + 6.0 <= width {
        return name.to_owned();
    }
    // Show at least two letters and the ellipsis.
    let space = (1..letters)
        .rev()
        .find(|count| (*count as f64) * LETTER + 6.0 <= width);
    match space {
        Some(space) if space > 2 => {
            let head: String = name.chars().take(space.saturating_sub(1)).collect();
            head + "…"
        }
        _ => String::new(),
    }
}

/// The lines of a frame's tooltip below its name: the frame's times.
struct Tip<'t> {
    node: &'t Node,
    is_minimum: bool,
    all_ns: u64,
    before: Option<&'t (u64, u64)>,
}

impl fmt::Display for Tip<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Node {
            calls,
            self_ns,
            total_ns,
            ..
        } = *self.node;
        let percent = total_ns as f64 * 100.0 / self.all_ns.max(1) as f64;
        let (self_time, total) = (Time(self_ns), Time(total_ns));
        let least = if self.is_minimum { "≥" } else { "" };
        write!(
            f,
            "\ntotal {least}{total} ({percent:.2} %), self {self_time}"
        )?;
        if calls > 0 {
            write!(f, ", calls {calls}")?;
        }
        if let Some((before_self, before_total)) = self.before {
            let (own, all) = (Time(*before_self), Time(*before_total));
            write!(f, "\nbefore: total {all}, self {own}")?;
        }
        Ok(())
    }
}

/// A time in a suitable unit.
struct Time(u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        match self.0 {
            0..1_000 => write!(f, "{ns} ns"),
            1_000..1_000_000 => write!(f, "{:.3} µs", ns / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{:.3} ms", ns / 1e6),
            _ => write!(f, "{:.3} s", ns / 1e9),
        }
    }
}

/// Text escaped for XML. Characters that XML 1.0 does not allow are replaced.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\n' | '\t' => f.write_char(letter)?,
                '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                letter if letter.is_control() => f.write_char('\u{fffd}')?,
                letter => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}
