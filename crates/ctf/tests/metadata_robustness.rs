//! No bytes make the metadata reader panic, loop or take long: random ones, and real texts with random damage.

use std::time::Duration;

use proptest::prelude::*;
use rostrace_ctf::metadata;

/// A text with everything that TSDL can say.
const TSDL: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;
typealias integer { size = 64; } := void *;
typealias integer { size = 32; } := uint8_t *;
trace {
	major = 1; minor = 8; uuid = "0223d77e-25aa-4756-8349-f19f25f43bf9"; byte_order = le;
	packet.header := struct { integer { size = 32; } magic; uint8_t uuid[16]; uint8_t stream_id; };
};
env { tracer_name = "lttng-ust"; count = 3; note = "\x41\101\n"; };
clock { name = "monotonic"; freq = 1000000000; offset = 1794710679342145156; absolute = TRUE; };
typealias integer { size = 27; align = 1; map = clock.monotonic.value; } := uint27_clock_monotonic_t;
struct event_header_compact {
	enum : uint8_t { compact = 0 ... 30, extended = 31 } id;
	variant <id> {
		struct { uint27_clock_monotonic_t timestamp; } compact;
		struct { unsigned long id; unsigned long timestamp; } extended;
	} v;
} align(8);
stream {
	id = 0;
	event.header := struct event_header_compact;
	packet.context := struct { unsigned long timestamp_begin, timestamp_end; unsigned long content_size; };
	event.context := struct { integer { size = 8; encoding = UTF8; } _procname[17]; };
};
variant choice { uint8_t A; string _B; floating_point { exp_dig = 8; mant_dig = 24; } C; };
typedef uint8_t pair[2], *pointer;
event {
	name = "ros2:rcl_init"; id = 0; stream_id = 0; loglevel = 13; model.emf.uri = "http://x";
	fields := struct {
		void *_handle; pair _pairs[env.count]; uint8_t __n; string _texts[__n];
		enum named : uint8_t { A, _B = -1, "C" = 5 ... 7, } _tag;
		variant choice <event.fields._tag> _choice; // done
		struct { uint8_t n; uint8_t a[n][stream.event.header.v.extended.id]; } _nested;
	};
};
"#;

/// A text with everything that CTF 2 can say.
const JSON: &str = r#"{"type": "preamble", "version": 2, "uuid": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}
{"type": "field-class-alias", "name": "u8", "field-class": {"type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian", "alignment": 8}}
{"type": "trace-class", "name": "t", "environment": {"a": -1, "b": "c"}, "packet-header-field-class": {"type": "structure", "member-classes": [{"name": "m", "field-class": {"type": "fixed-length-unsigned-integer", "length": 32, "byte-order": "big-endian", "roles": ["packet-magic-number"]}}, {"name": "u", "field-class": {"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}}]}}
{"type": "clock-class", "id": "c", "frequency": 1000000000, "origin": "unix-epoch", "offset-from-origin": {"seconds": 5, "cycles": 6}}
{"type": "data-stream-class", "default-clock-class-id": "c", "event-record-header-field-class": {"type": "structure", "member-classes": [{"name": "t", "field-class": {"type": "variable-length-unsigned-integer", "roles": ["default-clock-timestamp"]}}]}}
{"type": "event-record-class", "name": "e", "attributes": {"lttng.org,2009": {"log-level": "debug:line"}}, "payload-field-class": {"type": "structure", "minimum-alignment": 16, "member-classes": [{"name": "n", "field-class": "u8"}, {"name": "s", "field-class": {"type": "dynamic-length-string", "length-field-location": {"path": ["n"]}, "encoding": "utf-16le"}}, {"name": "v", "field-class": {"type": "variant", "selector-field-location": {"origin": "event-record-payload", "path": ["n"]}, "options": [{"selector-field-ranges": [[0, 5]], "field-class": {"type": "structure", "member-classes": [{"name": "a", "field-class": {"type": "dynamic-length-array", "element-field-class": "u8", "length-field-location": {"path": [null, "n"]}}}]}}, {"selector-field-ranges": [[6, 18446744073709551615]], "field-class": {"type": "fixed-length-bit-map", "length": 8, "byte-order": "big-endian", "flags": {"x": [[0, 3]]}}}]}}, {"name": "o", "field-class": {"type": "optional", "selector-field-location": {"path": ["n"]}, "selector-field-ranges": [[1, 1]], "field-class": "u8"}}]}}
"#;

fn json() -> Vec<u8> {
    JSON.lines()
        .flat_map(|line| format!("\x1E{line}\n").into_bytes())
        .collect()
}

/// TSDL in two packets.
fn packets() -> Vec<u8> {
    let (first, second) = TSDL.as_bytes().split_at(TSDL.len() / 2);
    [first, second]
        .iter()
        .flat_map(|text| {
            let bits = ((text.len() + 37) * 8) as u32;
            let mut packet = 0x75D1_1D57u32.to_le_bytes().to_vec();
            packet.extend([7; 16]);
            packet.extend([0; 4]);
            packet.extend(bits.to_le_bytes());
            packet.extend((bits + 80).to_le_bytes());
            packet.extend([0, 0, 0, 1, 8]);
            packet.extend(*text);
            packet.extend([0; 10]);
            packet
        })
        .collect()
}

fn read_quickly(bytes: &[u8]) {
    let started = computed();
    let _ = metadata::read(bytes);
    assert!(computed() - started < Duration::from_secs(2));
}

#[test]
fn the_texts_are_good_before_they_are_damaged() {
    for bytes in [TSDL.as_bytes().to_vec(), packets(), json()] {
        if let Err(error) = metadata::read(&bytes) {
            panic!("{error}");
        }
    }
}

#[test]
fn every_cut_is_survived() {
    for bytes in [TSDL.as_bytes().to_vec(), packets(), json()] {
        for length in 0..bytes.len() {
            read_quickly(&bytes[..length]);
        }
    }
}

/// Where, and what of it: places are taken modulo the length.
#[derive(Debug, Clone)]
enum Damage {
    Flip(usize, u8),
    Cut(usize),
    Remove(usize, usize),
    Copy(usize, usize, usize),
    Insert(usize, &'static str),
}

/// Pieces of both languages, with `~` between them.
const PIECES: &str = "{~}~;~struct {~[~]~<~>~\"~/*~//~*~(~)~...~-~0xFFFFFFFFFFFFFFFF~typedef~typealias~:=~const~\
    event.fields.~null~[[~1e9~\u{1E}~\0~é";

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<usize>;
    let pieces = prop::sample::select(PIECES.split('~').collect::<Vec<_>>());
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        at().prop_map(Damage::Cut),
        (at(), 0..200usize).prop_map(|(at, length)| Damage::Remove(at, length)),
        (at(), 0..400usize, at()).prop_map(|(from, length, to)| Damage::Copy(from, length, to)),
        (at(), pieces).prop_map(|(at, piece)| Damage::Insert(at, piece)),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    let length = bytes.len();
    let within = |at: usize| at % (length + 1);
    let range = |at: usize, count: usize| within(at)..(within(at) + count).min(length);
    match *damage {
        Damage::Flip(at, bits) => {
            if let Some(byte) = bytes.get_mut(within(at)) {
                *byte ^= bits;
            }
        }
        Damage::Cut(at) => bytes.truncate(within(at)),
        Damage::Remove(at, count) => drop(bytes.drain(range(at, count))),
        Damage::Copy(from, count, to) => {
            let slice = bytes[range(from, count)].to_vec();
            bytes.splice(within(to)..within(to), slice);
        }
        Damage::Insert(at, piece) => {
            bytes.splice(within(at)..within(at), piece.bytes());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), start in 0..4) {
        let mut text: Vec<u8> = match start {
            0 => Vec::new(),
            1 => vec![0x1E],
            2 => vec![0x57, 0x1D, 0xD1, 0x75],
            _ => b"trace { major = 1; minor = 8; byte_order = le; };".to_vec(),
        };
        text.extend(bytes);
        read_quickly(&text);
    }

    #[test]
    fn damaged_tsdl_is_survived(damages in prop::collection::vec(damage(), 1..6)) {
        let mut bytes = TSDL.as_bytes().to_vec();
        damages.iter().for_each(|damage| apply(&mut bytes, damage));
        read_quickly(&bytes);
    }

    #[test]
    fn damaged_packets_are_survived(damages in prop::collection::vec(damage(), 1..6)) {
        let mut bytes = packets();
        damages.iter().for_each(|damage| apply(&mut bytes, damage));
        read_quickly(&bytes);
    }

    #[test]
    fn damaged_ctf_2_is_survived(damages in prop::collection::vec(damage(), 1..6)) {
        let mut bytes = json();
        damages.iter().for_each(|damage| apply(&mut bytes, damage));
        read_quickly(&bytes);
    }
}

/// How long this thread has run so far: what others do on the machine does not count.
fn computed() -> Duration {
    let numbers = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = numbers.split(' ').next().and_then(|it| it.parse().ok());
    Duration::from_nanos(nanoseconds.expect("the kernel counts the time of threads"))
}

/// Large texts that aim at a weak spot: each must be read or refused in a moment.
#[test]
fn hostile_texts_do_not_take_long() {
    let trace = "trace { major = 1; minor = 8; byte_order = le; };
        typealias integer { size = 8; } := u8; typealias integer { size = 64; } := u8 *;\n";
    let count = 20_000;
    let event =
        |members: String| format!("event {{ name = e; fields := struct {{ {members} }}; }};");
    let many = |text: &dyn Fn(usize) -> String| -> String { (0..count).map(text).collect() };
    for (name, text) in [
        (
            "lengths",
            event(many(&|i| format!("u8 n{i}; u8 a{i}[n{i}];"))),
        ),
        (
            "one length",
            event(format!(
                "u8 n; {}",
                many(&|i| format!("u8 a{i}[event.fields.n];"))
            )),
        ),
        ("clocks", many(&|i| format!("clock {{ name = c{i}; }};"))),
        (
            "environment",
            format!("env {{ {} }};", many(&|i| format!("e{i} = {i};"))),
        ),
        (
            "events",
            format!(
                "stream {{ event.header := struct {{ u8 id; }}; }}; {}",
                many(&|i| format!("event {{ name = e; id = {i}; }};"))
            ),
        ),
        ("words", format!("typedef {} x;", "a ".repeat(10 * count))),
        (
            "constants",
            format!("typedef {} u8 x;", "const ".repeat(10 * count)),
        ),
        (
            "stars",
            format!("typedef u8 {} x;", "* ".repeat(10 * count)),
        ),
        (
            "labels",
            event(format!(
                "enum : u8 {{ {} }} t; variant <t> {{ {} }} v;",
                many(&|i| format!("L{i},")),
                many(&|i| format!("u8 L{i};"))
            )),
        ),
        (
            "options on the way",
            event(format!(
                "enum : u8 {{ L0 }} t; variant <t> {{ {} }} v; {}",
                many(&|i| format!("struct {{ u8 n; }} L{i};")),
                many(&|i| format!("u8 a{i}[v.L{i}.n];"))
            )),
        ),
        ("comments", "/* */ ".repeat(10 * count)),
        (
            "minus signs",
            format!("env {{ a = {} 1; }};", "-".repeat(10 * count)),
        ),
    ] {
        let started = computed();
        let _ = metadata::read(format!("{trace}{text}").as_bytes());
        let taken = computed() - started;
        assert!(taken < Duration::from_secs(5), "{name}: {taken:?}");
    }
}
