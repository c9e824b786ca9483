//! Tests how calls are paired with returns.

use std::collections::BTreeMap;

use atf::index::IndexEvent;
use atf::spans::{CallStack, Depth, Paired, Span, SpanEnd, Spans};
use atf::wire::CallEffect;
use atf::{Error, ErrorKind, EventKind};
use proptest::collection::vec;
use proptest::prelude::*;

const CALL: u32 = 1;
const RETURN: u32 = 2;

/// Creates events with these kinds and functions, at times 10, 20, 30 and so on.
fn events(events: &[(u32, u64)]) -> impl Iterator<Item = atf::Result<IndexEvent>> {
    events.iter().zip(1..).map(|((kind, function_id), place)| {
        Ok(IndexEvent::new(10 * place, *function_id, EventKind(*kind)).thread_id(1))
    })
}

/// For a span: the function, the start, the end, and how the span ended, with its depth. For an
/// unmatched return: the function, its position twice, and `None`.
type Short = (u64, u64, Option<u64>, Option<(SpanEnd, u32)>);

fn short(paired: Paired) -> Short {
    match paired {
        Paired::Span(span) => {
            assert_eq!(span.start_ns, 10 * (span.start_seq + 1));
            assert_eq!(span.end_ns, span.end_seq.map(|seq| 10 * (seq + 1)));
            assert!(span.depth.is_derived());
            (
                span.function_id,
                span.start_seq,
                span.end_seq,
                Some((span.end, span.depth.get())),
            )
        }
        Paired::Unmatched(it) => {
            assert_eq!(it.timestamp_ns, 10 * (it.seq + 1));
            (it.function_id, it.seq, Some(it.seq), None)
        }
    }
}

fn pair(of: &[(u32, u64)]) -> Vec<Short> {
    Spans::new(events(of))
        .map(|paired| short(paired.unwrap()))
        .collect()
}

/// Pairs the events by searching the whole stack for each return.
fn model(events: &[(u32, u64)]) -> (Vec<Short>, Vec<u32>) {
    let mut stack: Vec<(u64, u64)> = Vec::new();
    let (mut spans, mut depths) = (Vec::new(), Vec::new());
    let depth = |stack: &Vec<_>| u32::try_from(stack.len()).unwrap();
    for ((kind, function), seq) in events.iter().zip(0..) {
        let how = match EventKind(*kind).effect() {
            CallEffect::Opens => {
                stack.push((*function, seq));
                depths.push(depth(&stack));
                continue;
            }
            CallEffect::Returns => SpanEnd::Return,
            CallEffect::Throws => SpanEnd::Exception,
            CallEffect::None => {
                depths.push(depth(&stack));
                continue;
            }
        };
        let Some(place) = stack.iter().rposition(|(open, _)| open == function) else {
            spans.push((*function, seq, Some(seq), None));
            depths.push(depth(&stack) + 1);
            continue;
        };
        while stack.len() > place {
            let deep = depth(&stack);
            let (open, start) = stack.pop().unwrap();
            let end = if stack.len() == place {
                how
            } else {
                SpanEnd::NotReturned
            };
            spans.push((open, start, Some(seq), Some((end, deep))));
        }
        depths.push(depth(&stack) + 1);
    }
    while let Some((open, start)) = stack.pop() {
        spans.push((open, start, None, Some((SpanEnd::Open, depth(&stack) + 1))));
    }
    (spans, depths)
}

/// Returns the depth of each event.
fn depths_of(events: impl Iterator<Item = atf::Result<atf::index::IndexEvent>>) -> Vec<Depth> {
    let mut stack = CallStack::new();
    let depth = |(seq, event): (u64, atf::Result<_>)| stack.push(seq, &event.unwrap(), |_| ());
    (0..).zip(events).map(depth).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spans_and_depths_match_a_simple_stack(
        of in vec((prop_oneof![4 => Just(CALL), 3 => Just(RETURN), 1 => 0..6_u32], 0..6_u64), 0..60),
    ) {
        let (spans, depths) = model(&of);
        prop_assert_eq!(pair(&of), spans);
        let expected = depths.into_iter().map(Depth::Derived);
        prop_assert_eq!(depths_of(events(&of)), expected.collect::<Vec<_>>());
    }
}

#[test]
fn the_part_of_a_span_in_a_range_is_counted_once() {
    // Function 1 lasts from 10 to 60 and calls function 2, which lasts from 20 to 40. Function 3
    // starts at 70.
    let of = [
        (CALL, 1),
        (CALL, 2),
        (0, 9),
        (RETURN, 2),
        (0, 9),
        (RETURN, 1),
        (CALL, 3),
    ];
    let spans: Vec<Span> = Spans::new(events(&of))
        .map(|paired| match paired.unwrap() {
            Paired::Span(span) => span,
            Paired::Unmatched(_) => panic!("each return has its call"),
        })
        .collect();
    let within = |range| [0, 1, 2].map(|place: usize| spans[place].ns_within(&range));
    // The calls are in the order of their ends: 2, 1, 3.
    assert_eq!(within(0..1000), [20, 50, 930]);
    assert_eq!(within(30..50), [10, 20, 0]);
    assert_eq!(within(40..75), [0, 20, 5]);
    assert_eq!(within(60..70), [0, 0, 0]);
    assert_eq!(within(25..25), [0, 0, 0]);
}

#[test]
fn a_span_without_an_end_or_with_an_earlier_end_has_no_duration() {
    let span = |start_ns, end_ns| {
        let Some(Ok(Paired::Span(mut span))) = Spans::new(events(&[(CALL, 1), (RETURN, 1)])).next()
        else {
            panic!("no span");
        };
        (span.start_ns, span.end_ns) = (start_ns, end_ns);
        span.duration_ns()
    };
    assert_eq!(span(10, Some(25)), Some(15));
    assert_eq!(span(10, Some(10)), Some(0));
    assert_eq!(span(10, Some(9)), None);
    assert_eq!(span(10, None), None);
}

#[test]
fn a_depth_is_displayed_as_its_number_and_marked_as_recorded_or_derived() {
    let (recorded, derived) = (Depth::Recorded(40), Depth::Derived(7));
    assert_eq!(recorded.to_string(), "40");
    assert_eq!(format!("{derived:>3}"), "  7");
    assert!(!recorded.is_derived() && derived.is_derived());
}

#[test]
fn a_recorded_depth_is_kept_and_marked_as_recorded() {
    let event = |kind, depth| {
        let mut event = events(&[(kind, 1)]).next().unwrap().unwrap();
        event.call_depth = Some(depth);
        Ok(event)
    };
    let of = || [event(CALL, 40), event(RETURN, 41)].into_iter();
    let spans: Vec<_> = Spans::new(of()).collect::<Result<_, _>>().unwrap();
    let depth = Depth::Recorded(40);
    assert!(matches!(spans[..], [Paired::Span(Span { depth: d, .. })] if d == depth));
    assert_eq!(depths_of(of()), [depth, Depth::Recorded(41)]);
}

#[test]
fn an_error_from_the_events_is_passed_on_and_nothing_is_lost() {
    let error = atf::index::IndexReader::from_bytes([]).unwrap_err();
    let mut of: Vec<_> = events(&[(CALL, 1), (RETURN, 1)]).collect();
    of.insert(1, Err::<_, Error>(error));
    let mut spans = Spans::new(of.into_iter());
    let kind = ErrorKind::NothingWritten;
    assert_eq!(spans.next().unwrap().unwrap_err().kind(), &kind);
    assert!(matches!(spans.next(), Some(Ok(Paired::Span(_)))));
    assert!(spans.next().is_none());
}

#[test]
fn open_calls_are_limited() {
    let calls: Vec<_> = (0..5).map(|function| (CALL, function)).collect();
    let of = [calls, vec![(RETURN, 4), (RETURN, 0)]].concat();
    let found: Vec<_> = Spans::new(events(&of))
        .with_limit(2)
        .map(|p| short(p.unwrap()))
        .collect();
    let expected = [
        (0, 0, None, Some((SpanEnd::GivenUp, 1))),
        (1, 1, None, Some((SpanEnd::GivenUp, 2))),
        (2, 2, None, Some((SpanEnd::GivenUp, 3))),
        (4, 4, Some(5), Some((SpanEnd::Return, 5))),
        (0, 6, Some(6), None),
        (3, 3, None, Some((SpanEnd::Open, 4))),
    ];
    assert_eq!(found, expected);
}

#[test]
fn unmatched_returns_require_no_search() {
    // Searching 100,000 open calls for each of 100,000 returns would take minutes.
    let calls = (0..100_000).map(|function| (CALL, function));
    let returns = (0..100_000).map(|_| (RETURN, u64::MAX));
    let of: Vec<_> = calls.chain(returns).collect();
    let mut counts = BTreeMap::new();
    for paired in pair(&of) {
        *counts.entry(paired.3.is_some()).or_insert(0) += 1;
    }
    assert_eq!(counts, BTreeMap::from([(false, 100_000), (true, 100_000)]));
}

#[test]
fn a_stack_counts_its_open_calls() {
    let mut stack = CallStack::with_limit(1);
    for (event, seq) in events(&[(CALL, 1), (CALL, 2), (CALL, 3)]).zip(0..) {
        stack.push(seq, &event.unwrap(), |_| ());
    }
    assert_eq!(stack.depth(), 3);
    stack.finish(|_| ());
    assert_eq!(stack.depth(), 0);
}
