//! Waits for locks: from our own library, and from LTTng's, which tells of every call.

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::flow::{LockKind, LockWait};

use rostrace_testkit::made_up::Payload::*;
use rostrace_testkit::made_up::{Recording, time};

/// Our own library: a thread begins to wait, for a lock of this kind that this thread has.
fn begin(recording: &mut Recording, thread: i64, at: u64, kind: u64, lock: u64, owner: i64) {
    recording.thread(thread).at(at).event(
        "rostrace:lock_wait_begin",
        &[
            ("lock", Pointer(lock)),
            ("kind", Unsigned(kind)),
            ("owner", Signed(owner)),
            ("caller", Pointer(0xCA)),
        ],
    );
}

fn end(recording: &mut Recording, thread: i64, at: u64, lock: u64, status: i64) {
    recording.thread(thread).at(at).event(
        "rostrace:lock_wait_end",
        &[("lock", Pointer(lock)), ("status", Signed(status))],
    );
}

/// One of LTTng's events.
fn lttng(recording: &mut Recording, thread: i64, at: u64, event: &str, mutex: u64) {
    let mut fields = vec![("mutex", Pointer(mutex))];
    if event != "lock_req" {
        fields.push(("status", Signed(0)));
    }
    let name = format!("lttng_ust_pthread:pthread_mutex_{event}");
    recording.thread(thread).at(at).event(&name, &fields);
}

/// Thread, begin, end and holders of each wait.
type LockWaitRow = (i64, Nanos, Option<Nanos>, Vec<(Nanos, i64)>);

fn rows(model: &Model) -> Vec<LockWaitRow> {
    let row = |wait: &LockWait| {
        let holders = wait.holders.iter().map(|(since, holder)| {
            let thread = holder.thread.map(|id| model.threads[id.index()].tid);
            assert_eq!(thread.unwrap_or(holder.tid), holder.tid);
            (*since, holder.tid)
        });
        let tid = model.threads[wait.thread.index()].tid;
        (tid, wait.begin, wait.end, holders.collect())
    };
    model.lock_waits.iter().map(row).collect()
}

#[test]
fn who_gets_a_lock_that_others_wait_for_holds_it_next() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    begin(&mut recording, 101, 5_000_000, 0, 0x77, 100);
    begin(&mut recording, 102, 5_100_000, 0, 0x77, 100);
    // Another one, which has nothing to do with it.
    begin(&mut recording, 103, 5_200_000, 2, 0x78, 0);
    end(&mut recording, 101, 6_000_000, 0x77, 0);
    end(&mut recording, 103, 6_500_000, 0x78, 0);
    end(&mut recording, 102, 7_000_000, 0x77, 0);
    let model = recording.load();
    assert_eq!(
        rows(&model),
        [
            (
                101,
                time(5_000_000),
                Some(time(6_000_000)),
                vec![(time(5_000_000), 100)]
            ),
            (
                102,
                time(5_100_000),
                Some(time(7_000_000)),
                vec![(time(5_100_000), 100), (time(6_000_000), 101)]
            ),
            (103, time(5_200_000), Some(time(6_500_000)), vec![]),
        ]
    );
    let kinds: Vec<LockKind> = model.lock_waits.iter().map(|wait| wait.kind).collect();
    assert_eq!(kinds, [LockKind::Mutex, LockKind::Mutex, LockKind::Write]);
}

#[test]
fn a_wait_ends_with_its_limit_with_a_refusal_or_never() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    begin(&mut recording, 101, 5_000_000, 3, 0x77, 0);
    end(&mut recording, 101, 6_000_000, 0x77, 110);
    // An error-checking mutex that the thread has itself.
    begin(&mut recording, 101, 7_000_000, 0, 0x78, 101);
    end(&mut recording, 101, 7_001_000, 0x78, 35);
    // Left by a jump: the next wait is another one.
    begin(&mut recording, 102, 7_000_000, 0, 0x78, 100);
    begin(&mut recording, 102, 8_000_000, 0, 0x79, 100);
    let model = recording.load();
    assert_eq!(
        rows(&model),
        [
            (101, time(5_000_000), Some(time(6_000_000)), vec![]),
            (102, time(8_000_000), None, vec![(time(8_000_000), 100)]),
        ]
    );
    assert!(model.lock_waits[0].timed_out && !model.lock_waits[1].timed_out);
}

#[test]
fn lost_events_leave_no_wait() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    begin(&mut recording, 101, 5_000_000, 0, 0x77, 100);
    recording.lose(5_200_000, 5_400_000);
    end(&mut recording, 101, 6_000_000, 0x77, 0);
    assert_eq!(rows(&recording.load()), []);
}

/// Requests of mutexes that nobody has are no waits, however long they take.
#[test]
fn of_lttng_s_calls_those_are_waits_that_had_to_wait() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    for (thread, at, event) in [
        (101, 5_000_000, "lock_req"),
        (101, 5_500_000, "lock_acq"),
        // Recursive: twice, and given back twice.
        (101, 5_600_000, "lock_req"),
        (101, 5_600_100, "lock_acq"),
        (102, 6_000_000, "lock_req"),
        (101, 6_100_000, "unlock"),
        (101, 7_000_000, "unlock"),
        (102, 7_010_000, "lock_acq"),
        (102, 7_500_000, "unlock"),
        (103, 8_000_000, "trylock"),
        (101, 8_100_000, "lock_req"),
        (103, 8_200_000, "unlock"),
        (101, 8_210_000, "lock_acq"),
    ] {
        lttng(&mut recording, thread, at, event, 0x77);
    }
    // Locked before the recording began: who gives it back had it.
    lttng(&mut recording, 102, 9_000_000, "lock_req", 0x78);
    lttng(&mut recording, 101, 9_400_000, "unlock", 0x78);
    lttng(&mut recording, 102, 9_410_000, "lock_acq", 0x78);
    assert_eq!(
        rows(&recording.load()),
        [
            (
                102,
                time(6_000_000),
                Some(time(7_010_000)),
                vec![(time(6_000_000), 101)]
            ),
            (
                101,
                time(8_100_000),
                Some(time(8_210_000)),
                vec![(time(8_100_000), 103)]
            ),
            (
                102,
                time(9_000_000),
                Some(time(9_410_000)),
                vec![(time(9_000_000), 101)]
            ),
        ]
    );
}

#[test]
fn notifications_are_kept() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .node(0x10, "/n")
        .at(5_000_000)
        .event(
            "rostrace:condition_notify",
            &[
                ("condition", Pointer(0x77)),
                ("all", Unsigned(1)),
                ("caller", Pointer(0xCA)),
            ],
        );
    let found = recording.load().condition_notifications;
    assert_eq!(found.len(), 1);
    assert!(found[0].all && found[0].time == time(5_000_000) && found[0].condition.0 == 0x77);
}

/// The middleware's clock is the wall clock, which is some time away from that of the trace.
#[test]
fn a_take_has_the_arrival_and_the_number_that_the_middleware_tells() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    for (handle, received) in [(0x30, 900), (0x31, 900), (0x30, 1100)] {
        recording.thread(101).event(
            "ros2:rmw_take",
            &[
                ("rmw_subscription_handle", Pointer(0x30)),
                ("message", Pointer(0x40)),
                ("source_timestamp", Signed(800)),
                ("taken", Unsigned(1)),
            ],
        );
        recording.event(
            "rostrace:rmw_take_info",
            &[
                ("rmw_subscription_handle", Pointer(handle)),
                ("received_timestamp", Signed(received)),
                ("wall_clock", Signed(5_000 + received)),
                ("publication_sequence_number", Unsigned(7)),
                ("reception_sequence_number", Unsigned(u64::MAX)),
            ],
        );
    }
    let model = recording.load();
    let info = model.takes[0].info.unwrap();
    let reported = model.takes[0].time.0 + 1_000;
    assert_eq!(info.arrival.0, reported - 5_000);
    assert_eq!(
        (info.publication_sequence, info.reception_sequence),
        (7, None)
    );
    assert_eq!(model.takes[1].info, None, "it is of another subscription");
    assert!(model.takes[2].info.is_some());
}
