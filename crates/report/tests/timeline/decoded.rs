//! A Perfetto trace read back, with no knowledge of how it was written: the wire format by a few lines of our own, the numbers of fields from Perfetto's
//! definitions. Whatever is not as Perfetto wants it is a panic.

use std::collections::BTreeMap;
use std::collections::HashMap;

#[derive(Debug, Default)]
pub struct Decoded {
    pub tracks: BTreeMap<u64, Track>,
    /// In the order in which they begin in the file.
    pub slices: Vec<Slice>,
    pub instants: Vec<Slice>,
    /// Track, time, value.
    pub counts: Vec<(u64, i64, f64)>,
    pub switches: Vec<Switch>,
    pub wakings: Vec<(u64, i64, i64)>,
    pub notes: BTreeMap<String, String>,
    /// Clocks by number.
    pub clocks: BTreeMap<u64, i64>,
    /// One line for everything, in the order of the file.
    pub lines: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Track {
    pub parent: Option<u64>,
    pub name: String,
    pub pid: Option<i64>,
    pub tid: Option<i64>,
    pub is_counter: bool,
}

#[derive(Debug, Clone)]
pub struct Slice {
    pub track: u64,
    pub begin: i64,
    pub end: Option<i64>,
    pub name: String,
    pub category: String,
    pub arguments: Vec<(String, String)>,
    pub sends: Vec<u64>,
    pub receives: Vec<u64>,
}

impl Slice {
    pub fn argument(&self, key: &str) -> Option<&str> {
        let found = self.arguments.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    pub cpu: u64,
    pub at: i64,
    pub previous: (i64, String),
    pub state: i64,
    pub next: (i64, String),
}

#[derive(Debug, Clone, Copy)]
enum Field<'a> {
    Number(u64),
    Fixed(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    fn number(self) -> u64 {
        match self {
            Field::Number(number) => number,
            other => panic!("a number, not {other:?}"),
        }
    }

    fn fixed(self) -> u64 {
        match self {
            Field::Fixed(number) => number,
            other => panic!("eight bytes, not {other:?}"),
        }
    }

    fn bytes(self) -> &'a [u8] {
        match self {
            Field::Bytes(bytes) => bytes,
            other => panic!("bytes, not {other:?}"),
        }
    }

    fn text(self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }

    fn message(self) -> Vec<(u32, Field<'a>)> {
        fields(self.bytes())
    }
}

fn fields(mut bytes: &[u8]) -> Vec<(u32, Field<'_>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0u64;
        for shift in (0..).step_by(7) {
            let (first, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if *first < 0x80 {
                return value;
            }
        }
        unreachable!()
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (head, rest) = bytes.split_first_chunk::<8>().unwrap();
                bytes = rest;
                Field::Fixed(u64::from_le_bytes(*head))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (head, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(head)
            }
            other => panic!("wire type {other}"),
        };
        found.push(((tag >> 3) as u32, value));
    }
    found
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[derive(Default)]
struct Reader {
    decoded: Decoded,
    /// By field of `InternedData`.
    interned: HashMap<(u32, u64), String>,
    /// By track: slices that have begun.
    open: HashMap<u64, Vec<usize>>,
    last: HashMap<u64, i64>,
}

pub fn decode(bytes: &[u8]) -> Decoded {
    let mut reader = Reader::default();
    for (number, (field, packet)) in fields(bytes).into_iter().enumerate() {
        assert_eq!(field, 1, "a trace consists of packets");
        reader.packet(number == 0, &packet.message());
    }
    for (track, open) in &reader.open {
        assert!(open.is_empty(), "slices of track {track} never end");
    }
    reader.decoded
}

impl Reader {
    fn packet(&mut self, is_first: bool, packet: &[(u32, Field<'_>)]) {
        let get = |wanted: u32| {
            packet
                .iter()
                .find(|(field, _)| *field == wanted)
                .map(|it| it.1)
        };
        assert_eq!(get(10).unwrap().number(), 1, "the sequence");
        let flags = get(13).unwrap().number();
        assert_eq!(flags, if is_first { 1 } else { 2 });
        let at = get(8).map(|at| at.number() as i64);
        // What is interned with a packet is known to its event.
        if let Some(data) = get(12) {
            self.intern(data);
        }
        for (field, value) in packet {
            match field {
                8 | 10 | 12 | 13 => {}
                87 => assert!(is_first),
                6 => self.clocks(*value),
                126 => self.notes(*value),
                60 => self.track(*value),
                11 => self.event(at.unwrap(), *value),
                1 => self.bundle(*value),
                2 => {
                    let line = format!("process tree {} bytes", value.bytes().len());
                    self.decoded.lines.push(line);
                }
                other => panic!("field {other} of a packet"),
            }
        }
    }

    fn intern(&mut self, data: Field<'_>) {
        for (field, entry) in data.message() {
            assert!([1, 2, 3, 29].contains(&field), "interned {field}");
            let entry = entry.message();
            let [(1, iid), (2, value)] = entry[..] else {
                panic!("{entry:?}");
            };
            let before = self.interned.insert((field, iid.number()), value.text());
            assert!(before.is_none() && iid.number() > 0);
        }
    }

    fn clocks(&mut self, snapshot: Field<'_>) {
        for (field, value) in snapshot.message() {
            match field {
                1 => {
                    let clock = value.message();
                    let [(1, id), (2, at)] = clock[..] else {
                        panic!("{clock:?}");
                    };
                    let (id, at) = (id.number(), at.number() as i64);
                    self.decoded.clocks.insert(id, at);
                    self.decoded.lines.push(format!("clock {id} {at}"));
                }
                2 => assert_eq!(value.number(), 6, "the boot clock is the trace's"),
                other => panic!("field {other} of a clock snapshot"),
            }
        }
    }

    fn notes(&mut self, attributes: Field<'_>) {
        for (_, attribute) in attributes.message() {
            let attribute = attribute.message();
            let [(1, key), (3, value)] = attribute[..] else {
                panic!("{attribute:?}");
            };
            let (key, value) = (key.text(), value.text());
            (self.decoded.lines).push(format!("note {} {}", quoted(&key), quoted(&value)));
            self.decoded.notes.insert(key, value);
        }
    }

    fn track(&mut self, descriptor: Field<'_>) {
        let mut track = Track::default();
        let mut uuid = 0;
        for (field, value) in descriptor.message() {
            match field {
                1 => uuid = value.number(),
                2 => track.name = value.text(),
                5 => track.parent = Some(value.number()),
                8 => track.is_counter = true,
                11 => assert_eq!(value.number(), 3),
                12 => {
                    value.number();
                }
                3 => {
                    for (field, value) in value.message() {
                        match field {
                            1 => track.pid = Some(value.number() as i64),
                            6 => track.name = value.text(),
                            other => panic!("field {other} of a process"),
                        }
                    }
                }
                4 => {
                    for (field, value) in value.message() {
                        match field {
                            1 => track.pid = Some(value.number() as i64),
                            2 => track.tid = Some(value.number() as i64),
                            5 => track.name = value.text(),
                            other => panic!("field {other} of a thread"),
                        }
                    }
                }
                other => panic!("field {other} of a track"),
            }
        }
        assert!(uuid > 0);
        if let Some(parent) = track.parent {
            assert!(self.decoded.tracks.contains_key(&parent), "{track:?}");
        }
        self.decoded.lines.push(format!(
            "track {uuid} parent {} pid {} tid {} counter {} {}",
            track.parent.unwrap_or(0),
            track.pid.unwrap_or(0),
            track.tid.unwrap_or(0),
            u8::from(track.is_counter),
            quoted(&track.name)
        ));
        let before = self.decoded.tracks.insert(uuid, track);
        assert!(before.is_none(), "track {uuid} is shown twice");
    }

    fn interned(&self, field: u32, iid: u64) -> String {
        let known = self.interned.get(&(field, iid));
        known
            .unwrap_or_else(|| panic!("{field}: {iid} is not interned"))
            .clone()
    }

    fn event(&mut self, at: i64, event: Field<'_>) {
        let mut kind = 0;
        let mut value = None;
        let mut slice = Slice {
            track: 0,
            begin: at,
            end: None,
            name: String::new(),
            category: String::new(),
            arguments: Vec::new(),
            sends: Vec::new(),
            receives: Vec::new(),
        };
        for (field, it) in event.message() {
            match field {
                9 => kind = it.number(),
                11 => slice.track = it.number(),
                10 => slice.name = self.interned(2, it.number()),
                23 => slice.name = it.text(),
                3 => slice.category = self.interned(1, it.number()),
                4 => slice.arguments.push(self.annotation(it)),
                44 => value = Some(f64::from_bits(it.fixed())),
                47 => slice.sends.push(it.fixed()),
                48 => slice.receives.push(it.fixed()),
                other => panic!("field {other} of an event"),
            }
        }
        let track = slice.track;
        let known = &self.decoded.tracks[&track];
        assert_eq!(known.is_counter, kind == 4);
        // Perfetto sorts, but what is sorted already cannot be sorted wrongly.
        let last = self.last.entry(track).or_insert(i64::MIN);
        assert!(*last <= at, "track {track} goes back from {last} to {at}");
        *last = at;
        self.decoded.lines.push(line(kind, &slice, value));
        let open = self.open.entry(track).or_default();
        match kind {
            1 => {
                open.push(self.decoded.slices.len());
                self.decoded.slices.push(slice);
            }
            2 => {
                let begun = open.pop().expect("something that has begun");
                self.decoded.slices[begun].end = Some(at);
            }
            3 => self.decoded.instants.push(slice),
            4 => self.decoded.counts.push((track, at, value.unwrap())),
            other => panic!("an event of type {other}"),
        }
    }

    fn annotation(&self, annotation: Field<'_>) -> (String, String) {
        let annotation = annotation.message();
        let [(name_field, name), (field, value)] = annotation[..] else {
            panic!("{annotation:?}");
        };
        let name = match name_field {
            1 => self.interned(3, name.number()),
            10 => name.text(),
            other => panic!("field {other} of an annotation"),
        };
        let value = match field {
            2 => (value.number() != 0).to_string(),
            4 => (value.number() as i64).to_string(),
            5 => format!("{:#x}", value.fixed()),
            6 => value.text(),
            17 => self.interned(29, value.number()),
            other => panic!("field {other} of an annotation"),
        };
        (name, value)
    }

    fn bundle(&mut self, bundle: Field<'_>) {
        let bundle = bundle.message();
        let (1, cpu) = bundle[0] else {
            panic!("a bundle says its CPU first");
        };
        let cpu = cpu.number();
        for (field, event) in &bundle[1..] {
            assert_eq!(*field, 2);
            let event = event.message();
            let [(1, at), (2, pid), (what, details)] = event[..] else {
                panic!("{event:?}");
            };
            let (at, pid) = (at.number() as i64, pid.number());
            let details = details.message();
            let number = |place: usize| details[place].1.number() as i64;
            let line = match what {
                4 => {
                    let switch = Switch {
                        cpu,
                        at,
                        previous: (number(1), details[0].1.text()),
                        state: number(3),
                        next: (number(5), details[4].1.text()),
                    };
                    assert_eq!(switch.previous.0 as u64, pid);
                    let line = format!(
                        "switch {cpu} {at} {} {} {} {} {}",
                        switch.previous.0,
                        quoted(&switch.previous.1),
                        switch.state,
                        switch.next.0,
                        quoted(&switch.next.1)
                    );
                    self.decoded.switches.push(switch);
                    line
                }
                20 => {
                    self.decoded.wakings.push((cpu, at, number(1)));
                    let name = quoted(&details[0].1.text());
                    format!("waking {cpu} {at} {} {name} {}", number(1), number(4))
                }
                other => panic!("field {other} of an ftrace event"),
            };
            self.decoded.lines.push(line);
        }
    }
}

fn line(kind: u64, slice: &Slice, value: Option<f64>) -> String {
    let mut line = format!("event {kind} {} {}", slice.track, slice.begin);
    line += &format!(" {} {}", quoted(&slice.category), quoted(&slice.name));
    for (key, value) in &slice.arguments {
        line += &format!(" {}={}", quoted(key), quoted(value));
    }
    for id in &slice.sends {
        line += &format!(" >{id}");
    }
    for id in &slice.receives {
        line += &format!(" <{id}");
    }
    if let Some(value) = value {
        line += &format!(" {:#x}", value.to_bits());
    }
    line
}
