//! Reads the metadata of every recording at hand: the conformance suite and real traces of several tracers.

use std::path::{Path, PathBuf};

use rostrace_ctf::metadata::{self, Metadata, MetadataError};
use rostrace_ctf::schema::{
    Base, ByteOrder, FieldClass, Length, Origin, Role, Slot, Struct, Version,
};

use rostrace_testkit::recordings::{metadata_files, shared};

fn read(path: &Path) -> Result<Metadata, MetadataError> {
    metadata::read(&std::fs::read(path).expect("a file that can be read"))
}

fn all_read(folder: &Path, at_least: usize) {
    let files = metadata_files(folder);
    let count = files.len();
    assert!(count >= at_least, "only {count} in {folder:?}");
    let fault = |path: &PathBuf| {
        let what = match read(path) {
            Err(error) => error.to_string(),
            Ok(metadata) => format!("cut short: {}", metadata.cut_short?),
        };
        Some(format!("{}: {what}", path.display()))
    };
    let faults: Vec<String> = files.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_good_case_of_the_suite_and_every_recording_of_a_real_tracer_is_read() {
    let Some(shared) = shared("ctf-suite") else {
        return;
    };
    all_read(&shared.join("ctf-suite/1/succeed"), 222);
    all_read(&shared.join("ctf-suite/2/succeed"), 356);
    all_read(&shared.join("traces"), 40);
}

#[test]
fn every_bad_case_of_the_suite_is_refused_for_its_reason() {
    let Some(shared) = shared("ctf-suite") else {
        return;
    };
    for (case, reason) in [
        ("1/fail/empty-metadata", "the metadata is empty"),
        ("1/fail/fail1", "CTF version 0.1"),
        ("1/fail/fail2", "escape sequence"),
        ("1/fail/integer-range", "does not fit 64 bits"),
        (
            "1/fail/invalid-sequence-length-field-class",
            "a length must be an unsigned integer, but 'len' is a structure",
        ),
        (
            "1/fail/invalid-variant-selector-field-class",
            "must be an enumeration, but 'selector' is a structure",
        ),
        ("1/fail/live-invalid-metadata", "found the keyword 'trace'"),
        ("1/fail/lttng-modules-2.0-pre1", "metadata packet at byte 0"),
        ("1/fail/metadata-syntax-error", "found ']'"),
        ("1/fail/packet-based-metadata", "metadata packet at byte 0"),
        ("1/fail/smalltrace", "CTF version 0.1"),
        ("2/fail/meta-no-stream-cls", "no data stream class"),
        (
            "2/fail/meta-no-trace-cls-no-stream-cls",
            "no data stream class",
        ),
    ] {
        let path = shared.join("ctf-suite").join(case).join("metadata");
        let error = read(&path).expect_err(case).to_string();
        assert!(error.contains(reason), "{case}: {error}");
    }
    // The line that babeltrace gives.
    let path = shared.join("ctf-suite/1/fail/metadata-syntax-error/metadata");
    assert_eq!(read(&path).unwrap_err().line, 3);
}

#[test]
fn the_text_is_that_of_the_packets_without_their_framing() {
    let Some(shared) = shared("ctf-suite") else {
        return;
    };
    let folder = shared.join("ctf-suite/1/succeed");
    for case in ["crlf-metadata", "lf-metadata"] {
        let text = read(&folder.join(case).join("metadata")).unwrap().text;
        let expected =
            std::fs::read_to_string(folder.join(format!("{case}.metadata-text.expect"))).unwrap();
        assert_eq!(text.replace("\r\n", "\n").trim(), expected.trim(), "{case}");
    }
}

#[test]
fn a_twin_in_ctf_2_has_the_same_events_as_the_original() {
    let Some(shared) = shared("ctf-suite") else {
        return;
    };
    let mut twins = 0;
    for path in metadata_files(&shared.join("ctf-suite/2/succeed")) {
        let original = PathBuf::from(
            path.to_string_lossy()
                .replace("ctf-suite/2/", "ctf-suite/1/"),
        );
        if path.to_string_lossy().contains("/field-") || !original.exists() {
            continue;
        }
        let names = |path: &Path| -> Vec<_> {
            let schema = read(path).unwrap().schema;
            let mut names = Vec::new();
            for stream in schema.streams {
                for event in stream.events {
                    let members = event.payload.iter().flat_map(|fields| &fields.members);
                    let members: Vec<String> = members.map(|it| it.name.to_string()).collect();
                    names.push((stream.id, event.id, event.name, event.log_level, members));
                }
            }
            names.sort();
            names
        };
        assert_eq!(names(&path), names(&original), "{}", path.display());
        twins += 1;
    }
    assert!(twins >= 20, "only {twins} twins");
}

/// Role, clock and slot of an integer member.
fn marks(structure: &Struct, name: &str) -> (Option<Role>, bool, Option<Slot>) {
    match &structure.member(name).expect(name).class {
        FieldClass::Integer(integer) => (integer.role, integer.updates_clock, integer.slot),
        other => panic!("{name} should be an integer, but is {other:?}"),
    }
}

#[test]
fn the_metadata_of_lttng_ust_is_understood_to_the_last_field() {
    let Some(shared) = shared("ctf-suite") else {
        return;
    };
    let path = shared.join("traces/jazzy/pingpong/ust/uid/0/64-bit/metadata");
    let Metadata {
        schema,
        warnings,
        cut_short,
        ..
    } = read(&path).unwrap();
    assert_eq!((warnings, cut_short), (vec![], None));
    assert_eq!(schema.version, Version::Ctf1);
    assert_eq!(schema.byte_order, ByteOrder::Little);
    let uuid = schema.uuid.unwrap().to_string();
    assert_eq!(uuid, "0223d77e-25aa-4756-8349-f19f25f43bf9");
    assert_eq!(schema.environment_text("tracer_name"), Some("lttng-ust"));
    assert_eq!(schema.environment_integer("tracer_minor"), Some(13));
    assert_eq!(schema.environment[0].0, "domain");
    assert_eq!(schema.environment_text("domain"), Some("ust"));
    let clock = &schema.clocks[0];
    assert_eq!(clock.id, "monotonic");
    assert_eq!(clock.frequency, 1_000_000_000);
    assert_eq!(clock.offset_cycles, 1_794_710_679_342_145_156);
    assert_eq!(clock.origin, Origin::UnixEpoch);

    let header = schema.packet_header.as_ref().unwrap();
    assert_eq!(schema.packet_header_uuid, Some(1));
    for (name, role) in [
        ("magic", Role::PacketMagic),
        ("stream_id", Role::StreamClassId),
        ("stream_instance_id", Role::StreamInstanceId),
    ] {
        assert_eq!(marks(header, name), (Some(role), false, None), "{name}");
    }

    assert_eq!(schema.streams.len(), 1);
    let stream = &schema.streams[0];
    assert_eq!(stream.clock, Some(0));
    let context = stream.packet_context.as_ref().unwrap();
    for (name, role, updates_clock) in [
        ("timestamp_begin", Some(Role::TimestampBegin), true),
        ("timestamp_end", Some(Role::TimestampEnd), false),
        ("content_size", Some(Role::ContentSize), false),
        ("packet_size", Some(Role::PacketSize), false),
        ("packet_seq_num", Some(Role::PacketSequence), false),
        ("events_discarded", Some(Role::EventsDiscarded), false),
        ("cpu_id", None, false),
    ] {
        assert_eq!(marks(context, name), (role, updates_clock, None), "{name}");
    }

    let header = stream.event_header.as_ref().unwrap();
    assert_eq!(header.align, 8);
    let id = (Some(Role::EventId), false, Some(Slot(0)));
    assert_eq!(marks(header, "id"), id);
    let FieldClass::Variant {
        selector,
        selector_signed,
        options,
    } = &header.member("v").unwrap().class
    else {
        panic!("should be a variant")
    };
    assert_eq!((*selector, *selector_signed), (Slot(0), false));
    let ranges: Vec<_> = options
        .iter()
        .map(|option| (&*option.name, option.ranges[0].low, option.ranges[0].high))
        .collect();
    assert_eq!(ranges, [("compact", 0, 65534), ("extended", 65535, 65535)]);
    let FieldClass::Struct(extended) = &options[1].class else {
        panic!("should be a structure")
    };
    assert_eq!(marks(extended, "id"), (Some(Role::EventId), false, None));
    let time = (Some(Role::Timestamp), true, None);
    assert_eq!(marks(extended, "timestamp"), time);

    let context = stream.event_context.as_ref().unwrap();
    assert_eq!(&*context.members[2].original_name, "_procname");
    assert!(matches!(
        context.member("procname").unwrap().class,
        FieldClass::Text {
            length: Length::Fixed(17),
            ..
        }
    ));

    let event = stream
        .events
        .iter()
        .find(|event| event.name.as_deref() == Some("ros2:rmw_publisher_init"))
        .unwrap();
    assert_eq!((event.id, event.log_level), (2, Some(13)));
    let payload = event.payload.as_ref().unwrap();
    let FieldClass::Integer(handle) = &payload.member("rmw_publisher_handle").unwrap().class else {
        panic!("should be an integer")
    };
    assert_eq!(handle.base, Base::Hexadecimal);
    let bits = handle.bits().unwrap();
    assert_eq!((bits.size, bits.align), (64, 8));
    assert!(matches!(
        payload.member("gid").unwrap().class,
        FieldClass::Array {
            length: Length::Fixed(24),
            align: 8,
            ..
        }
    ));
    assert_eq!(schema.slots, 1);
}

#[test]
fn any_cut_of_real_metadata_is_read_or_refused_and_never_longer_than_the_whole() {
    let Some(shared) = shared("ctf-suite") else {
        return;
    };
    let path = shared.join("traces/ust/ust-2.13-fields/ust/uid/0/64-bit/metadata");
    let bytes = std::fs::read(path).unwrap();
    let whole = metadata::read(&bytes).unwrap();
    let mut last = 0;
    for length in (0..whole.text.len()).step_by(7) {
        let Ok(part) = metadata::read(&whole.text.as_bytes()[..length]) else {
            continue;
        };
        let count = part.schema.declarations();
        assert!(last <= count && count <= whole.schema.declarations());
        last = count;
        let complete = whole.text[..length].trim_end().ends_with(';');
        assert!(complete || part.cut_short.is_some(), "cut at {length}");
    }
    assert!(last + 1 >= whole.schema.declarations());
}
