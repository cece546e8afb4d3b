//! Any bytes as a stream file of a few fixed traces: whatever is decoded, the interpreter reads the same.
//!
//! The first byte of the input chooses the schema; the rest is the file.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use rostrace_ctf::schema::{ByteOrder, Clock, Schema, Uuid};
use rostrace_ctf::value::Value;
use rostrace_ctf::writer::{EventRecord, Others, PacketEnd, PacketStart, PacketWriter};
use rostrace_ctf::{StreamBytes, TraceSet, metadata};
use rostrace_testkit::agreement::compare;
use rostrace_testkit::lttng::{Alignment, Context, Element, Field, HeaderForm, Kind, LttngSchema};

use super::Target;
use super::schemas::{EVERYTHING_OF_CTF_1, EVERYTHING_OF_CTF_2};

pub(super) const TARGET: Target = Target {
    name: "packet",
    run,
    seeds,
    dictionary: &["\u{1f}\u{fc}", "ZZZZZZZZZZZZZZZZ", "\0\0\0\0\0\0\0\0"],
};

const UUID: Uuid = Uuid(*b"ZZZZZZZZZZZZZZZZ");

static SCHEMAS: LazyLock<Vec<Arc<Schema>>> = LazyLock::new(|| {
    let read = |text: &str| {
        metadata::read(text.as_bytes())
            .expect("good metadata")
            .schema
    };
    let schemas = [
        lttng(ByteOrder::Little, Alignment::Packed, HeaderForm::Large),
        lttng(ByteOrder::Little, Alignment::Natural, HeaderForm::Large),
        lttng(ByteOrder::Big, Alignment::Packed, HeaderForm::Compact),
        lttng(ByteOrder::Little, Alignment::Natural, HeaderForm::Compact),
        read(EVERYTHING_OF_CTF_1),
        read(EVERYTHING_OF_CTF_2),
    ];
    schemas.into_iter().map(Arc::new).collect()
});

fn lttng(order: ByteOrder, alignment: Alignment, form: HeaderForm) -> Schema {
    LttngSchema::new(UUID, order, alignment, Clock::implicit("monotonic"))
        .stream(form, &[Context::Vpid, Context::Procname])
        .event("p:numbers", 13, &numbers())
        .event(
            "p:texts",
            13,
            &[
                Field::string("name"),
                Field::new("points", Kind::Sequence(Element::unsigned(64))),
                Field::new("text", Kind::TextSequence),
                Field::one("real", Element::Double),
            ],
        )
        .build()
}

fn numbers() -> [Field; 3] {
    [
        Field::unsigned("small", 8),
        Field::address("address"),
        Field::new("array", Kind::Array(2, Element::signed(16))),
    ]
}

fn run(data: &[u8]) {
    let Some((first, file)) = data.split_first() else {
        return;
    };
    let schema = &SCHEMAS[usize::from(*first) % SCHEMAS.len()];
    let file = StreamBytes {
        name: PathBuf::from("stream"),
        bytes: file.to_vec(),
        index: None,
    };
    let set = TraceSet::in_memory(Arc::clone(schema), vec![file]);
    if let Err(error) = compare(&set, |_, _| true) {
        panic!("{error}");
    }
}

/// Two good packets of each of LTTng's schemas, and a little of the others.
fn seeds(_: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut seeds = Vec::new();
    for (number, schema) in SCHEMAS.iter().enumerate().take(4) {
        let mut seed = vec![number as u8];
        for sequence in 0..2 {
            seed.extend(packet(schema, sequence).map_err(io::Error::other)?);
        }
        seeds.push(seed);
    }
    let ctf_1 = [
        &[4][..],
        &[0xC1, 0xFC, 0x1F, 0xC1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9],
        &[1, 0x80, 2, 0, 0, 1, 2],
        &[
            0x00, 0x21, 0x23, 0x45, 0x67, 0x89, 0xAB, b's', 0, 0, 0, 0, 0, 0,
        ],
        &[1; 40],
    ];
    seeds.push(ctf_1.concat());
    let compact = [
        &[4][..],
        &[0xC1, 0xFC, 0x1F, 0xC1, 1, 1],
        &[0x00, 0, 0, 7, 0xAA, b'x', 0],
        &[0xF8, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 9, 1],
        &[0; 16],
    ];
    seeds.push(compact.concat());
    let ctf_2 = [
        &[5][..],
        &[0x80, 1, 1, 2, 100],
        &[1, 5, 3, 0, 0, 0, 0x8F, b'a', b'b', b'c', 0x35, 0x21],
        &[
            0, 9, 0, 0xAA, 0x55, 0x7F, b'x', 0, 0, 0, 0, 0, 0, b'y', 1, 2, 3,
        ],
        &[7; 32],
    ];
    seeds.push(ctf_2.concat());
    Ok(seeds)
}

fn packet(
    schema: &Arc<Schema>,
    sequence: u64,
) -> Result<Vec<u8>, rostrace_ctf::writer::WriteError> {
    let begin = 1000 * sequence;
    let start = PacketStart {
        begin,
        sequence,
        context: Others::Named(&[("cpu_id", Value::Unsigned(1))]),
        ..PacketStart::default()
    };
    let mut writer = PacketWriter::begin(Arc::clone(schema), 0, 1, 0, start)?;
    let common = Value::Struct(vec![Value::Signed(42), Value::text("talker")]);
    let payloads = [
        Value::Struct(vec![
            Value::Unsigned(1),
            Value::Unsigned(0x7FFF_1234_5678),
            Value::Array(vec![Value::Signed(-1), Value::Signed(1)]),
        ]),
        Value::Struct(vec![
            Value::text("/chatter"),
            Value::Unsigned(2),
            Value::Array(vec![Value::Unsigned(1), Value::Unsigned(2)]),
            Value::Unsigned(3),
            Value::text("abc"),
            Value::Float(1.5),
        ]),
    ];
    for (number, step) in [(0, 1), (1, 5), (0, 1 << 40)] {
        writer.event(&EventRecord {
            event: number,
            time: begin + step,
            header: None,
            common_context: Some(&common),
            specific_context: None,
            payload: Some(&payloads[number]),
        })?;
    }
    let end = PacketEnd {
        end: begin + (1 << 40),
        discarded: sequence,
    };
    Ok(writer.finish(end, 64)?.bytes)
}
