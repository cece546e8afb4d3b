//! The order of events: sorted, the same in every run and for every naming of the files, and the same in slices.

use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use rostrace_ctf::schema::{Nanos, Schema};
use rostrace_ctf::{
    Conversion, Cursor, DamageKind, Event, EventView, Selection, StreamBytes, StreamId, Survey,
    TraceSet, metadata, slices,
};

use crate::support::random_trace::{Profile, random_trace};
use rostrace_testkit::recordings::{folders, testdata};

/// Everything that tells an event from all others.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Seen {
    stream: StreamId,
    packet: usize,
    event: Event,
    nanos: Option<Nanos>,
}

impl Seen {
    fn of(event: EventView<'_>) -> Seen {
        Seen {
            stream: event.stream_id(),
            packet: event.packet_number(),
            event: event.event(),
            nanos: event.nanos(),
        }
    }
}

fn all_of(mut cursor: Cursor<'_>) -> Vec<Seen> {
    let mut events = Vec::new();
    while let Some(event) = cursor.next() {
        events.push(Seen::of(event));
    }
    events
}

fn order(set: &TraceSet) -> Vec<Seen> {
    all_of(Cursor::new(set, Conversion::Exact))
}

fn in_slices(set: &TraceSet, selection: &Selection, bytes: u64) -> (usize, Vec<Seen>) {
    let ranges = slices(set, Conversion::Exact, selection, bytes);
    assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
    let events = (ranges.iter())
        .flat_map(|range| {
            all_of(Cursor::within(
                set,
                Conversion::Exact,
                selection,
                range.clone(),
            ))
        })
        .collect();
    (ranges.len(), events)
}

fn slices_agree(set: &TraceSet, selection: &Selection) -> Result<(), TestCaseError> {
    let whole = all_of(Cursor::select(set, Conversion::Exact, selection));
    for bytes in [0, 1, 100, 1000, 10_000, u64::MAX] {
        let (count, parts) = in_slices(set, selection, bytes);
        prop_assert!(parts == whole, "{count} slices of {bytes} bytes");
    }
    Ok(())
}

/// The order within each stream is that of its packets.
fn streams_are_in_order(events: &[Seen]) -> bool {
    let mut last = std::collections::HashMap::new();
    events.iter().all(|seen| {
        let place = (seen.packet, seen.event.start);
        let before = last.insert(seen.stream, place);
        before.is_none_or(|before| before < place)
    })
}

/// How many events are older than the one before them in their stream.
fn time_goes_back(events: &[Seen]) -> u64 {
    let mut last = std::collections::HashMap::new();
    let mut times = 0;
    for seen in events {
        let before = last.insert(seen.stream, seen.event.time);
        times += u64::from(before.is_some_and(|before| seen.event.time < before));
    }
    times
}

// ---- traces of a few streams, made by hand ----

fn schema() -> Arc<Schema> {
    let text = "/* CTF 1.8 */
        typealias integer { size = 8; align = 8; } := u8; typealias integer { size = 64; align = 8; } := u64;
        typealias integer { size = 64; align = 8; map = clock.c.value; } := time;
        trace { major = 1; minor = 8; byte_order = le;
            packet.header := struct { integer { size = 32; align = 8; } magic; u8 stream_instance_id; }; };
        clock { name = c; freq = 1000000000; absolute = true; };
        stream { packet.context := struct { time timestamp_begin; u64 packet_size; u8 n; };
            event.header := struct { u8 id; time timestamp; }; };
        event { name = \"a\"; id = 0; fields := struct { u8 x; }; };
        event { name = \"b\"; id = 1; };";
    Arc::new(metadata::read(text.as_bytes()).unwrap().schema)
}

#[derive(Debug, Clone)]
struct HandMade {
    /// Per stream, per packet: its begin and the times of its events.
    streams: Vec<Vec<(u64, Vec<u64>)>>,
}

impl HandMade {
    fn file(&self, instance: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (number, (begin, times)) in self.streams[instance].iter().enumerate() {
            let mut events = Vec::new();
            for (number, time) in times.iter().enumerate() {
                let class = (number % 2) as u8;
                events.push(class);
                events.extend(time.to_le_bytes());
                if class == 0 {
                    events.push(number as u8);
                }
            }
            let size = 4 + 1 + 8 + 8 + 1 + events.len() as u64;
            bytes.extend(0xC1FC_1FC1u32.to_le_bytes());
            bytes.push(instance as u8);
            bytes.extend(begin.to_le_bytes());
            bytes.extend((size * 8).to_le_bytes());
            bytes.push(number as u8);
            bytes.extend(events);
        }
        bytes
    }

    /// The files in this order.
    fn open(&self, files: &[usize]) -> TraceSet {
        let files = files
            .iter()
            .enumerate()
            .map(|(place, &instance)| StreamBytes {
                name: PathBuf::from(format!("file_{place}")),
                bytes: self.file(instance),
                index: None,
            });
        TraceSet::in_memory(schema(), files.collect())
    }

    fn in_order(&self) -> TraceSet {
        let files: Vec<usize> = (0..self.streams.len()).collect();
        self.open(&files)
    }

    fn events(&self) -> usize {
        let packets = self.streams.iter().flatten();
        packets.map(|(_, times)| times.len()).sum()
    }
}

/// Small steps, so that many times are equal.
fn orderly() -> impl Strategy<Value = HandMade> {
    let packet = (0u64..3, prop::collection::vec(0u64..3, 0..6));
    let stream = prop::collection::vec(packet, 0..6);
    prop::collection::vec(stream, 1..5).prop_map(|streams| {
        let streams = streams.into_iter().map(|packets| {
            let mut time = 100;
            let packets = packets.into_iter().map(|(step, steps)| {
                time += step;
                let begin = time;
                let times = steps.into_iter().map(|step| {
                    time += step;
                    time
                });
                (begin, times.collect())
            });
            packets.collect()
        });
        HandMade {
            streams: streams.collect(),
        }
    })
}

/// Nothing fits: neither the events to their packets nor the packets to each other.
fn disorderly() -> impl Strategy<Value = HandMade> {
    let time = prop_oneof![
        6 => 100u64..120,
        1 => Just(0),
        1 => Just(u64::MAX),
        1 => Just(i64::MAX as u64),
        1 => any::<u64>(),
    ];
    let packet = (time.clone(), prop::collection::vec(time, 0..6));
    let stream = prop::collection::vec(packet, 0..6);
    prop::collection::vec(stream, 1..5).prop_map(|streams| HandMade { streams })
}

fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut files: Vec<usize> = (0..count).collect();
    let mut random = crate::support::damaged::Random(seed);
    for place in (1..count).rev() {
        files.swap(place, random.below(place + 1));
    }
    files
}

fn is_sorted(set: &TraceSet, events: &[Seen]) -> bool {
    events.is_sorted_by_key(|seen| (seen.nanos, set.stream(seen.stream).id))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn orderly_streams_are_merged_by_time_and_then_by_id(trace in orderly(), seed: u64) {
        let set = trace.in_order();
        let events = order(&set);
        prop_assert_eq!(events.len(), trace.events());
        prop_assert!(is_sorted(&set, &events));
        prop_assert!(streams_are_in_order(&events));
        prop_assert!(events == order(&set));
        let renamed = order(&trace.open(&shuffled(trace.streams.len(), seed)));
        prop_assert!(events == renamed);
        slices_agree(&set, &Selection::default())?;
    }

    #[test]
    fn disorderly_streams_lose_nothing(trace in disorderly(), seed: u64) {
        let set = trace.in_order();
        let events = order(&set);
        prop_assert_eq!(events.len(), trace.events());
        prop_assert!(streams_are_in_order(&events));
        prop_assert!(events == order(&set));
        let renamed = order(&trace.open(&shuffled(trace.streams.len(), seed)));
        prop_assert!(events == renamed);
        slices_agree(&set, &Selection::default())?;
        let expected = time_goes_back(&events);
        let mut cursor = Cursor::new(&set, Conversion::Exact);
        while cursor.next().is_some() {}
        let survey = Survey::take(&set, 1, &|_| true);
        for damage in [&cursor.damage.into_rows(), &survey.damage] {
            let said: u64 = (damage.iter())
                .filter(|damage| damage.kind == DamageKind::TimeGoesBack)
                .map(|damage| damage.count.unwrap())
                .sum();
            prop_assert_eq!(said, expected);
        }
    }

    #[test]
    fn a_range_of_time_has_all_events_in_it(trace in orderly(), from in 95i64..130, length in 0i64..30) {
        let set = trace.in_order();
        let selection = Selection {
            time: Some(Nanos(from)..=Nanos(from + length)),
            ..Selection::default()
        };
        let mut expected = order(&set);
        expected.retain(|seen| seen.nanos.is_some_and(|at| at.0 >= from && at.0 <= from + length));
        let found = all_of(Cursor::select(&set, Conversion::Exact, &selection));
        prop_assert!(found == expected, "{found:?} {expected:?}");
        slices_agree(&set, &selection)?;
    }

    #[test]
    fn slices_of_random_traces_are_the_whole(
        trace in random_trace(Profile::Everything),
        event in 0usize..4,
    ) {
        let set = trace.open();
        let events = order(&set);
        prop_assert!(streams_are_in_order(&events));
        slices_agree(&set, &Selection::default())?;
        let selection = Selection {
            events: vec![format!("provider:event \"{event}\"")],
            ..Selection::default()
        };
        slices_agree(&set, &selection)?;
    }
}

#[test]
fn a_recording_in_slices_is_the_recording() {
    for folder in folders(&testdata()) {
        let set = TraceSet::open(&[&folder]).unwrap();
        let whole = order(&set);
        let mut most = 0;
        for bytes in [1, 10_000, 100_000] {
            let (count, parts) = in_slices(&set, &Selection::default(), bytes);
            assert!(parts == whole, "{}", folder.display());
            most = most.max(count);
        }
        let packets: usize = set.streams().map(|id| set.stream(id).packets.len()).sum();
        assert!(packets < 5 || most > 1, "{}: {most}", folder.display());
    }
}

#[test]
fn several_traces_together_are_each_of_them_in_one_order() {
    let folders = folders(&testdata());
    let set = TraceSet::open(&folders).unwrap();
    let together = order(&set);
    assert!(together.is_sorted_by_key(|seen| seen.nanos));
    let mut events = 0;
    for (number, folder) in folders.iter().enumerate() {
        let mut alone = order(&TraceSet::open(&[folder]).unwrap());
        events += alone.len();
        alone.iter_mut().for_each(|seen| seen.stream.trace = number);
        let part: Vec<Seen> = (together.iter().copied())
            .filter(|seen| seen.stream.trace == number)
            .collect();
        assert!(part == alone, "{}", folder.display());
    }
    assert_eq!(together.len(), events);
    for bytes in [1000, 50_000] {
        let (_, parts) = in_slices(&set, &Selection::default(), bytes);
        assert!(parts == together);
    }
}

/// Long enough that several threads share one stream.
#[test]
fn a_long_stream_is_the_same_on_one_thread_and_on_several() {
    let packets = (0..2500u64).map(|packet| {
        let times = (0..400).map(|event| packet * 1000 + event);
        (packet * 1000, times.collect())
    });
    let trace = HandMade {
        streams: vec![packets.collect()],
    };
    let set = trace.in_order();
    let surveys = [1, 3].map(|threads| Survey::take(&set, threads, &|_| true));
    for survey in &surveys {
        assert_eq!(survey.events, trace.events() as u64);
        let stream = &survey.streams[0];
        assert_eq!(
            (stream.first, stream.last),
            (Some(Nanos(0)), Some(Nanos(2_499_399)))
        );
    }
}
