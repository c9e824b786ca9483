//! Folded stacks and CSV, compared with text written by hand.

use atf::trace::Process;
use atf_analyze::Options;
use atf_export::{Form, export};

use crate::{CALL, RETURN, session, text, write_session};

#[test]
fn folded_stacks_have_the_self_time_of_all_threads() {
    let (_folder, session) = session();
    // Self times of main: in thread 0, 1000 ns minus 250 and 100 ns, plus 350 ns minus a recursive
    // call of 50 ns; in thread 7, 500 ns. `[u8; 4]` has 250 and 50 ns.
    let expected = "main 1450\n\
                    main;[u8: 4]::<\"x\">, \\ &    300\n\
                    main;[u8: 4]::<\"x\">, \\ &   ;0x100000003 50\n\
                    main;main 50\n\
                    (1 call open at the end) 0\n\
                    (1 return without a call) 0\n\
                    (the tracer lost 5 events, from 1800 to 1900 ns) 0\n";
    let folded = text(&session, &Options::default(), Form::Folded);
    assert_eq!(folded, expected);
}

#[test]
fn csv_has_each_call_with_its_times_and_its_end() {
    let (_folder, session) = session();
    let expected = "process,thread,function_id,function,start_ns,duration_ns,self_ns,depth,end,at_least_ns,note
42,0,0x0000000000000002,\"[u8; 4]::<\"\"x\"\">, \\ & \u{1}\n\",1100,250,250,1,exception,,
42,0,0x0000000100000003,0x100000003,1450,50,50,1,not_returned,,
42,0,0x0000000000000002,\"[u8; 4]::<\"\"x\"\">, \\ & \u{1}\n\",1400,100,50,1,return,,
42,0,0x0000000000000001,main,1000,1000,650,1,return,,
42,0,0x0000000000000002,\"[u8; 4]::<\"\"x\"\">, \\ & \u{1}\n\",2345,0,0,1,return,,
42,0,0x0000000000000001,main,2400,50,50,1,return,,
42,0,0x0000000000000001,main,2100,,300,1,open,,
42,0,,,,,,,,,1 call open at the end
42,0,,,,,,,,,1 return without a call
42,7,0x0000000000000001,main,1200,500,500,1,return,,
42,7,,,,,,,,,\"the tracer lost 5 events, from 1800 to 1900 ns\"
";
    assert_eq!(text(&session, &Options::default(), Form::Csv), expected);
}

#[test]
fn calls_are_clipped_to_the_time_range_and_those_outside_are_left_out() {
    let events = &[
        (10, 1, CALL),
        (15, 2, CALL),
        (18, 2, RETURN),
        (20, 2, CALL),
        (40, 2, RETURN),
        (60, 2, CALL),
        (90, 2, RETURN),
        (95, 2, CALL),
        (96, 2, RETURN),
        (99, 1, RETURN),
    ];
    let (_folder, session) = write_session(&[(0, events)]);
    let options = Options {
        from_ns: 30,
        to_ns: 80,
        ..Options::default()
    };
    let rows = text(&session, &options, Form::Csv);
    // The odd name spans two lines.
    let ends = rows.lines().filter(|row| row.ends_with(",return,,"));
    let ends = ends.map(|row| row.rsplitn(8, ',').skip(2).take(5).collect::<Vec<_>>());
    // main was open at the start; its self time lasts from 40 to 60.
    assert_eq!(
        ends.collect::<Vec<_>>(),
        [
            ["return", "1", "10", "10", "30"],
            ["return", "1", "20", "20", "60"],
            ["return", "1", "20", "50", "30"],
        ]
    );
}

#[test]
fn stacks_of_several_processes_begin_with_the_process() {
    let (_first, first) = write_session(&[(0, &[(1, 1, CALL), (4, 1, RETURN)])]);
    let (_second, second) = write_session(&[(0, &[(2, 1, CALL), (9, 1, RETURN)])]);
    let processes = [&first, &second].map(Process::from);
    let mut out = Vec::new();
    export(&processes, &Options::default(), Form::Folded, &mut out).unwrap();
    // The two processes have the same id, which can happen if they ran on different machines.
    let expected = "pid_42 (pid 1);main 3\npid_42 (pid 2);main 7\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn deep_recursion_is_truncated_and_marked_as_truncated() {
    let calls = (0..3_000).map(|time| (time, 1, CALL));
    let returns = (3_000..6_000).map(|time| (time, 1, RETURN));
    let events: Vec<_> = calls.chain(returns).collect();
    let (_folder, session) = write_session(&[(0, &events)]);
    let mut out = Vec::new();
    let processes = [(&session).into()];
    let summary = export(&processes, &Options::default(), Form::Folded, &mut out).unwrap();
    assert!(summary.is_cut);
    let folded = String::from_utf8(out).unwrap();
    let numbers = folded.lines().map(|line| line.rsplit_once(' ').unwrap().1);
    let sum: u64 = numbers.map(|number| number.parse::<u64>().unwrap()).sum();
    assert_eq!((folded.lines().count(), sum), (1025, 5_999));
    let last = folded.lines().last().unwrap();
    assert!(last.contains(";(further calls) "), "{last}");
}
