//! Compares the compiled decoder with the interpreter, over all packets of a trace.
//!
//! Two ways lead to a value: `values()`, and the leaves of the layout. Both must say what the interpreter says.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rostrace_ctf::schema::FieldClass;
use rostrace_ctf::{
    Conversion, Cursor, EventView, Layout, Leaf, LeafType, Packet, Raw, Scope, Survey, Trace,
    TraceSet, Value,
};

use crate::interpret::{self, Interpreter};

/// How much was compared.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    /// All events, compared or not.
    pub events: u64,
    pub packets: u64,
    pub packets_compared: u64,
    pub events_compared: u64,
}

/// A packet, by file and offset.
type PacketKey = (PathBuf, u64);

/// One event as the compiled decoder reads it.
#[derive(Debug)]
struct Decoded {
    class: usize,
    begin: u64,
    end: u64,
    time: u64,
    scopes: Vec<(Scope, Value)>,
    /// What the leaves that have a flat form say.
    leaves: Vec<Option<Value>>,
}

/// Values of one event in the order of the leaves; absent for those without a flat form.
type LeafValues = Vec<Option<Value>>;

/// Compares the packets that are wanted; counts all.
pub fn compare(
    set: &TraceSet,
    wanted: impl Fn(&Trace, &Packet) -> bool,
) -> Result<Compared, String> {
    let mut decoded: BTreeMap<PacketKey, Vec<Decoded>> = BTreeMap::new();
    let mut compared = Compared::default();
    let mut cursor = Cursor::new(set, Conversion::Exact);
    while let Some(event) = cursor.next() {
        compared.events += 1;
        let (trace, packet) = (event.trace(), event.packet());
        if !wanted(trace, packet) {
            continue;
        }
        let one = decode(&event)?;
        let key = (trace.path_of_packet(packet).to_owned(), packet.offset);
        decoded.entry(key).or_default().push(one);
    }
    for trace in &set.traces {
        for stream in &trace.streams {
            let mut clock = Some(0);
            for packet in &stream.packets {
                compared.packets += 1;
                if !wanted(trace, packet) {
                    clock = clock.filter(|_| !stream.sequential);
                    continue;
                }
                // Behind a packet that is damaged nobody knows the time.
                let Some(before) = clock else { break };
                let key = (trace.path_of_packet(packet).to_owned(), packet.offset);
                let found = decoded.remove(&key).unwrap_or_default();
                let after = packet_agrees(trace, packet, before, &found)
                    .map_err(|error| format!("{} at byte {}: {error}", key.0.display(), key.1))?;
                clock = after.or(if stream.sequential { None } else { Some(0) });
                compared.packets_compared += 1;
                compared.events_compared += found.len() as u64;
            }
        }
    }
    counts_agree(set, compared.events)?;
    Ok(compared)
}

fn decode(event: &EventView<'_>) -> Result<Decoded, String> {
    let place = event.event();
    let scopes = event
        .values()
        .map_err(|reason| format!("an event that was followed has no values: {reason}"))?;
    let layout = event.layout();
    let leaves = (0..layout.leaves.len())
        .map(|leaf| flat_value(&layout.leaves[leaf], event.read(leaf)))
        .collect();
    Ok(Decoded {
        class: place.class as usize,
        begin: place.start,
        end: place.end,
        time: place.time.0,
        scopes,
        leaves,
    })
}

fn flat_value(leaf: &Leaf, raw: Raw<'_>) -> Option<Value> {
    Some(match raw {
        Raw::Number(number) => number_of(&leaf.class, number),
        Raw::Float(number) => Value::Float(number),
        Raw::Bytes(bytes) => bytes_of(leaf, bytes),
        Raw::List(list) => Value::Array(list.iter().map(|raw| element_of(leaf, raw)).collect()),
        Raw::Nested => return None,
    })
}

fn number_of(class: &FieldClass, number: u64) -> Value {
    match class {
        FieldClass::Integer(integer) if integer.signed => Value::Signed(number as i64),
        FieldClass::Boolean { .. } => Value::Boolean(number != 0),
        FieldClass::BitArray(_) | FieldClass::BitMap { .. } => Value::Bits(number),
        _ => Value::Unsigned(number),
    }
}

fn bytes_of(leaf: &Leaf, bytes: &[u8]) -> Value {
    match leaf.class {
        FieldClass::Blob { .. } => Value::Blob(bytes.to_vec()),
        _ => Value::Text(leaf.to_utf8(bytes).into_owned()),
    }
}

fn element_of(leaf: &Leaf, raw: u64) -> Value {
    match (&leaf.class, leaf.shape) {
        (FieldClass::Array { element, .. }, _) => match &**element {
            FieldClass::Float(bits) if bits.size == 32 => {
                Value::Float(rostrace_ctf::value::widen(raw as u32))
            }
            FieldClass::Float(_) => Value::Float(f64::from_bits(raw)),
            element => number_of(element, raw),
        },
        _ => Value::Unsigned(raw),
    }
}

/// What the interpreter says of one packet is what was decoded. Returns the clock behind it, if it ended well.
fn packet_agrees(
    trace: &Trace,
    packet: &Packet,
    clock: u64,
    decoded: &[Decoded],
) -> Result<Option<u64>, String> {
    let data = trace.data(packet);
    let mut interpreter = Interpreter::new(&trace.schema, data, clock);
    let first_event = interpreter.bit_position();
    let roles = interpreter.roles();
    let content = roles.content_size.or(roles.packet_size);
    let mut number = 0;
    for event in &mut interpreter {
        let event = match event {
            Ok(event) => event,
            Err(stop) if stop.position <= first_event && number == 0 && is_about_sizes(&stop) => {
                // The reader makes the best of a packet whose sizes cannot be true.
                return Ok(None);
            }
            Err(stop) => {
                if decoded.len() > number {
                    return Err(format!(
                        "the interpreter stops {stop}, the decoder goes on with event {number} ({:?})",
                        decoded[number]
                    ));
                }
                return Ok(None);
            }
        };
        let Some(found) = decoded.get(number) else {
            let open = content.is_some_and(|content| content > data.len() as u64 * 8);
            let rest = data.get((event.begin / 8) as usize..).unwrap_or_default();
            if open && rest.iter().skip(1).all(|byte| *byte == 0) {
                return Ok(None);
            }
            return Err(format!("event {number} is missing: {event:?}"));
        };
        event_agrees(trace, &event, found)
            .map_err(|error| format!("event {number}: {error}\n{event:?}\n{found:?}"))?;
        number += 1;
    }
    if decoded.len() > number {
        return Err(format!("event {number} is invented: {:?}", decoded[number]));
    }
    Ok(Some(interpreter.clock()))
}

fn is_about_sizes(stop: &interpret::Stop) -> bool {
    matches!(
        stop.reason,
        interpret::StopReason::ContentLargerThanPacket { .. }
            | interpret::StopReason::PacketSizeNotInBytes { .. }
            | interpret::StopReason::ContentEndsInHeaders { .. }
    )
}

fn event_agrees(trace: &Trace, event: &interpret::Event, found: &Decoded) -> Result<(), String> {
    if (event.event, event.begin, event.end) != (found.class, found.begin, found.end) {
        return Err("another class or place".to_owned());
    }
    if event.clock.0 != found.time {
        return Err(format!("the time is {} or {}", event.clock.0, found.time));
    }
    let scopes: Vec<(Scope, Value)> = [
        (Scope::CommonContext, &event.common_context),
        (Scope::SpecificContext, &event.specific_context),
        (Scope::Payload, &event.payload),
    ]
    .into_iter()
    .filter_map(|(scope, value)| Some((scope, value.clone()?)))
    .collect();
    if scopes != found.scopes {
        return Err("other values, field by field".to_owned());
    }
    let layout = &trace.layouts(event.stream)[event.event];
    let class = &trace.schema.streams[event.stream];
    let structures = [
        (&class.event_context, &event.common_context),
        (&class.events[event.event].context, &event.specific_context),
        (&class.events[event.event].payload, &event.payload),
    ];
    let mut expected = Vec::new();
    for (structure, value) in structures {
        if let (Some(structure), Some(value)) = (structure, value) {
            flatten(&FieldClass::Struct(structure.clone()), value, &mut expected);
        }
    }
    leaves_agree(layout, &expected, &found.leaves)
}

/// The values of everything that is no structure, in order.
fn flatten(class: &FieldClass, value: &Value, into: &mut Vec<Value>) {
    match (class, value) {
        (FieldClass::Struct(structure), Value::Struct(values)) => {
            for (member, value) in structure.members.iter().zip(values) {
                flatten(&member.class, value, into);
            }
        }
        _ => into.push(value.clone()),
    }
}

fn leaves_agree(layout: &Layout, expected: &[Value], found: &LeafValues) -> Result<(), String> {
    if expected.len() != found.len() || found.len() != layout.leaves.len() {
        return Err("another number of leaves".to_owned());
    }
    for ((leaf, expected), found) in layout.leaves.iter().zip(expected).zip(found) {
        match found {
            Some(found) if found != expected => {
                return Err(format!(
                    "leaf {} ({:?}) is {found:?}, not {expected:?}",
                    leaf.name, leaf.shape
                ));
            }
            None if leaf.shape != LeafType::Nested => {
                return Err(format!("leaf {} cannot be read", leaf.name));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Cursor and survey see the same number of events.
pub fn counts_agree(set: &TraceSet, events: u64) -> Result<(), String> {
    let survey = Survey::take(set, 2, &|_| true);
    if survey.events != events {
        return Err(format!("the survey counts {}, not {events}", survey.events));
    }
    let of_classes: u64 = survey.classes.iter().map(|class| class.events).sum();
    if of_classes != events {
        return Err(format!("the classes have {of_classes}, not {events}"));
    }
    Ok(())
}
