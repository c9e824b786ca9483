//! Flame graphs, parsed as XML.

use atf::session::SessionReader;
use atf_analyze::Options;
use atf_export::flame;
use roxmltree::Document;

use crate::{CALL, RETURN, lacking, session, write_session};

/// Returns a picture's frames: the title's first line, the rest of the title, `x`, `y`, width and
/// colour.
fn frames(svg: &str) -> Vec<(String, String, [f64; 3], String)> {
    let document = Document::parse(svg).unwrap();
    let groups = document.descendants();
    let groups = groups.filter(|node| node.attribute("class") == Some("f"));
    let frame = |group: roxmltree::Node<'_, '_>| {
        let mut parts = group.children();
        let title = parts.next().unwrap().text().unwrap().to_owned();
        let (name, times) = title.split_once("\ntotal ").unwrap();
        let rect = parts.next().unwrap();
        let number = |name| rect.attribute(name).unwrap().parse().unwrap();
        let place = ["x", "y", "width"].map(number);
        let fill = rect.attribute("fill").unwrap().to_owned();
        (name.to_owned(), times.to_owned(), place, fill)
    };
    groups.map(frame).collect()
}

fn drawn(session: &SessionReader) -> String {
    let mut out = Vec::new();
    let processes = [session.into()];
    flame::write(&processes, &Options::default(), "a <title>", &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn difference(before: &SessionReader, after: &SessionReader) -> String {
    let mut out = Vec::new();
    let (before, after) = ([before.into()], [after.into()]);
    let options = Options::default();
    flame::write_difference((&before, &options), (&after, &options), "", &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn frames_are_as_wide_as_their_time_and_above_their_callers() {
    let (_folder, session) = session();
    let svg = drawn(&session);
    assert!(svg.contains(">a &lt;title&gt;</text>"));
    let mut frames = frames(&svg);
    frames.sort_by(|one, other| {
        let ([x, y, _], [other_x, other_y, _]) = (one.2, other.2);
        other_y.total_cmp(&y).then(x.total_cmp(&other_x))
    });
    // The graph is 1180 pixels wide, for 1850 ns: main takes all of them, the function with the odd
    // name 350 ns, and the recursive call of main 50 ns.
    let wide = |ns: f64| (ns * 1180.0 / 1850.0 * 100.0).round() / 100.0;
    let shown: Vec<_> = frames
        .iter()
        .map(|frame| (frame.0.as_str(), frame.2[2]))
        .collect();
    // XML forbids the character U+0001.
    let odd = "[u8; 4]::<\"x\">, \\ & \u{fffd}\n";
    let expected = [
        ("all", 1180.0),
        ("main", wide(1850.0)),
        (odd, wide(350.0)),
        ("main", wide(50.0)),
        ("0x100000003", wide(50.0)),
    ];
    assert_eq!(shown, expected);
    let rows: Vec<_> = frames
        .windows(2)
        .map(|pair| pair[0].2[1] - pair[1].2[1])
        .collect();
    assert_eq!(rows, [16.0, 16.0, 0.0, 16.0]);
    assert_eq!(frames[2].1, "350 ns (18.92 %), self 300 ns, calls 3");
    // Children begin where their parent begins.
    assert_eq!(frames[2].2[0], frames[1].2[0]);
}

#[test]
fn changes_in_self_time_are_coloured() {
    let slow = &[
        (0, 1, CALL),
        (10, 2, CALL),
        (90, 2, RETURN),
        (100, 1, RETURN),
    ];
    let fast = &[
        (0, 1, CALL),
        (10, 2, CALL),
        (20, 2, RETURN),
        (60, 1, RETURN),
    ];
    let (_first, before) = write_session(&[(0, slow)]);
    let (_second, after) = write_session(&[(0, fast)]);
    let frames = frames(&difference(&before, &after));
    // main changes from 20 to 50 ns, and the function with the odd name from 80 to 10 ns, which is
    // the largest change.
    assert_eq!(
        frames[1].1,
        "60 ns (100.00 %), self 50 ns, calls 1\nbefore: total 100 ns, self 20 ns"
    );
    assert!(frames[1].3.starts_with("rgb(245,"), "{}", frames[1].3);
    assert_eq!(frames[2].3, "rgb(60,60,245)");
}

#[test]
fn lines_above_the_frames_report_missing_data() {
    let (folder, session) = session();
    let lacking = lacking(&folder);
    let svg = drawn(&lacking);
    let expected = [
        "1 call open at the end",
        "1 return without a call",
        "the tracer lost 8 events, from 1700 to 1950 ns",
        "the tracer is still running or was killed: up to 64 events of each thread are missing",
    ];
    assert_eq!(notes(&svg), expected.map(str::to_owned));
    // The frames begin below the notes.
    let top = |svg: &str| {
        let tops = frames(svg).into_iter().map(|frame| frame.2[1]);
        tops.fold(f64::INFINITY, f64::min)
    };
    assert_eq!(top(&svg), 52.0 + 4.0 * 16.0);
    // A differential flame graph states which of the two traces is missing the data.
    let notes = notes(&difference(&lacking, &session));
    assert_eq!(notes[2], format!("before: {}", expected[2]));
    assert_eq!(notes[6], "the tracer lost 5 events, from 1800 to 1900 ns");
    assert_eq!(notes.len(), 7);
}

#[test]
fn lines_above_the_frames_report_combined_stacks() {
    let calls = (0..2_000).map(|time| (time, 1, CALL));
    let returns = (2_000..4_000).map(|time| (time, 1, RETURN));
    let events: Vec<_> = calls.chain(returns).collect();
    let (_deep, deep) = write_session(&[(0, &events)]);
    let expected = "some calls are combined as (further calls): too many or too deep stacks";
    assert_eq!(notes(&drawn(&deep)), [expected]);
    let (_shallow, shallow) = write_session(&[(0, &[(1, 1, CALL), (4, 1, RETURN)])]);
    let notes = notes(&difference(&deep, &shallow));
    assert_eq!(notes, [format!("before: {expected}")]);
}

/// Returns the lines about missing data.
fn notes(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let texts = document.descendants();
    let texts = texts.filter(|node| node.attribute("fill") == Some("#b00000"));
    let title =
        |text: roxmltree::Node<'_, '_>| text.first_element_child()?.text().map(str::to_owned);
    texts.filter_map(title).collect()
}
