//! `rostrace dump` shows empty texts as babeltrace2 does: with what the recycled event object held before.
//!
//! Traces are made by hand, in many constellations, and both programs must print the same bytes. Without babeltrace2
//! on the `PATH` most of these tests have nothing to say, and say so.

#![allow(clippy::unwrap_used)]

mod support;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use support::{json_lines, rostrace, stderr_of, stdout_of};

/// A folder with traces below it.
#[derive(Debug, Clone, Default)]
struct Recording {
    traces: Vec<Trace>,
    clock: bool,
}

#[derive(Debug, Clone, Default)]
struct Trace {
    uuid: Option<u8>,
    tracer: Tracer,
    /// Packets say when they end.
    has_end: bool,
    streams: Vec<Vec<Packet>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Tracer {
    #[default]
    Unknown,
    /// Its packets can end before their last event.
    OldLttng,
    Lttng,
    /// Its packets' beginning is told after their first event was decoded.
    OldBarectf,
}

/// Times are distances from what is before.
#[derive(Debug, Clone, Default)]
struct Packet {
    gap: u64,
    lost_events: u64,
    lost_packets: u64,
    label: &'static str,
    events: Vec<Event>,
    /// From the last event to the end. The end of an old LTTng's packet is too early instead, where it can be.
    tail: u64,
}

#[derive(Debug, Clone, Default)]
struct Event {
    wait: u64,
    /// 0 has one string, 1 texts of all kinds, 2 no text of its own, 3 nested texts.
    class: u8,
    process: &'static str,
    texts: Vec<&'static str>,
    /// Chooses among variants and lengths.
    choice: u8,
}

const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := char_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace {
    major = 1; minor = 8; byte_order = le; UUID
    packet.header := struct { uint32_t magic; uint32_t stream_id; uint64_t stream_instance_id; };
};
ENV
CLOCK
stream {
    id = 0;
    packet.context := struct {
        uint64_t packet_size; uint64_t content_size; time_t timestamp_begin; END
        uint64_t events_discarded; uint64_t packet_seq_num; string label;
    };
    event.header := struct { uint8_t id; time_t timestamp; };
    event.context := struct { char_t process[3]; };
};
event { name = "one"; id = 0; stream_id = 0; fields := struct { string text; }; };
event {
    name = "several"; id = 1; stream_id = 0;
    context := struct { string why; };
    fields := struct {
        string first; uint8_t number; char_t fixed[2];
        uint16_t _length; char_t sequence[_length]; struct { string text; } inner;
    };
};
event { name = "none"; id = 2; stream_id = 0; fields := struct { uint8_t number; }; };
event {
    name = "nested"; id = 3; stream_id = 0;
    fields := struct {
        uint8_t _count; string list[_count];
        string pair[2];
        enum : uint8_t { little = 0, much = 1 } tag;
        variant <tag> { string little; struct { string a; string b; } much; } choice;
    };
};
"#;

impl Recording {
    fn write(&self, folder: &Path) {
        for (number, trace) in self.traces.iter().enumerate() {
            let folder = folder.join(format!("trace{number}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("metadata"), trace.metadata(self.clock)).unwrap();
            for (number, packets) in trace.streams.iter().enumerate() {
                let bytes = trace.stream(number as u64, packets);
                std::fs::write(folder.join(format!("stream{number}")), bytes).unwrap();
            }
        }
    }
}

impl Trace {
    fn metadata(&self, clock: bool) -> String {
        let mut uuid = String::new();
        if let Some(byte) = self.uuid {
            write!(
                uuid,
                "uuid = \"{byte:02x}000000-0000-0000-0000-000000000000\";"
            )
            .unwrap();
        }
        let environment = match self.tracer {
            Tracer::Unknown => "",
            Tracer::OldLttng => {
                "env { tracer_name = \"lttng-ust\"; tracer_major = 2; tracer_minor = 10; };"
            }
            Tracer::Lttng => {
                "env { tracer_name = \"lttng-ust\"; tracer_major = 2; tracer_minor = 13; };"
            }
            Tracer::OldBarectf => {
                "env { tracer_name = \"barectf\"; tracer_major = 2; tracer_minor = 2; };"
            }
        };
        let clock = if clock {
            "clock { name = \"c\"; freq = 1000000000; offset_s = 1000; };\ntypealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := time_t;"
        } else {
            "typealias integer { size = 64; align = 8; signed = false; } := time_t;"
        };
        let end = if self.has_end {
            "time_t timestamp_end;"
        } else {
            ""
        };
        METADATA
            .replace("UUID", &uuid)
            .replace("ENV", environment)
            .replace("CLOCK", clock)
            .replace("END", end)
    }

    fn stream(&self, instance: u64, packets: &[Packet]) -> Vec<u8> {
        let mut file = Vec::new();
        let (mut time, mut lost, mut sequence) = (100, 0, 0);
        for packet in packets {
            time += packet.gap;
            let mut begin = time;
            let mut events = Vec::new();
            let mut first = None;
            for event in &packet.events {
                time += event.wait;
                first.get_or_insert(time);
                event.write(&mut events, time);
            }
            let mut end = time + packet.tail;
            match self.tracer {
                Tracer::OldLttng => end = end.saturating_sub(3).max(begin),
                // Not later: then we sort by the packet's begin, and babeltrace2 by the event's time.
                Tracer::OldBarectf => begin = first.unwrap_or(begin),
                _ => {}
            }
            time = time.max(end);
            lost += packet.lost_events;
            sequence += packet.lost_packets;
            let mut bytes = Vec::new();
            bytes.extend(0xC1FC_1FC1u32.to_le_bytes());
            bytes.extend(0u32.to_le_bytes());
            bytes.extend(instance.to_le_bytes());
            let size = bytes.len() + 40 + if self.has_end { 8 } else { 0 };
            let size = (size + packet.label.len() + 1 + events.len()) as u64;
            let mut context = vec![size * 8 + 64, size * 8, begin];
            if self.has_end {
                context.push(end.max(begin));
            }
            context.extend([lost, sequence]);
            bytes.extend(context.iter().flat_map(|number| number.to_le_bytes()));
            text(&mut bytes, packet.label);
            bytes.extend(events);
            assert_eq!(bytes.len() as u64, size);
            bytes.extend([0; 8]);
            file.extend(bytes);
            sequence += 1;
        }
        file
    }
}

impl Event {
    fn write(&self, bytes: &mut Vec<u8>, time: u64) {
        bytes.push(self.class);
        bytes.extend(time.to_le_bytes());
        fixed(bytes, self.process, 3);
        let mut texts = self.texts.iter().copied().cycle();
        let mut next = move || texts.next().unwrap_or_default();
        match self.class {
            0 => text(bytes, next()),
            1 => {
                text(bytes, next());
                text(bytes, next());
                bytes.push(self.choice);
                fixed(bytes, next(), 2);
                let sequence = next();
                // Some end with a NUL, and some that are empty have a length.
                let length = sequence.len() + usize::from(self.choice % 3);
                bytes.extend((length as u16).to_le_bytes());
                fixed(bytes, sequence, length);
                text(bytes, next());
            }
            2 => bytes.push(self.choice),
            _ => {
                bytes.push(self.choice % 4);
                for _ in 0..self.choice % 4 + 2 {
                    text(bytes, next());
                }
                bytes.push(self.choice % 2);
                for _ in 0..self.choice % 2 + 1 {
                    text(bytes, next());
                }
            }
        }
    }
}

fn text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend(text.as_bytes());
    bytes.push(0);
}

/// A text of so many bytes.
fn fixed(bytes: &mut Vec<u8>, text: &str, length: usize) {
    let text = text.bytes().chain(std::iter::repeat(0));
    bytes.extend(text.take(length));
}

/// What babeltrace2 prints; nothing, but a loud word, if it is not installed.
fn babeltrace(folder: &Path) -> Option<Vec<u8>> {
    let output = std::process::Command::new("babeltrace2")
        .arg(folder)
        .env("TZ", "UTC")
        .output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: there is no babeltrace2; nothing was compared");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(output.stdout)
}

/// Writes the recording, and returns both outputs if they differ, and how many lines there are if they do not.
fn compare(recording: &Recording) -> Result<usize, String> {
    let folder = tempfile::tempdir().unwrap();
    recording.write(folder.path());
    let path = folder.path().to_str().unwrap();
    let Some(theirs) = babeltrace(folder.path()) else {
        return Ok(0);
    };
    let ours = rostrace(&["dump", path]).output().unwrap().stdout;
    if ours == theirs {
        return Ok(theirs.split(|byte| *byte == b'\n').count() - 1);
    }
    let (ours, theirs) = (text_of(&ours), text_of(&theirs));
    let odd = ours.lines().zip(theirs.lines()).position(|(a, b)| a != b);
    let line = odd.unwrap_or(0);
    Err(format!(
        "line {}:\n{}\nbabeltrace2:\n{}",
        line + 1,
        ours.lines().nth(line).unwrap_or("(no more lines)"),
        theirs.lines().nth(line).unwrap_or("(no more lines)"),
    ))
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn one(text: &'static str, wait: u64) -> Event {
    Event {
        wait,
        process: "p",
        texts: vec![text],
        ..Event::default()
    }
}

fn packet(events: Vec<Event>) -> Packet {
    Packet {
        gap: 1,
        label: "l",
        events,
        ..Packet::default()
    }
}

fn recording(streams: Vec<Vec<Packet>>) -> Recording {
    Recording {
        traces: vec![Trace {
            has_end: true,
            streams,
            ..Trace::default()
        }],
        clock: true,
    }
}

#[test]
fn a_batch_of_fifteen_messages_has_new_objects() {
    // Stream beginning, packet beginning, thirteen events: the fourteenth event is the first that gets a used object, that
    // of the last event that was shown.
    const NAMES: [&str; 13] = [
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
    ];
    let mut events: Vec<Event> = NAMES.iter().map(|name| one(name, 1)).collect();
    events.extend(vec![one("", 1); 3]);
    let recording = recording(vec![vec![packet(events)]]);
    let folder = tempfile::tempdir().unwrap();
    recording.write(folder.path());
    let printed = stdout_of(&["dump", folder.path().to_str().unwrap()], 0);
    let last: Vec<&str> = printed.lines().skip(13).collect();
    for (line, shown) in last.iter().zip(["m", "l", "k"]) {
        assert!(
            line.ends_with(&format!("{{ text = \"{shown}\" }}")),
            "{line}"
        );
    }
    assert_eq!(
        compare(&recording),
        Ok(if babeltrace(folder.path()).is_some() {
            16
        } else {
            0
        })
    );
}

#[test]
fn the_user_is_told_and_the_other_formats_are_right() {
    let mut events: Vec<Event> = vec![one("secret", 1); 14];
    events.push(one("", 1));
    let recording = recording(vec![vec![packet(events)]]);
    let folder = tempfile::tempdir().unwrap();
    recording.write(folder.path());
    let path = folder.path().to_str().unwrap();
    assert_eq!(
        stderr_of(&["dump", path], 0),
        "rostrace: 1 empty text is shown as babeltrace2 shows it, with the text of an earlier event; \
         --format json and csv show what is in the trace\n"
    );
    assert_eq!(stderr_of(&["dump", path, "--format", "json"], 0), "");
    let events = json_lines(&stdout_of(&["dump", path, "--format", "json"], 0));
    assert_eq!(events[14]["payload"]["text"], "");
}

#[test]
fn a_limit_gives_the_first_lines_and_a_filter_shows_empty_texts_as_they_are() {
    let mut events: Vec<Event> = vec![one("secret", 1); 14];
    events.extend(vec![one("", 1); 4]);
    let recording = recording(vec![vec![packet(events.clone())], vec![packet(events)]]);
    let folder = tempfile::tempdir().unwrap();
    recording.write(folder.path());
    let path = folder.path().to_str().unwrap();
    let all = stdout_of(&["dump", path], 0);
    for limit in 0..36 {
        let some = stdout_of(&["dump", path, "--limit", &limit.to_string()], 0);
        assert_eq!(some.lines().count(), limit);
        assert!(all.starts_with(&some));
    }
    let filtered = stdout_of(&["dump", path, "--event", "one"], 0);
    assert_eq!(filtered.matches("text = \"\"").count(), 8);
}

#[test]
fn real_kernel_traces_are_the_same() {
    let Some(shared) = shared() else { return };
    let trace = shared.join("traces/public/trace-compass/many-threads");
    let Some(theirs) = babeltrace(&trace) else {
        return;
    };
    let ours = rostrace(&["dump", trace.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(ours.stdout == theirs);
    assert!(text_of(&ours.stderr).contains("1 empty text is shown"));
}

/// The folder with the recordings, or a loud word that there is none.
fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("ROSTRACE_SHARED").map(PathBuf::from);
    let above = || {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .map(|folder| folder.join("shared"))
            .find(|shared| shared.join("traces/public").is_dir())
    };
    let found = named.or_else(above);
    if found.is_none() {
        eprintln!("SKIPPED: there is no shared/traces above this crate; nothing was tested");
    }
    found
}

fn texts() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        3 => Just(""),
        4 => prop::sample::select(vec!["a", "bb", "c?\"", "dddd", "a longer text", "\u{fc}"]),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let process = prop_oneof![2 => Just("ps"), 1 => Just(""), 1 => Just("abc")];
    (
        prop_oneof![Just(0u64), Just(1), 0..4u64],
        0..4u8,
        process,
        prop::collection::vec(texts(), 1..8),
        any::<u8>(),
    )
        .prop_map(|(wait, class, process, texts, choice)| Event {
            wait,
            class,
            process,
            texts,
            choice,
        })
}

fn packets() -> impl Strategy<Value = Vec<Packet>> {
    let size = prop_oneof![Just(0..1usize), Just(1..4), Just(3..20), Just(10..40)];
    let events = size.prop_flat_map(|size| prop::collection::vec(event(), size));
    let lost = prop_oneof![3 => Just(0u64), 1 => 1..3u64];
    let packet = (0..4u64, lost.clone(), lost, texts(), events, 0..3u64).prop_map(
        |(gap, lost_events, lost_packets, label, events, tail)| Packet {
            gap,
            lost_events,
            lost_packets,
            label,
            events,
            tail,
        },
    );
    prop::collection::vec(packet, 1..7)
}

fn any_trace() -> impl Strategy<Value = Trace> {
    let tracer = prop::sample::select(vec![
        Tracer::Unknown,
        Tracer::Unknown,
        Tracer::OldLttng,
        Tracer::Lttng,
        Tracer::OldBarectf,
    ]);
    (
        prop::option::of(any::<u8>()),
        tracer,
        prop::bool::weighted(0.8),
        prop::collection::vec(packets(), 1..7),
    )
        .prop_map(|(uuid, tracer, has_end, mut streams)| {
            // babeltrace2 repairs these, but not their losses, and ends a stream at barectf's first packet without events.
            for packet in streams.iter_mut().flatten() {
                if matches!(tracer, Tracer::OldLttng | Tracer::OldBarectf) {
                    packet.lost_events = 0;
                    packet.lost_packets = 0;
                }
                if tracer == Tracer::OldBarectf && packet.events.is_empty() {
                    packet.events.push(one("", 1));
                }
            }
            Trace {
                uuid,
                tracer,
                has_end: has_end || tracer != Tracer::Unknown,
                streams,
            }
        })
}

fn any_recording() -> impl Strategy<Value = Recording> {
    (
        prop::collection::vec(any_trace(), 1..4),
        prop::bool::weighted(0.85),
    )
        .prop_map(|(mut traces, clock)| {
            for (number, trace) in traces.iter_mut().enumerate() {
                // Equal UUIDs would make one trace of two.
                trace.uuid = trace.uuid.map(|byte| byte & 0xFC | number as u8);
                if !clock {
                    trace.tracer = Tracer::Unknown;
                }
            }
            Recording { traces, clock }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_traces_are_shown_as_babeltrace2_shows_them(recording in any_recording()) {
        let compared = compare(&recording);
        prop_assert!(compared.is_ok(), "{}", compared.unwrap_err());
    }
}
