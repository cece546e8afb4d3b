//! What holds for any recording: streams may come in any order, and lost events never make anything up.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use rostrace_model::Model;
use rostrace_model::flow::{DeliveryStatus, Publication};

use rostrace_testkit::made_up::recording::{MadeUpEvent, Payload};
use rostrace_testkit::made_up::{Flavour, Recording, owner, stamp, topic};

/// Random numbers; zeros when they are used up, so that what fails becomes short.
struct Tape(std::vec::IntoIter<u32>);

impl Tape {
    fn below(&mut self, count: u32) -> u32 {
        self.0.next().unwrap_or(0) % count
    }
}

/// Process, thread, and for each thread: timer callback, publisher, subscription, its callback, intra-process subscription.
const THREADS: [(i64, i64, u64); 3] = [(100, 100, 0x1000), (100, 101, 0x2000), (200, 200, 0x3000)];

/// A system of three threads in two processes that talk on one topic, and some random life in it.
fn system(flavour: Flavour, tape: &mut Tape, steps: usize) -> Recording {
    let mut recording = Recording::new(flavour, "robot");
    for (pid, tid, base) in THREADS {
        recording
            .process(pid, "app")
            .thread(tid)
            .cpu(tid as u32 % 7);
        recording
            .context(base + 1)
            .node(base + 2, &format!("/n{base:x}"));
        recording.publisher(base + 0x10, base + 2, "/a");
        recording.subscription(base + 0x20, base + 2, "/a", base + 0x30);
        recording.publisher(base + 0x18, base + 2, &format!("/intra{base:x}"));
        recording.intra_subscription(
            base + 0x40,
            base + 2,
            &format!("/intra{base:x}"),
            base + 0x50,
            2,
        );
        recording.timer(base + 0x60, base + 2, 10, base + 0x70);
    }
    let begin = recording.events.len();
    let mut published = 0;
    let mut taken = HashSet::new();
    let mut rings = [(0u64, 0u64); 3];
    for _ in 0..steps {
        let number = tape.below(3) as usize;
        let (pid, tid, base) = THREADS[number];
        recording
            .process(pid, "app")
            .thread(tid)
            .cpu(tid as u32 % 7);
        match tape.below(6) {
            0 => {
                published += 1;
                recording.start(base + 0x70);
                recording.publish(base + 0x10, 0x10_0000 + published, published as i64);
                recording.end(base + 0x70);
            }
            1 => {
                published += 1;
                recording.publish(base + 0x10, 0x10_0000 + published, published as i64);
            }
            // Whatever was published is taken, by anyone once; the numbers become stamps later.
            2 | 3 => {
                let which = 1 + u64::from(tape.below(published.max(1) as u32));
                if taken.insert((which, base)) {
                    recording
                        .execute(base + 0x20)
                        .rmw_take(base + 0x20, 0x7000, which as i64);
                    recording.run(base + 0x30);
                }
            }
            4 => {
                let (written, read) = &mut rings[number];
                let full = *written - *read == 2;
                published += 1;
                recording.intra_publish(base + 0x18, 0x10_0000 + published);
                recording.enqueue(base + 0x43, *written % 2, full);
                *read += u64::from(full);
                *written += 1;
            }
            _ => {
                let (written, read) = &mut rings[number];
                recording.get_next_ready();
                if read < written {
                    recording.receive_intra(base + 0x43, *read % 2, base + 0x51);
                    *read += 1;
                }
            }
        }
    }
    interleave(&mut recording.events[begin..], tape);
    make_stamps(&mut recording, flavour);
    recording
}

/// The threads' events stay in their order, but not what happens on different threads.
fn interleave(events: &mut [MadeUpEvent], tape: &mut Tape) {
    let mut threads: Vec<std::collections::VecDeque<MadeUpEvent>> = vec![Default::default(); 3];
    for event in events.iter() {
        let thread = THREADS.iter().position(|(_, tid, _)| *tid == event.tid);
        threads[thread.unwrap()].push_back(event.clone());
    }
    let mut time = 5_000_000;
    for place in events.iter_mut() {
        threads.sort_by_key(std::collections::VecDeque::is_empty);
        let left = threads.iter().filter(|thread| !thread.is_empty()).count();
        let thread = &mut threads[tape.below(left as u32) as usize];
        *place = thread.pop_front().unwrap();
        place.time = time;
        time += 1_000;
    }
}

/// The middleware stamps a message just after the last event of its publication.
fn make_stamps(recording: &mut Recording, flavour: Flavour) {
    let mut stamps: HashMap<u64, i64> = HashMap::new();
    for event in &recording.events {
        if event.name == "ros2:rmw_publish"
            && let Some((_, Payload::Pointer(message))) =
                event.fields.iter().find(|(name, _)| name == "message")
        {
            stamps.insert(message - 0x10_0000, stamp(event.time + 300));
        }
    }
    let field = match flavour {
        Flavour::Jazzy => ["timestamp", "source_timestamp"],
        _ => ["source_timestamp"; 2],
    };
    for event in &mut recording.events {
        for (name, value) in &mut event.fields {
            if field.contains(&name.as_str())
                && let Payload::Signed(number) = value
            {
                *number = stamps.get(&(*number as u64)).copied().unwrap_or(*number);
            }
        }
    }
}

/// Everything that a model says, but for where it was read.
fn contents(model: &Model) -> String {
    format!(
        "{:#?}",
        (
            (
                &model.processes,
                &model.threads,
                &model.nodes,
                &model.publishers
            ),
            (&model.subscriptions, &model.timers, &model.callbacks),
            (
                &model.instances,
                &model.publications,
                &model.takes,
                &model.enqueues
            ),
            (
                &model.deliveries,
                &model.phases,
                &model.events,
                &model.kinds
            ),
        )
    )
}

/// The times of a publication's events; each belongs to one publication only.
fn layers(row: &Publication) -> impl Iterator<Item = i64> {
    [row.intra, row.rclcpp, row.rcl, row.rmw]
        .into_iter()
        .flatten()
        .map(|time| time.0)
}

/// Every row of the damaged model is one of the full model, or says less.
fn says_nothing_new(full: &Model, damaged: &Model) {
    let starts: HashMap<i64, usize> = full
        .instances
        .iter()
        .enumerate()
        .map(|(index, row)| (row.start.0, index))
        .collect();
    for row in &damaged.instances {
        let original = &full.instances[starts[&row.start.0]];
        assert_eq!(
            (row.address, row.intra_process),
            (original.address, original.intra_process)
        );
        assert!(
            row.end.is_none() || row.end == original.end,
            "{row:?} {original:?}"
        );
        let name = owner(damaged, row.callback);
        let known = name != "nobody" && name != "unknown";
        assert!(
            !known || name == owner(full, original.callback),
            "{row:?} {original:?}"
        );
        if let Some(take) = row.take {
            let original = &full.takes[original.take.unwrap().index()];
            assert_eq!(damaged.takes[take.index()].time, original.time);
        }
    }
    let owners: HashMap<i64, usize> = (full.publications.iter().enumerate())
        .flat_map(|(index, row)| layers(row).map(move |time| (time, index)))
        .collect();
    let original = |row: &Publication| {
        let same: HashSet<usize> = layers(row).map(|time| owners[&time]).collect();
        assert_eq!(same.len(), 1, "{row:?}");
        same.into_iter().next().unwrap()
    };
    for row in &damaged.publications {
        let before = &full.publications[original(row)];
        let topics = (topic(damaged, row), topic(full, before));
        assert!(topics.0.is_none() || topics.0 == topics.1, "{row:?}");
        let stamps = (row.source_timestamp, before.source_timestamp);
        assert!(stamps.0.is_none() || stamps.0 == stamps.1, "{row:?}");
        if let Some(instance) = row.instance {
            let expected = full.instances[before.instance.unwrap().index()].start;
            assert_eq!(
                damaged.instances[instance.index()].start,
                expected,
                "{row:?}"
            );
        }
    }
    let known: HashMap<(usize, u64, i64), (DeliveryStatus, Option<i64>)> = (full.deliveries.iter())
        .map(|row| {
            let subscription = &full.subscriptions[row.subscription.unwrap().index()];
            let start = row
                .instance
                .map(|instance| full.instances[instance.index()].start.0);
            let pid = full.processes[subscription.process.index()].pid;
            (
                (row.publication.index(), subscription.handle.0, pid),
                (row.status, start),
            )
        })
        .collect();
    for row in &damaged.deliveries {
        if row.status == DeliveryStatus::Unknown {
            continue;
        }
        let publication = original(&damaged.publications[row.publication.index()]);
        let Some(subscription) = row.subscription else {
            // Its name was lost, but it is the same message to the same execution.
            let start = row.instance.map(|id| damaged.instances[id.index()].start.0);
            let mut same = known.iter().filter(|(key, _)| key.0 == publication);
            assert!(same.any(|(_, it)| *it == (row.status, start)), "{row:?}");
            continue;
        };
        let subscription = &damaged.subscriptions[subscription.index()];
        let pid = damaged.processes[subscription.process.index()].pid;
        let (status, start) = known[&(publication, subscription.handle.0, pid)];
        assert_eq!(row.status, status, "{row:?}");
        if let Some(instance) = row.instance {
            assert_eq!(
                Some(damaged.instances[instance.index()].start.0),
                start,
                "{row:?}"
            );
        }
    }
}

fn flavours() -> impl Strategy<Value = Flavour> {
    prop_oneof![Just(Flavour::Humble), Just(Flavour::Jazzy)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_streams_and_files_changes_nothing(
        flavour in flavours(),
        tape in prop::collection::vec(any::<u32>(), 0..600),
        cpus in prop::collection::vec(0u32..5, 1..40),
        reversed: bool,
    ) {
        let mut recording = system(flavour, &mut Tape(tape.into_iter()), 40);
        let model = recording.load();
        recording.reversed = reversed;
        for (index, event) in recording.events.iter_mut().enumerate() {
            event.cpu = cpus[index % cpus.len()];
        }
        prop_assert_eq!(contents(&model), contents(&recording.load()));
    }

    #[test]
    fn discarded_events_never_make_anything_up(
        flavour in flavours(),
        tape in prop::collection::vec(any::<u32>(), 0..600),
        discarded in prop::collection::vec(any::<u32>(), 1..12),
    ) {
        let recording = system(flavour, &mut Tape(tape.into_iter()), 40);
        let mut damaged = recording.clone();
        for number in discarded {
            damaged.discard(number as usize % damaged.events.len());
        }
        says_nothing_new(&recording.load(), &damaged.load());
    }
}
