//! Shares of stretches of time, as the page of a process draws them.

use crate::recordings::everything;
use crate::trace_support::Recording;
use rostrace_testkit::opened_page::OpenedPage;

/// Ten times a second 2 ms of work, and 20 µs in the last 20 µs, which are less than a stretch of what is drawn.
#[test]
fn what_is_left_over_at_the_end_is_no_peak() {
    const MILLISECOND: u64 = 1_000_000;
    let mut recording = Recording::jazzy();
    recording.process(100, "works").context(0x1);
    recording.node(0x10, "/worker");
    recording.timer(0x60, 0x10, 10 * MILLISECOND as i64, 0x61);
    let begin = recording.now();
    for round in 0..10 {
        let start = begin + round * 10 * MILLISECOND;
        recording.at(start).start(0x61);
        recording.at(start + 2 * MILLISECOND).end(0x61);
    }
    recording.at(begin + 100 * MILLISECOND).start(0x61);
    recording.at(begin + 100 * MILLISECOND + 20_000).end(0x61);
    let model = recording.load();
    let analysis = everything(&model);
    let page = OpenedPage::of(&analysis);
    let part = page.part("processes");
    let shares = part.column(&part.rows("processes")[0]["chart"]);
    assert!(shares.len() >= 100, "{shares:?}");
    let last = *shares.last().unwrap();
    assert!(last > 0 && last < 100_000, "{last} millionths");
    let threads = part.column(&part.rows("threads")[0]["over_time"]["callbacks"]);
    assert_eq!(threads.len(), shares.len());
    assert_eq!(*threads.last().unwrap(), last);
}
