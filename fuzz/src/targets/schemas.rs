//! Metadata with everything that CTF 1.8 and CTF 2 have, for the targets that need a schema.

/// Every field class; lengths and tags of packet, header, context and payload; bit fields that meet inside bytes.
pub(super) const EVERYTHING_OF_CTF_1: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 16; align = 16; } := u16;
typealias integer { size = 64; align = 64; } := u64;
typealias integer { size = 5; align = 1; } := u5;
trace {
    major = 1; minor = 8; byte_order = be;
    packet.header := struct { integer { size = 32; align = 8; } magic; u8 stream_id; u8 stream_instance_id; };
};
clock { name = c; freq = 1000; offset_s = 5; absolute = true; };
stream {
    id = 0;
    packet.context := struct {
        integer { size = 64; align = 8; map = clock.c.value; } timestamp_begin;
        integer { size = 16; align = 8; } content_size; integer { size = 16; align = 8; } packet_size;
        u8 events_discarded; u8 packet_seq_num; u8 packet_length; };
    event.header := struct { u5 id; integer { size = 11; map = clock.c.value; } timestamp; };
    event.context := struct { u5 common; };
};
event { name = "flat"; id = 0; stream_id = 0;
    fields := struct { u5 a; u5 b[3]; integer { size = 33; signed = true; } c; string d; u64 e;
        floating_point { exp_dig = 8; mant_dig = 24; align = 32; } f; floating_point { exp_dig = 11; mant_dig = 53; } g;
        integer { size = 8; align = 8; encoding = UTF8; } h[4]; u16 i[stream.packet.context.packet_length]; u8 j; }; };
event { name = "nested"; id = 1; stream_id = 0;
    context := struct { u8 length; };
    fields := struct { enum : u5 { A, B, C = 5 ... 9, D = 31 } tag;
        variant <tag> { u5 A; struct { u64 x; string y; } B; u8 C[event.context.length]; struct { } align(32) D; } v;
        struct { u8 n; string s[n]; struct { } empty[n]; } list[event.context.length]; u5 end; }; };
event { name = "empty"; id = 2; stream_id = 0; };
stream { id = 1;
    event.header := struct {
        enum : integer { size = 5; } { compact = 0 ... 30, extended = 31 } id;
        variant <id> {
            struct { integer { size = 27; map = clock.c.value; } timestamp; } compact;
            struct { integer { size = 32; align = 8; } id; integer { size = 64; align = 8; map = clock.c.value; } timestamp; } extended;
        } v; } align(8); };
event { name = "compact"; id = 0; stream_id = 1; fields := struct { integer { size = 8; byte_order = le; } x; string s; }; };
event { name = "extended"; id = 40; stream_id = 1; fields := struct { u8 n; u64 x[n]; }; };
"#;

/// Variable-length integers, optional fields, booleans, bit maps, BLOBs, other encodings, mirrored bits.
pub(super) const EVERYTHING_OF_CTF_2: &str = "\u{1e}{\"type\":\"preamble\",\"version\":2}
\u{1e}{\"type\":\"field-class-alias\",\"name\":\"u8\",\"field-class\":{\"type\":\"fixed-length-unsigned-integer\",\"length\":8,\"alignment\":8,\"byte-order\":\"little-endian\"}}
\u{1e}{\"type\":\"field-class-alias\",\"name\":\"b3\",\"field-class\":{\"type\":\"fixed-length-bit-array\",\"length\":3,\"byte-order\":\"big-endian\",\"bit-order\":\"first-to-last\"}}
\u{1e}{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":1000000000,\"origin\":\"unix-epoch\"}
\u{1e}{\"type\":\"data-stream-class\",\"default-clock-class-id\":\"c\",\"packet-context-field-class\":{\"type\":\"structure\",\"member-classes\":[
{\"name\":\"size\",\"field-class\":{\"type\":\"fixed-length-unsigned-integer\",\"length\":16,\"byte-order\":\"little-endian\",\"roles\":[\"packet-total-length\"]}},
{\"name\":\"has\",\"field-class\":{\"type\":\"fixed-length-boolean\",\"length\":8,\"byte-order\":\"little-endian\"}},
{\"name\":\"maybe\",\"field-class\":{\"type\":\"optional\",\"field-class\":\"u8\",\"selector-field-location\":{\"path\":[\"has\"]}}},
{\"name\":\"end\",\"field-class\":{\"type\":\"variable-length-unsigned-integer\",\"roles\":[\"packet-end-default-clock-timestamp\"]}}]},
\"event-record-header-field-class\":{\"type\":\"structure\",\"member-classes\":[
{\"name\":\"id\",\"field-class\":{\"type\":\"variable-length-unsigned-integer\",\"roles\":[\"event-record-class-id\"]}},
{\"name\":\"time\",\"field-class\":{\"type\":\"variable-length-unsigned-integer\",\"roles\":[\"default-clock-timestamp\"]}}]}}
\u{1e}{\"type\":\"event-record-class\",\"id\":0,\"name\":\"flat\",\"payload-field-class\":{\"type\":\"structure\",\"minimum-alignment\":16,\"member-classes\":[
{\"name\":\"bits\",\"field-class\":\"b3\"},{\"name\":\"more\",\"field-class\":{\"type\":\"static-length-array\",\"length\":3,\"element-field-class\":\"b3\"}},
{\"name\":\"map\",\"field-class\":{\"type\":\"fixed-length-bit-map\",\"length\":4,\"byte-order\":\"big-endian\",\"flags\":{\"x\":[[0,1]]}}},
{\"name\":\"signed\",\"field-class\":{\"type\":\"variable-length-signed-integer\"}},
{\"name\":\"text\",\"field-class\":{\"type\":\"null-terminated-string\",\"encoding\":\"utf-16le\"}},
{\"name\":\"fixed\",\"field-class\":{\"type\":\"static-length-string\",\"length\":7,\"encoding\":\"utf-32be\"}},
{\"name\":\"blob\",\"field-class\":{\"type\":\"dynamic-length-blob\",\"length-field-location\":{\"origin\":\"packet-context\",\"path\":[\"maybe\"]}}},
{\"name\":\"real\",\"field-class\":{\"type\":\"fixed-length-floating-point-number\",\"length\":64,\"byte-order\":\"big-endian\",\"alignment\":32}}]}}
\u{1e}{\"type\":\"event-record-class\",\"id\":1,\"payload-field-class\":{\"type\":\"structure\",\"member-classes\":[
{\"name\":\"n\",\"field-class\":{\"type\":\"variable-length-unsigned-integer\"}},
{\"name\":\"list\",\"field-class\":{\"type\":\"dynamic-length-array\",\"minimum-alignment\":32,\"length-field-location\":{\"path\":[\"n\"]},\"element-field-class\":{\"type\":\"structure\",\"member-classes\":[
{\"name\":\"tag\",\"field-class\":{\"type\":\"fixed-length-signed-integer\",\"length\":3,\"byte-order\":\"big-endian\"}},
{\"name\":\"v\",\"field-class\":{\"type\":\"variant\",\"selector-field-location\":{\"path\":[\"tag\"]},\"options\":[
{\"field-class\":\"b3\",\"selector-field-ranges\":[[-4,-1]]},
{\"field-class\":{\"type\":\"dynamic-length-string\",\"length-field-location\":{\"path\":[null,\"n\"]}},\"selector-field-ranges\":[[0,1]]},
{\"field-class\":{\"type\":\"structure\"},\"selector-field-ranges\":[[2,2]]}]}}]}}}]}}
";
