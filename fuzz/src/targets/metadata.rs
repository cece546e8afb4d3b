//! Any bytes as a metadata file: read or refused, and what was read can be compiled and printed.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rostrace_ctf::{TraceSet, metadata};

use super::Target;
use super::schemas::{EVERYTHING_OF_CTF_1, EVERYTHING_OF_CTF_2};

pub(super) const TARGET: Target = Target {
    name: "metadata",
    run,
    seeds,
    dictionary: DICTIONARY,
};

pub(super) const DICTIONARY: &[&str] = &[
    "/* CTF 1.8 */",
    "trace { major = 1; minor = 8; byte_order = le; };",
    "packet.header := struct {",
    "packet.context := struct {",
    "event.header := struct {",
    "event.context := struct {",
    "context := struct {",
    "fields := struct {",
    "typealias integer { size = 8; align = 8; } := u8;",
    "integer { size = 64; align = 1; signed = true; }",
    "floating_point { exp_dig = 8; mant_dig = 24; }",
    "enum : u8 { A, B = 3 ... 5, } ",
    "variant <tag> { u8 A; string B; } v;",
    "struct { } align(64) x;",
    "string { encoding = UTF8; } s;",
    "u8 a[4294967295];",
    "u8 a[length];",
    "map = clock.c.value;",
    "stream.packet.context.",
    "env.",
    "};",
    "18446744073709551615",
    "9223372036854775808",
    "\u{1e}{\"type\":\"preamble\",\"version\":2}\n",
    "\"field-class\":{\"type\":\"",
    "\"fixed-length-unsigned-integer\",\"length\":8,\"byte-order\":\"big-endian\"",
    "\"variable-length-signed-integer\"",
    "\"null-terminated-string\",\"encoding\":\"utf-16le\"",
    "\"dynamic-length-array\",\"length-field-location\":{\"path\":[\"",
    "\"optional\",\"selector-field-location\":",
    "\"variant\",\"options\":[",
    "\"minimum-alignment\":",
    "\"origin\":\"event-record-header\"",
    "\"roles\":[\"",
    "null",
];

fn run(data: &[u8]) {
    let Ok(metadata) = metadata::read(data) else {
        return;
    };
    TraceSet::in_memory(Arc::new(metadata.schema), Vec::new());
}

fn seeds(testdata: &Path) -> io::Result<Vec<Vec<u8>>> {
    let recording = std::fs::read(testdata.join("pingpong/ust/uid/0/64-bit/metadata"))?;
    Ok(vec![
        EVERYTHING_OF_CTF_1.into(),
        EVERYTHING_OF_CTF_2.into(),
        recording,
    ])
}
