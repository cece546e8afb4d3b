//! Times and numbers at the ends of what 64 bits hold, as damaged recordings have them: nothing overflows.

use rostrace_analyze::{Analysis, Selection};
use rostrace_ctf::schema::Nanos;
use rostrace_report::page::{Options, Page};
use rostrace_report::timeline::Format;

use crate::trace_support::Recording;

/// Clocks of recordings begin in 2023; this is as far after that as nanoseconds since 1970 reach.
const LATEST: u64 = 7_523_372_036_854_775_807;

fn written(recording: &Recording) {
    let model = recording.load();
    let windows = [
        Nanos(i64::MIN)..=Nanos(i64::MAX),
        Nanos(i64::MAX)..=Nanos(i64::MIN),
        Nanos(i64::MIN)..=Nanos(i64::MIN),
        Nanos(i64::MAX)..=Nanos(i64::MAX),
    ];
    for window in windows {
        let analysis = Analysis::new(&model, window);
        let options = Options::default();
        let mut page = Vec::new();
        Page::new(&analysis, &options)
            .unwrap()
            .write(&mut page)
            .unwrap();
        assert!(page.ends_with(b"</html>\n"));
        for format in [Format::Perfetto, Format::Chrome] {
            let selection = Selection::default();
            format
                .write(&analysis, &selection, &[], &mut Vec::new())
                .unwrap();
        }
    }
}

/// A timer that publishes what a subscription passes on, at these times.
fn chain(times: &[u64], period: i64, stamps: &[i64]) -> Recording {
    let mut recording = Recording::jazzy();
    recording.process(1, "app").context(0x1).node(0x10, "/a");
    recording.publisher(0x20, 0x10, "/topic");
    recording.publisher(0x24, 0x10, "/next");
    recording.timer(0x60, 0x10, period, 0x61);
    recording.subscription(0x30, 0x10, "/topic", 0x40);
    recording.subscription(0x38, 0x10, "/next", 0x48);
    for (round, at) in times.iter().enumerate() {
        let stamp = stamps[round % stamps.len()];
        recording.at(*at);
        recording.start(0x61).publish(0x20, 0x7, stamp).end(0x61);
        recording.rmw_take(0x30, 0x9, stamp).start(0x40);
        recording
            .publish(0x24, 0x8, stamp.wrapping_add(1))
            .end(0x40);
        recording.receive(0x38, stamp.wrapping_add(1), 0x48);
    }
    recording
}

#[test]
fn executions_at_both_ends_of_time_are_written() {
    for period in [0, -1, 1, i64::MIN, i64::MAX] {
        let times = [0, 1, 2, LATEST / 2, LATEST - 1, LATEST];
        written(&chain(&times, period, &[i64::MIN, i64::MAX, 0, -1]));
    }
}

#[test]
fn an_execution_of_290_years_is_written() {
    let mut recording = chain(&[10, 20, 30], 1, &[5, 6, 7]);
    recording.at(40).start(0x61).publish(0x20, 0x7, 8);
    recording.at(LATEST).end(0x61);
    recording.rmw_take(0x30, 0x9, 8).run(0x40);
    written(&recording);
}

#[test]
fn a_recording_of_one_instant_or_of_nothing_is_written() {
    written(&chain(&[7, 7, 7], 0, &[1]));
    written(&chain(&[], 0, &[1]));
    let mut one = Recording::jazzy();
    written(one.process(1, "app").start(0x1));
}
