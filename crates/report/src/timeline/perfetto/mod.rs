//! Perfetto's own format, a stream of protobuf packets: what ui.perfetto.dev and trace_processor read.
//!
//! All packets are of one sequence. Times are nanoseconds since 1970 as in all other outputs; they are said to be those of the boot clock, which
//! Perfetto counts in, and a snapshot of clocks says that the wall clock shows the same. So the times in Perfetto's tables are the times in
//! ours. Names and what never changes are interned with the first packet that needs them.

mod interning;
mod protobuf;
mod scheduling;
mod schema;

use std::io;

use rostrace_analyze::{Analysis, Selection};
use rostrace_ctf::Damage;
use rostrace_ctf::schema::Nanos;
use rostrace_model::flow::{UserField, UserValue};

use self::interning::Interning;
use self::protobuf::Message;
use self::scheduling::Bundle;
use self::schema::{
    clock_snapshot, debug_annotation, interned_data, trace, trace_attributes, trace_packet,
    track_descriptor, track_event,
};
use super::counting_writer::CountingWriter;
use super::label::{Fixed, Label, LabelId};
use super::sink::{
    Argument, CounterUnit, Sink, Switch, TimelineEvent, Track, TrackId, TrackKind, Waking,
};
use super::{Written, model};

/// The only sequence of packets.
const SEQUENCE: u64 = 1;

/// Writes what is selected of a trace, in one pass.
pub fn write(
    analysis: &Analysis<'_>,
    selection: &Selection,
    damage: &[Damage],
    out: &mut impl io::Write,
) -> io::Result<Written> {
    let mut perfetto = Perfetto {
        out: CountingWriter::new(out),
        names: Interning::default(),
        categories: Interning::default(),
        keys: Interning::default(),
        values: Interning::default(),
        labels: Vec::new(),
        open: Vec::new(),
        bundle: Bundle::default(),
        named_waker: false,
    };
    perfetto.begin(model::beginning(analysis))?;
    let mut written = model::write_events(analysis, selection, damage, &mut perfetto)?;
    perfetto.flush_bundle()?;
    written.bytes = perfetto.out.end()?;
    Ok(written)
}

struct Perfetto<'o, W> {
    out: CountingWriter<'o, W>,
    names: Interning,
    categories: Interning,
    keys: Interning,
    values: Interning,
    /// By label; nothing if it was not needed yet.
    labels: Vec<Option<Encoded>>,
    /// By track: the ends of slices that have begun, innermost last.
    open: Vec<Vec<Nanos>>,
    bundle: Bundle,
    named_waker: bool,
}

/// What a label is in an event.
#[derive(Debug)]
struct Encoded {
    name: u64,
    /// Category and arguments.
    fields: Vec<u8>,
}

/// Protobuf has them unsigned. A clock that does not count from 1970 may be before its own zero.
fn timestamp(at: Nanos) -> u64 {
    u64::try_from(at.0).unwrap_or(0)
}

/// Zero would mean the default track.
fn uuid(track: TrackId) -> u64 {
    u64::from(track.0) + 1
}

fn append(bytes: &mut Vec<u8>, flags: u64, write: impl FnOnce(&mut Message<'_>)) {
    Message::new(bytes).nested(trace::PACKET, |packet| {
        packet.unsigned(trace_packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
        packet.unsigned(trace_packet::SEQUENCE_FLAGS, flags);
        write(packet);
    });
}

impl<W: io::Write> Perfetto<'_, W> {
    /// A packet that needs what was interned.
    fn packet(&mut self, write: impl FnOnce(&mut Message<'_>)) -> io::Result<()> {
        append(
            &mut self.out.bytes,
            trace_packet::NEEDS_INCREMENTAL_STATE,
            write,
        );
        self.out.flush_if_full()
    }

    /// The first packet: nothing is interned yet, and what the times mean.
    fn begin(&mut self, at: Nanos) -> io::Result<()> {
        let now = timestamp(at);
        let flags = trace_packet::INCREMENTAL_STATE_CLEARED;
        append(&mut self.out.bytes, flags, |packet| {
            packet.flag(trace_packet::FIRST_PACKET_ON_SEQUENCE, true);
            packet.unsigned(trace_packet::TIMESTAMP, now);
            packet.nested(trace_packet::CLOCK_SNAPSHOT, |snapshot| {
                for clock in [clock_snapshot::BOOTTIME, clock_snapshot::REALTIME] {
                    snapshot.nested(clock_snapshot::CLOCKS, |it| {
                        it.unsigned(clock_snapshot::CLOCK_ID, clock);
                        it.unsigned(clock_snapshot::TIMESTAMP, now);
                    });
                }
                let primary = clock_snapshot::BOOTTIME;
                snapshot.unsigned(clock_snapshot::PRIMARY_TRACE_CLOCK, primary);
            });
        });
        self.out.flush_if_full()
    }

    /// Makes sure that a label is interned.
    fn intern(&mut self, id: LabelId, label: &Label) -> io::Result<()> {
        if self.labels.len() <= id.index() {
            self.labels.resize_with(id.index() + 1, || None);
        }
        if self.labels[id.index()].is_some() {
            return Ok(());
        }
        let mut new = Vec::new();
        let mut fields = Vec::new();
        let mut event = Message::new(&mut fields);
        let name = self.names.number(&label.name, |number| {
            entry(&mut new, interned_data::EVENT_NAMES, number, &label.name);
        });
        let category = self.categories.number(label.category, |number| {
            entry(
                &mut new,
                interned_data::EVENT_CATEGORIES,
                number,
                label.category,
            );
        });
        event.unsigned(track_event::CATEGORY_IIDS, category);
        for (key, value) in &label.arguments {
            let key = self.keys.number(key, |number| {
                entry(&mut new, interned_data::DEBUG_ANNOTATION_NAMES, number, key);
            });
            event.nested(track_event::DEBUG_ANNOTATIONS, |annotation| {
                annotation.unsigned(debug_annotation::NAME_IID, key);
                match value {
                    Fixed::Integer(value) => annotation.signed(debug_annotation::INT_VALUE, *value),
                    Fixed::Text(text) => {
                        let field = interned_data::DEBUG_ANNOTATION_STRING_VALUES;
                        let number = (self.values)
                            .number(text, |number| entry(&mut new, field, number, text));
                        annotation.unsigned(debug_annotation::STRING_VALUE_IID, number);
                    }
                }
            });
        }
        self.labels[id.index()] = Some(Encoded { name, fields });
        self.packet(|packet| packet.bytes(trace_packet::INTERNED_DATA, &new))
    }

    /// Makes sure that the names of arguments are interned, and their texts.
    fn intern_arguments(&mut self, arguments: &[(&'static str, Argument<'_>)]) -> io::Result<()> {
        let mut new = Vec::new();
        for (key, value) in arguments {
            self.keys.number(key, |number| {
                entry(&mut new, interned_data::DEBUG_ANNOTATION_NAMES, number, key);
            });
            if let Argument::Text(text) = value
                && is_interned(text)
            {
                let field = interned_data::DEBUG_ANNOTATION_STRING_VALUES;
                (self.values).number(text, |number| entry(&mut new, field, number, text));
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        self.packet(|packet| packet.bytes(trace_packet::INTERNED_DATA, &new))
    }

    /// Ends what is over by now.
    fn end_until(&mut self, track: TrackId, now: Nanos) -> io::Result<()> {
        while let Some(end) = self.open[track.0 as usize].last().copied() {
            if end > now {
                break;
            }
            self.open[track.0 as usize].pop();
            self.packet(|packet| {
                packet.unsigned(trace_packet::TIMESTAMP, timestamp(end));
                packet.nested(trace_packet::TRACK_EVENT, |event| {
                    event.unsigned(track_event::TYPE, track_event::SLICE_END);
                    event.unsigned(track_event::TRACK_UUID, uuid(track));
                });
            })?;
        }
        Ok(())
    }
}

/// Texts longer than this are rarely the same twice.
const LONGEST_INTERNED: usize = 256;

fn is_interned(text: &str) -> bool {
    text.len() <= LONGEST_INTERNED
}

fn entry(new: &mut Vec<u8>, field: u32, number: u64, value: &str) {
    Message::new(new).nested(field, |entry| {
        entry.unsigned(interned_data::IID, number);
        entry.text(interned_data::VALUE, value);
    });
}

fn given(event: &mut Message<'_>, field: &UserField) {
    event.nested(track_event::DEBUG_ANNOTATIONS, |annotation| {
        annotation.text(debug_annotation::NAME, &field.name);
        match &field.value {
            UserValue::Integer(value) => annotation.signed(debug_annotation::INT_VALUE, *value),
            UserValue::Real(value) => annotation.double(debug_annotation::DOUBLE_VALUE, *value),
            UserValue::Text(text) => annotation.text(debug_annotation::STRING_VALUE, text),
        }
    });
}

impl<W: io::Write> Sink for Perfetto<'_, W> {
    fn notes(&mut self, notes: &[(&str, String)]) -> io::Result<()> {
        self.packet(|packet| {
            packet.nested(trace_packet::TRACE_ATTRIBUTES, |attributes| {
                for (key, value) in notes {
                    attributes.nested(trace_attributes::ATTRIBUTE, |attribute| {
                        attribute.text(trace_attributes::KEY, key);
                        attribute.text(trace_attributes::STRING_VALUE, value);
                    });
                }
            });
        })
    }

    fn track(&mut self, track: &Track<'_>) -> io::Result<()> {
        use track_descriptor::*;
        self.open.resize_with(track.id.0 as usize + 1, Vec::new);
        self.packet(|packet| {
            packet.nested(trace_packet::TRACK_DESCRIPTOR, |descriptor| {
                descriptor.unsigned(UUID, uuid(track.id));
                if let Some(parent) = track.parent {
                    descriptor.unsigned(PARENT_UUID, uuid(parent));
                }
                descriptor.signed(SIBLING_ORDER_RANK, i64::from(track.id.0 & 0x7fff_ffff));
                descriptor.unsigned(CHILD_ORDERING, EXPLICIT);
                match track.kind {
                    TrackKind::Process { pid, name } => {
                        descriptor.nested(PROCESS, |process| {
                            process.signed(PROCESS_PID, pid);
                            process.text(PROCESS_NAME, name);
                        });
                    }
                    TrackKind::Thread { pid, tid, name } => {
                        descriptor.nested(THREAD, |thread| {
                            thread.signed(THREAD_PID, pid);
                            thread.signed(THREAD_TID, tid);
                            thread.text(THREAD_NAME, name);
                        });
                    }
                    TrackKind::Named(name) => descriptor.text(NAME, name),
                    TrackKind::Counter { name, unit } => {
                        descriptor.text(NAME, name);
                        descriptor.nested(COUNTER, |counter| {
                            if unit == CounterUnit::Bytes {
                                counter.unsigned(UNIT, UNIT_SIZE_BYTES);
                            }
                        });
                    }
                }
            });
        })
    }

    fn event(&mut self, event: &TimelineEvent<'_>) -> io::Result<()> {
        let track = event.track;
        self.end_until(track, event.begin)?;
        self.intern(event.label, event.described)?;
        if !event.arguments.is_empty() {
            self.intern_arguments(event.arguments)?;
        }
        let label = self.labels[event.label.index()].as_ref();
        let flags = trace_packet::NEEDS_INCREMENTAL_STATE;
        append(&mut self.out.bytes, flags, |packet| {
            packet.unsigned(trace_packet::TIMESTAMP, timestamp(event.begin));
            packet.nested(trace_packet::TRACK_EVENT, |message| {
                let kind = match event.end {
                    Some(_) => track_event::SLICE_BEGIN,
                    None => track_event::INSTANT,
                };
                message.unsigned(track_event::TYPE, kind);
                message.unsigned(track_event::TRACK_UUID, uuid(track));
                if let Some(label) = label {
                    message.encoded(&label.fields);
                    match event.name {
                        Some(name) => message.text(track_event::NAME, name),
                        None => message.unsigned(track_event::NAME_IID, label.name),
                    }
                }
                for (key, value) in event.arguments {
                    let key = self.keys.number(key, |_| ());
                    message.nested(track_event::DEBUG_ANNOTATIONS, |annotation| {
                        annotation.unsigned(debug_annotation::NAME_IID, key);
                        match value {
                            Argument::Integer(value) => {
                                annotation.signed(debug_annotation::INT_VALUE, *value);
                            }
                            Argument::Flag(flag) => {
                                annotation.flag(debug_annotation::BOOL_VALUE, *flag);
                            }
                            Argument::Text(text) if is_interned(text) => {
                                let number = self.values.number(text, |_| ());
                                annotation.unsigned(debug_annotation::STRING_VALUE_IID, number);
                            }
                            Argument::Text(text) => {
                                annotation.text(debug_annotation::STRING_VALUE, text);
                            }
                        }
                    });
                }
                for field in event.given {
                    given(message, field);
                }
                for flow in event.sends {
                    message.fixed64(track_event::FLOW_IDS, flow.arrow);
                }
                for flow in event.receives {
                    message.fixed64(track_event::TERMINATING_FLOW_IDS, flow.arrow);
                }
            });
        });
        if let Some(end) = event.end {
            self.open[track.0 as usize].push(end);
        }
        self.out.flush_if_full()
    }

    fn count(&mut self, track: TrackId, at: Nanos, value: f64) -> io::Result<()> {
        self.packet(|packet| {
            packet.unsigned(trace_packet::TIMESTAMP, timestamp(at));
            packet.nested(trace_packet::TRACK_EVENT, |event| {
                event.unsigned(track_event::TYPE, track_event::COUNTER);
                event.unsigned(track_event::TRACK_UUID, uuid(track));
                event.double(track_event::DOUBLE_COUNTER_VALUE, value);
            });
        })
    }

    fn close(&mut self, track: TrackId) -> io::Result<()> {
        self.end_until(track, Nanos(i64::MAX))
    }

    fn knows_cpus(&self) -> bool {
        true
    }

    fn switch(&mut self, switch: &Switch<'_>) -> io::Result<()> {
        if self.bundle.is_full_for(switch.cpu) {
            self.flush_bundle()?;
        }
        self.bundle.switch(switch);
        Ok(())
    }

    fn waking(&mut self, waking: &Waking<'_>) -> io::Result<()> {
        if !self.named_waker {
            self.named_waker = true;
            self.packet(scheduling::name_unknown_waker)?;
        }
        if self.bundle.is_full_for(waking.cpu) {
            self.flush_bundle()?;
        }
        self.bundle.waking(waking);
        Ok(())
    }
}

impl<W: io::Write> Perfetto<'_, W> {
    fn flush_bundle(&mut self) -> io::Result<()> {
        let bundle = std::mem::take(&mut self.bundle);
        match bundle.is_empty() {
            true => Ok(()),
            false => self.packet(|packet| bundle.write(packet)),
        }
    }
}
