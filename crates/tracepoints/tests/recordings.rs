//! The table is what traces say: every event of a known provider that any recording declares is in the table, and so is
//! each of its fields, with a type that fits.
//!
//! `testdata/` is always looked at. The larger set lies in a folder `shared` beside the repository (`ROSTRACE_SHARED`
//! names another place). `cargo test -p rostrace-tracepoints --test tests recordings -- --nocapture` shows the events that
//! are in no table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rostrace_ctf::metadata;
use rostrace_ctf::schema::{Base, EventClass, FieldClass, Integer, IntegerForm, Length, Member};
use rostrace_testkit::recordings::{metadata_files, shared, testdata};
use rostrace_tracepoints::{FieldKind, PROVIDERS, Presence, Tracepoint, find};

/// Providers whose numbers have one width.
const STRICT: [&str; 3] = ["ros2", "ros2_caret", "agnocast"];

#[test]
fn the_recordings_of_the_repository_agree_with_the_table() {
    compare(&testdata(), 3);
}

#[test]
fn the_shared_recordings_agree_with_the_table() {
    if let Some(shared) = shared("traces") {
        compare(&shared.join("traces"), 60);
    }
}

/// Compares all traces below a folder, at least so many, with the table.
fn compare(folder: &Path, at_least: usize) {
    let files = metadata_files(folder);
    assert!(
        files.len() >= at_least,
        "only {} in {folder:?}",
        files.len()
    );
    let mut faults = BTreeSet::new();
    let mut unknown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in &files {
        let bytes = std::fs::read(file).expect("a file that can be read");
        let schema = metadata::read(&bytes)
            .expect("metadata that can be read")
            .schema;
        for event in schema.streams.iter().flat_map(|stream| &stream.events) {
            let Some(name) = &event.name else { continue };
            let provider = name.split_once(':').map_or("", |(provider, _)| provider);
            let found = find(name);
            match found {
                Some(tracepoint) => faults.extend(differences(tracepoint, event)),
                None if provider.is_empty() || !is_ours(provider) => {
                    unknown
                        .entry(provider.to_owned())
                        .or_default()
                        .insert(name.clone());
                }
                None => {
                    faults.insert(format!("{name} is not in the table ({})", file.display()));
                }
            }
        }
    }
    for (provider, events) in &unknown {
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        println!("In no table, provider `{provider}`: {}", events.join(" "));
    }
    let faults: Vec<String> = faults.into_iter().collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn is_ours(provider: &str) -> bool {
    PROVIDERS.iter().any(|known| known.name == provider)
}

/// What a trace says of an event and the table does not, and the other way round.
fn differences(tracepoint: &Tracepoint, event: &EventClass) -> Vec<String> {
    let members = event
        .payload
        .as_ref()
        .map_or(&[][..], |payload| &payload.members);
    let mut found = Vec::new();
    for (place, member) in members.iter().enumerate() {
        if is_length_of(member, members.get(place + 1)) {
            continue;
        }
        let mut fields = tracepoint.fields.iter();
        match fields.find(|field| field.is_named(&member.name)) {
            Some(field) if !fits(field.kind, &member.class, tracepoint.provider) => {
                found.push(format!(
                    "{tracepoint}: `{}` is declared as {}, but is {:?}",
                    member.name, field.kind, member.class
                ))
            }
            None if !tracepoint.full_name.ends_with('*') => {
                found.push(format!("{tracepoint}: `{}` is not declared", member.name));
            }
            _ => {}
        }
    }
    for field in tracepoint.fields {
        let there = members.iter().any(|member| field.is_named(&member.name));
        if !there && field.presence == Presence::Always {
            found.push(format!(
                "{tracepoint}: `{}` is not always there",
                field.name
            ));
        }
    }
    found
}

/// LTTng writes the length of a sequence before it, as a field of its own.
fn is_length_of(member: &Member, next: Option<&Member>) -> bool {
    next.is_some_and(|next| *member.name == format!("_{}_length", next.name))
}

fn fits(kind: FieldKind, class: &FieldClass, provider: &str) -> bool {
    let strict = STRICT.contains(&provider);
    match (kind, class) {
        (FieldKind::Pointer, FieldClass::Integer(integer)) => is_pointer(integer),
        (FieldKind::Unsigned, FieldClass::Integer(integer)) => {
            !integer.signed && (!strict || is_plain(integer, 64))
        }
        (FieldKind::Signed, FieldClass::Integer(integer)) => {
            integer.signed && (!strict || is_plain(integer, 64))
        }
        (FieldKind::Flag, FieldClass::Integer(integer)) => {
            !strict || (integer.signed && is_plain(integer, 32))
        }
        (FieldKind::Text, FieldClass::String { .. } | FieldClass::Text { .. }) => true,
        (
            FieldKind::Gid,
            FieldClass::Array {
                length: Length::Fixed(_),
                element,
                ..
            },
        ) => is_byte(element),
        (FieldKind::Pointers, FieldClass::Array { element, .. }) => {
            matches!(&**element, FieldClass::Integer(integer) if is_pointer(integer))
        }
        (FieldKind::Numbers, FieldClass::Array { element, .. }) => {
            matches!(**element, FieldClass::Integer(_))
        }
        (FieldKind::Bytes, FieldClass::Array { element, .. }) => is_byte(element),
        (FieldKind::Real, FieldClass::Float(_)) => true,
        (FieldKind::Reals, FieldClass::Array { element, .. }) => {
            matches!(**element, FieldClass::Float(_))
        }
        (FieldKind::Texts, FieldClass::Array { element, .. }) => {
            matches!(**element, FieldClass::String { .. })
        }
        _ => false,
    }
}

fn size(integer: &Integer) -> Option<u8> {
    match integer.form {
        IntegerForm::Fixed(bits) => Some(bits.size),
        IntegerForm::Variable => None,
    }
}

/// 32 bits on machines of that width.
fn is_pointer(integer: &Integer) -> bool {
    !integer.signed && integer.base == Base::Hexadecimal && matches!(size(integer), Some(32 | 64))
}

fn is_plain(integer: &Integer, bits: u8) -> bool {
    integer.base == Base::Decimal && size(integer) == Some(bits)
}

fn is_byte(class: &FieldClass) -> bool {
    matches!(class, FieldClass::Integer(integer) if !integer.signed && size(integer) == Some(8))
}
