//! Tests that the numbers do not depend on how events are split into segments.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use atf::merge::Merge;
use atf::spans::{CallStack, SpanEnd, Unmatched};
use atf::trace::Process;
use atf::{Error, ErrorKind};
use atf_analyze::{
    CallEnd, CallStart, CallVisitor, Options, Problem, ThreadFolder, ThreadStart, ThreadTotals,
};
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::model::Expected;
use crate::numbers::{check_all, check_functions, ordered, ranges, well_formed};
use crate::{CALL, RETURN, Short, file, session, write_index};

/// A thread's events, and the ends of its segments in thousandths of these events.
pub(crate) type Split = (Vec<Short>, Vec<usize>);

/// Returns the name of a segment's folder.
fn name(segment: usize) -> String {
    match segment {
        1 => "pid_42".to_owned(),
        _ => format!("pid_42_segment_{segment:06}"),
    }
}

/// Splits a thread's events into segments.
fn parts((events, ends): &Split) -> Vec<&[Short]> {
    let mut ends: Vec<_> = ends.iter().map(|end| end * events.len() / 1000).collect();
    ends.sort_unstable();
    let starts = [0].into_iter().chain(ends.iter().copied());
    let ends = ends.iter().copied().chain([events.len()]);
    starts
        .zip(ends)
        .map(|(start, end)| &events[start..end])
        .collect()
}

/// Writes segments next to each other. A thread has no folder in the segments before its first
/// event and after its last one.
pub(crate) fn write(folder: &Path, threads: &[Split]) {
    for (id, thread) in (0..).zip(threads) {
        let parts = parts(thread);
        for (segment, events) in (1..).zip(&parts) {
            let path = folder.join(name(segment));
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("manifest.json"), r#"{"threads": []}"#).unwrap();
            let is_empty = |parts: &[&[Short]]| parts.iter().all(|events| events.is_empty());
            if is_empty(&parts[..segment]) || is_empty(&parts[segment - 1..]) {
                continue;
            }
            write_index(&path, id, &file(id, events).bytes());
        }
    }
}

pub(crate) fn open(folder: &Path) -> Process {
    let paths = fs::read_dir(folder).unwrap();
    let mut groups = Process::group(paths.map(|path| path.unwrap().path()).collect());
    assert_eq!(groups.len(), 1);
    Process::open(groups.remove(0)).unwrap()
}

fn kinds(problems: &[Problem]) -> Vec<ErrorKind> {
    let kinds = problems.iter().map(|problem| problem.error.kind().clone());
    kinds.collect()
}

fn split(
    events: impl Strategy<Value = Vec<Short>>,
    segments: usize,
) -> impl Strategy<Value = Split> {
    (events, vec(0..=1000_usize, segments - 1))
}

pub(crate) fn splits(segments: usize) -> impl Strategy<Value = Vec<Split>> {
    vec(split(prop_oneof![ordered(), well_formed()], segments), 1..4)
}

pub(crate) fn events(threads: &[Split]) -> Vec<Vec<Short>> {
    threads.iter().map(|(events, _)| events.clone()).collect()
}

/// A visitor that keeps the calls and the problems.
#[derive(Default)]
pub(crate) struct Visited {
    thread: u32,
    /// The calls that ended, each with its thread, function, start, end and self time.
    calls: Vec<(u32, u64, [u64; 3], SpanEnd)>,
    unmatched: Vec<(u32, u64)>,
    /// The last folder seen.
    folder: PathBuf,
    /// The folder in which each call began.
    starts: Vec<(u64, PathBuf)>,
    /// The size to which index files are truncated once they are open.
    cut: Option<u64>,
    /// The problems reported at the ends of threads.
    pub(crate) problems: Vec<ErrorKind>,
}

impl CallVisitor for Visited {
    type Error = Error;

    fn thread_start(&mut self, thread: &ThreadStart<'_>) -> atf::Result<()> {
        self.thread = thread.id();
        Ok(())
    }

    fn folder(&mut self, folder: &ThreadFolder<'_>) -> atf::Result<()> {
        self.folder = folder.path().map(Path::to_path_buf).unwrap_or_default();
        if let Some(size) = self.cut.take() {
            let index = self.folder.join("index.atf");
            let index = File::options().write(true).open(index).unwrap();
            index.set_len(size).unwrap();
        }
        Ok(())
    }

    fn call_start(&mut self, call: &CallStart) -> atf::Result<()> {
        let start = (call.event.function_id, self.folder.clone());
        self.starts.push(start);
        Ok(())
    }

    fn call_end(&mut self, call: &CallEnd) -> atf::Result<()> {
        let times = [call.start_ns, call.end_ns, call.self_ns];
        let ended = (self.thread, call.function_id, times, call.end);
        self.calls.push(ended);
        Ok(())
    }

    fn unmatched(&mut self, unmatched: &Unmatched, _: u64) -> atf::Result<()> {
        self.unmatched.push((self.thread, unmatched.seq));
        Ok(())
    }

    fn thread_end(&mut self, _: Option<&ThreadTotals>, problems: &[Problem]) -> atf::Result<()> {
        self.problems.extend(kinds(problems));
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn segments_have_the_numbers_of_one_trace(
        threads in (1..5_usize).prop_flat_map(splits),
        range in ranges(),
    ) {
        let folder = TempDir::new().unwrap();
        write(folder.path(), &threads);
        let segments = open(folder.path());
        let whole = events(&threads);
        let (from_ns, to_ns) = (*range.start(), *range.end());
        let options = Options { from_ns, to_ns, ..Options::default() };
        check_all(&segments, &options, &Expected::new(&whole, &range));

        let (_folder, session) = session(&whole);
        let [mut split, mut one] = [Visited::default(), Visited::default()];
        atf_analyze::calls(&segments, &options, &mut split).unwrap();
        atf_analyze::calls(&session, &options, &mut one).unwrap();
        prop_assert_eq!(split.calls, one.calls);
        prop_assert_eq!(split.unmatched, one.unmatched);
    }

    #[test]
    fn the_end_of_segments_is_that_of_one_trace(
        threads in (1..5_usize).prop_flat_map(splits),
        most in 0..9_usize,
    ) {
        let folder = TempDir::new().unwrap();
        write(folder.path(), &threads);
        let segments = open(folder.path());
        let last = atf_analyze::last(&segments, &Options::default(), usize::MAX, most);
        let whole = events(&threads);
        let expected = Expected::new(&whole, &(0..=u64::MAX));
        for thread in &last.threads {
            let id = thread.thread as usize;
            let open: Vec<_> = thread.open.iter().map(|call| call.function_id).collect();
            prop_assert_eq!(&open, &expected.open[id]);
            prop_assert_eq!(thread.event_count, whole[id].len() as u64);
            let first = whole[id].len().saturating_sub(most);
            let seqs: Vec<_> = thread.events.iter().map(|(seq, _)| *seq).collect();
            prop_assert_eq!(seqs, (first as u64..whole[id].len() as u64).collect::<Vec<_>>());
            let times = thread.events.iter().map(|(_, event)| event.timestamp_ns);
            let expected = whole[id][first..].iter().map(|event| event.0);
            prop_assert_eq!(times.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_missing_segment_is_stated_and_breaks_calls(
        threads in vec(split(well_formed(), 4), 1..4),
        missing in 2..4_usize,
    ) {
        let folder = TempDir::new().unwrap();
        write(folder.path(), &threads);
        fs::remove_dir_all(folder.path().join(name(missing))).unwrap();
        let segments = open(folder.path());
        let functions = atf_analyze::functions(&segments, &Options::default());
        let number = u32::try_from(missing).unwrap();
        let gap = ErrorKind::SegmentsMissing { first: number, last: number };
        prop_assert_eq!(kinds(&functions.problems), [gap]);
        // The events before the gap and those after it act like two threads.
        let pieces = threads.iter().flat_map(|thread| {
            let parts = parts(thread);
            [parts[..missing - 1].concat(), parts[missing..].concat()]
        });
        let expected = Expected::new(&pieces.collect::<Vec<_>>(), &(0..=u64::MAX));
        check_functions(&functions, &expected);
    }

    #[test]
    fn merged_segments_are_in_the_order_of_one_trace(
        threads in vec(split(well_formed(), 3), 1..4),
    ) {
        let folder = TempDir::new().unwrap();
        write(folder.path(), &threads);
        let segments = open(folder.path());
        let merged = Merge::of_processes([&segments]);
        let found = merged.events().filter_map(Result::ok);
        let found: Vec<_> = found.map(|it| (it.event.timestamp_ns, it.thread, it.event.function_id)).collect();
        let mut expected: Vec<_> = (0..)
            .zip(&threads)
            .flat_map(|(id, (events, _))| events.iter().map(move |event| (event.0, id, event.2)))
            .collect();
        expected.sort_by_key(|event| (event.0, event.1));
        prop_assert_eq!(found, expected);
    }
}

/// Writes a call to function 7 from 100 to 900 across three segments, each with a call to function
/// 8. Returns their folder.
fn three() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut events = vec![(100, CALL, 7)];
    for start in [200, 400, 600] {
        events.extend([(start, CALL, 8), (start + 50, RETURN, 8)]);
    }
    events.push((900, RETURN, 7));
    write(folder.path(), &[(events, vec![3 * 125 + 1, 5 * 125 + 1])]);
    folder
}

#[test]
fn calls_end_at_a_segment_in_which_the_thread_is_unreadable() {
    for is_there in [true, false] {
        let folder = three();
        let thread = folder.path().join(name(2)).join("thread_0");
        fs::remove_file(thread.join("index.atf")).unwrap();
        if !is_there {
            fs::remove_dir(&thread).unwrap();
        }
        let segments = open(folder.path());
        let functions = atf_analyze::functions(&segments, &Options::default());
        assert_eq!(kinds(&functions.problems).len(), usize::from(is_there));
        let outer = functions.functions.iter().find(|it| it.function_id == 7);
        let outer = outer.unwrap();
        let times = &outer.times;
        assert_eq!((times.calls, times.open, outer.unmatched), (1, 1, 1));
        // The call lasts until the last event before the gap.
        assert_eq!(times.total_ns, 150);
        let totals = functions.totals();
        assert_eq!((totals.events, totals.busy_ns), (6, 150 + 50));
    }
}

#[test]
fn an_unfinalized_segment_is_reported_and_ends_calls() {
    let folder = three();
    let index = folder.path().join(name(1)).join("thread_0/index.atf");
    let bytes = file(0, &[(100, CALL, 7), (200, CALL, 8), (250, RETURN, 8)]).placeholder();
    fs::write(index, bytes.without_footer()).unwrap();
    let segments = open(folder.path());
    let functions = atf_analyze::functions(&segments, &Options::default());
    assert!(matches!(
        kinds(&functions.problems)[..],
        [ErrorKind::NotFinalized { .. }]
    ));
    let outer = functions.functions.iter().find(|it| it.function_id == 7);
    let outer = outer.unwrap();
    assert_eq!((outer.times.total_ns, outer.unmatched), (150, 1));
}

#[test]
fn calls_end_in_a_segment_that_is_readable_only_in_part() {
    let folder = TempDir::new().unwrap();
    let mut events = vec![(100, CALL, 7)];
    for start in (1..10_000).map(|number| 1000 * number) {
        events.extend([(start, CALL, 8), (start + 50, RETURN, 8)]);
    }
    events.push((20_000_000, RETURN, 7));
    write(folder.path(), &[(events, vec![999])]);
    let mut visited = Visited {
        cut: Some(15_000 * 32),
        ..Visited::default()
    };
    atf_analyze::calls(open(folder.path()), &Options::default(), &mut visited).unwrap();
    let outer = visited.calls.iter().find(|call| call.1 == 7).unwrap();
    assert_eq!(outer.3, SpanEnd::Interrupted);
    // The other unmatched return belongs to the last event of the first segment, which was not
    // read.
    assert_eq!(visited.unmatched.len(), 2);
}

#[test]
fn calls_that_are_open_at_the_start_of_a_range_come_with_their_folders() {
    let folder = three();
    let mut visited = Visited::default();
    let options = Options {
        from_ns: 610,
        ..Options::default()
    };
    atf_analyze::calls(open(folder.path()), &options, &mut visited).unwrap();
    let at = |segment| folder.path().join(name(segment)).join("thread_0");
    assert_eq!(visited.starts, [(7, at(1)), (8, at(3))]);
    assert_eq!(visited.folder, at(3));
}

#[test]
fn calls_that_were_given_up_before_a_gap_are_not_open_at_the_end() {
    const COUNT: u64 = 270_000;
    let folder = TempDir::new().unwrap();
    // There are more open calls than the analysis keeps.
    let events: Vec<Short> = (0..COUNT).map(|time| (time, CALL, 7)).collect();
    write(folder.path(), &[(events, vec![999, 999])]);
    fs::remove_dir_all(folder.path().join(name(2))).unwrap();
    let last = atf_analyze::last(open(folder.path()), &Options::default(), 9, 0);
    let in_first = 999 * COUNT / 1000;
    let thread = &last.threads[0];
    assert_eq!((thread.open_count, thread.given_up), (COUNT - in_first, 0));
    let given_up = in_first - CallStack::LIMIT as u64;
    let limit = CallStack::LIMIT as u64;
    let expected = ErrorKind::TooManyOpenCalls { given_up, limit };
    assert_eq!(kinds(&last.problems)[1..], [expected]);
}

#[test]
fn the_first_event_out_of_order_is_found_in_its_segment() {
    let folder = TempDir::new().unwrap();
    let times = [10, 20, 30, 40, 35, 50];
    let events: Vec<Short> = times.map(|time| (time, CALL, 7)).to_vec();
    write(folder.path(), &[(events, vec![500])]);
    let functions = atf_analyze::functions(open(folder.path()), &Options::default());
    let place = functions.totals().first_out_of_order.unwrap();
    // The second segment has the last three events.
    let index = folder.path().join(name(2)).join("thread_0/index.atf");
    let found = (place.thread, place.path, place.seq);
    assert_eq!(found, (0, Some(index), 1));
}

#[test]
fn segments_are_grouped_by_process_and_ordered_by_number() {
    let paths = [
        "a/pid_7_segment_000010",
        "a/pid_7_2",
        "a/pid_7",
        "a/pid_8",
        "b/pid_7_segment_000002",
        "a/pid_7_segment_000009",
        "a/pid_7_2_segment_000002",
        "a/other",
    ];
    let groups = Process::group(paths.map(Into::into).to_vec());
    let groups: Vec<Vec<&str>> = groups
        .iter()
        .map(|group| group.iter().map(|path| path.to_str().unwrap()).collect())
        .collect();
    let expected: [&[&str]; 5] = [
        &[
            "a/pid_7",
            "a/pid_7_segment_000009",
            "a/pid_7_segment_000010",
        ],
        &["a/pid_7_2", "a/pid_7_2_segment_000002"],
        &["a/pid_8"],
        &["b/pid_7_segment_000002"],
        &["a/other"],
    ];
    assert_eq!(groups, expected);
}

#[test]
fn deleted_first_segments_are_detected() {
    let folder = three();
    assert_eq!(open(folder.path()).deleted(), None);
    fs::remove_dir_all(folder.path().join(name(1))).unwrap();
    assert_eq!(open(folder.path()).deleted(), Some(1..=1));
    let functions = atf_analyze::functions(open(folder.path()), &Options::default());
    assert_eq!(kinds(&functions.problems), []);
}

#[test]
fn a_session_given_by_several_paths_is_read_once() {
    let folder = three();
    let first = folder.path().join(name(1));
    let again = first.join("thread_0/..");
    let segments = Process::open([&first, &again, &first]).unwrap();
    assert_eq!(segments.sessions().len(), 1);
}
