//! Traces made by hand: streams of packets, losses between them, tracers with their known defects, and events with texts of all kinds.

use std::fmt::Write as _;
use std::path::Path;

/// A folder with traces below it.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    pub traces: Vec<Trace>,
    pub clock: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Trace {
    pub uuid: Option<u8>,
    pub tracer: Tracer,
    /// Packets say when they end.
    pub has_end: bool,
    pub streams: Vec<Vec<Packet>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tracer {
    #[default]
    Unknown,
    /// Its packets can end before their last event.
    OldLttng,
    Lttng,
    /// Its packets' beginning is reported after their first event was decoded.
    OldBarectf,
}

/// Times are distances from what is before.
#[derive(Debug, Clone, Default)]
pub struct Packet {
    pub gap: u64,
    pub lost_events: u64,
    pub lost_packets: u64,
    pub label: &'static str,
    pub events: Vec<Event>,
    /// From the last event to the end. The end of an old LTTng's packet is too early instead, where it can be.
    pub tail: u64,
}

#[derive(Debug, Clone, Default)]
pub struct Event {
    pub wait: u64,
    /// 0 has one string, 1 texts of all kinds, 2 no text of its own, 3 nested texts.
    pub class: u8,
    pub process: &'static str,
    pub texts: Vec<&'static str>,
    /// Chooses among variants and lengths.
    pub choice: u8,
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
    pub fn write(&self, folder: &Path) {
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

pub fn one(text: &'static str, wait: u64) -> Event {
    Event {
        wait,
        process: "p",
        texts: vec![text],
        ..Event::default()
    }
}

pub fn packet(events: Vec<Event>) -> Packet {
    Packet {
        gap: 1,
        label: "l",
        events,
        ..Packet::default()
    }
}

pub fn recording(streams: Vec<Vec<Packet>>) -> Recording {
    Recording {
        traces: vec![Trace {
            has_end: true,
            streams,
            ..Trace::default()
        }],
        clock: true,
    }
}
