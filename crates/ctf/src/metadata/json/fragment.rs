//! The fragments of a CTF 2 metadata stream, each of which adds something to the trace.

use std::collections::{HashMap, HashSet};

use super::super::ast::{AstEvent, AstStream, AstTrace, Root};
use super::super::error::{Position, Result, Warning};
use super::class::FieldClasses;
use super::object::Object;
use super::value::{Value, ValueKind};
use crate::schema::{ByteOrder, Clock, EnvironmentValue, Identity, Origin, Uuid, Version};

/// LTTng's names of log levels, from 0 on.
const LOG_LEVELS: &str = "emergency alert critical error warning notice info debug:system debug:program debug:process \
    debug:module debug:unit debug:function debug:line debug";

/// The name spaces whose attributes of event record classes we know.
const NAMESPACES: [&str; 2] = ["lttng.org,2009", "babeltrace.org,2020"];

/// The trace as far as it has been read.
pub(super) struct Fragments<'w> {
    trace: AstTrace,
    classes: FieldClasses,
    clocks: HashMap<String, usize>,
    streams: HashMap<u64, usize>,
    events: HashSet<(usize, u64)>,
    has_preamble: bool,
    has_trace_class: bool,
    warnings: &'w mut Vec<Warning>,
}

impl<'w> Fragments<'w> {
    pub(super) fn new(warnings: &'w mut Vec<Warning>) -> Fragments<'w> {
        Fragments {
            trace: AstTrace {
                version: Version::Ctf2,
                uuid: None,
                identity: Identity::default(),
                byte_order: ByteOrder::Little,
                environment: Vec::new(),
                clocks: Vec::new(),
                packet_header: None,
                streams: Vec::new(),
            },
            classes: FieldClasses::default(),
            clocks: HashMap::new(),
            streams: HashMap::new(),
            events: HashSet::new(),
            has_preamble: false,
            has_trace_class: false,
            warnings,
        }
    }

    pub(super) fn into_trace(self) -> Result<AstTrace> {
        if self.trace.streams.is_empty() {
            return Err(Position::NOWHERE.error("the metadata has no data stream class"));
        }
        Ok(self.trace)
    }

    pub(super) fn add(&mut self, value: &Value) -> Result<()> {
        let mut object = Object::new(value, "the fragment")?;
        let type_value = object.require("type")?;
        let name = type_value.text("type")?;
        object.rename(format!("the fragment '{name}'"));
        if !self.has_preamble && name != "preamble" {
            return Err(value.at.error("the first fragment is not the preamble"));
        }
        match name {
            "preamble" => self.preamble(&mut object)?,
            "field-class-alias" => {
                let name = object.require("name")?;
                let class = self.classes.class(object.require("field-class")?)?;
                self.classes.declare(name, class)?;
            }
            "trace-class" => self.trace_class(&mut object)?,
            "clock-class" => self.clock_class(&mut object)?,
            "data-stream-class" => self.data_stream_class(&mut object)?,
            "event-record-class" => self.event_record_class(&mut object)?,
            _ => {
                return Err(type_value
                    .at
                    .error(format!("there is no type of fragment named '{name}'")));
            }
        }
        object.finish()
    }

    fn preamble(&mut self, object: &mut Object) -> Result<()> {
        if std::mem::replace(&mut self.has_preamble, true) {
            return Err(object.at.error("there is a second preamble"));
        }
        let version = object.require("version")?;
        if version.integer() != Some(2) {
            return Err(version
                .expected("version", "2")
                .with_hint("later versions of the format are not known"));
        }
        if let Some(value) = object.take("uuid") {
            let bytes: Option<Vec<u8>> = value
                .array("uuid")?
                .iter()
                .map(|item| item.integer().and_then(|byte| u8::try_from(byte).ok()))
                .collect();
            let bytes: Option<[u8; 16]> = bytes.and_then(|bytes| bytes.try_into().ok());
            let bytes = bytes.ok_or_else(|| value.expected("uuid", "16 bytes"))?;
            self.trace.uuid = Some(Uuid(bytes));
        }
        Ok(())
    }

    fn trace_class(&mut self, object: &mut Object) -> Result<()> {
        if std::mem::replace(&mut self.has_trace_class, true) {
            return Err(object.at.error("there is a second trace class"));
        }
        if !self.trace.streams.is_empty() {
            return Err(object
                .at
                .error("the trace class comes after a data stream class"));
        }
        self.trace.identity = object.identity()?;
        if let Some(environment) = object.take("environment") {
            for (name, value) in environment.object("environment")? {
                let value = match &value.kind {
                    ValueKind::Text(text) => EnvironmentValue::Text(text.clone()),
                    ValueKind::Integer(_) => EnvironmentValue::Integer(value.signed(name)?),
                    _ => return Err(value.expected(name, "an integer or a string")),
                };
                self.trace.environment.push((name.clone(), value));
            }
        }
        self.trace.packet_header = self.root(object, "packet-header-field-class")?;
        Ok(())
    }

    fn clock_class(&mut self, object: &mut Object) -> Result<()> {
        let id_value = object.require("id")?;
        let id = id_value.text("id")?;
        let frequency_value = object.require("frequency")?;
        let frequency = frequency_value.unsigned("frequency")?;
        if frequency == 0 {
            return Err(frequency_value.expected("frequency", "at least 1"));
        }
        let mut clock = Clock {
            identity: object.identity()?,
            frequency,
            precision: object.unsigned("precision")?,
            description: object.text("description")?,
            origin: object.take("origin").map_or(Ok(Origin::Unknown), origin)?,
            ..Clock::implicit(id)
        };
        object.unsigned("accuracy")?;
        if let Some(value) = object.take("offset-from-origin") {
            let mut offset = Object::new(value, "the offset of the clock")?;
            if let Some(seconds) = offset.take("seconds") {
                clock.offset_seconds = seconds.signed("seconds")?;
            }
            if let Some(cycles) = offset.take("cycles") {
                clock.offset_cycles = cycles.unsigned("cycles")?;
                if clock.offset_cycles >= frequency {
                    return Err(cycles.expected("cycles", "less than the frequency"));
                }
            }
            offset.finish()?;
        }
        if self
            .clocks
            .insert(id.to_owned(), self.trace.clocks.len())
            .is_some()
        {
            return Err(id_value
                .at
                .error(format!("there is already a clock class with the id '{id}'")));
        }
        self.trace.clocks.push(clock);
        Ok(())
    }

    fn data_stream_class(&mut self, object: &mut Object) -> Result<()> {
        let clock = match object.take("default-clock-class-id") {
            None => None,
            Some(value) => {
                let id = value.text("default-clock-class-id")?;
                let clock = self.clocks.get(id).copied();
                Some(clock.ok_or_else(|| {
                    value.at.error(format!(
                        "there is no clock class with the id '{id}' before this one"
                    ))
                })?)
            }
        };
        let stream = AstStream {
            at: object.at,
            id: object.unsigned("id")?.unwrap_or(0),
            identity: object.identity()?,
            clock,
            packet_context: self.root(object, "packet-context-field-class")?,
            event_header: self.root(object, "event-record-header-field-class")?,
            event_context: self.root(object, "event-record-common-context-field-class")?,
            events: Vec::new(),
        };
        if self
            .streams
            .insert(stream.id, self.trace.streams.len())
            .is_some()
        {
            return Err(object.at.repeated_id("a data stream class", stream.id));
        }
        self.trace.streams.push(stream);
        Ok(())
    }

    fn event_record_class(&mut self, object: &mut Object) -> Result<()> {
        let stream_id = object.unsigned("data-stream-class-id")?.unwrap_or(0);
        let Some(&stream) = self.streams.get(&stream_id) else {
            return Err(object.at.error(format!(
                "there is no data stream class with the id {stream_id} before this event record class"
            )));
        };
        let identity = object.identity()?;
        let (log_level, emf_uri) = self.known_attributes(object.take("attributes"));
        let event = AstEvent {
            id: object.unsigned("id")?.unwrap_or(0),
            name: identity.name,
            log_level,
            emf_uri,
            context: self.root(object, "specific-context-field-class")?,
            payload: self.root(object, "payload-field-class")?,
        };
        if !self.events.insert((stream, event.id)) {
            return Err(object
                .at
                .repeated_id("an event record class of this data stream class", event.id));
        }
        self.trace.streams[stream].events.push(event);
        Ok(())
    }

    /// Log level and EMF URI, as LTTng and babeltrace write them.
    fn known_attributes(&mut self, attributes: Option<&Value>) -> (Option<u8>, Option<String>) {
        let (mut log_level, mut emf_uri) = (None, None);
        for namespace in NAMESPACES {
            let Some(known) = attributes.and_then(|value| value.property(namespace)) else {
                continue;
            };
            if let Some(value) = known.property("log-level") {
                let level = value
                    .text("log-level")
                    .ok()
                    .and_then(|name| LOG_LEVELS.split(' ').position(|level| level == name));
                match level {
                    Some(level) => log_level = log_level.or(Some(level as u8)),
                    None => self
                        .warnings
                        .push(value.at.warning("the log level is unknown; it is ignored")),
                }
            }
            if let Some(Ok(uri)) = known.property("emf-uri").map(|uri| uri.text("emf-uri")) {
                emf_uri = emf_uri.or_else(|| Some(uri.to_owned()));
            }
        }
        (log_level, emf_uri)
    }

    /// A scope's root, which must be a structure.
    fn root(&self, object: &mut Object, name: &str) -> Result<Root> {
        let Some(value) = object.take(name) else {
            return Ok(None);
        };
        let class = self.classes.class(value)?;
        match class.structure() {
            Some(_) => Ok(Some(class)),
            None => Err(value.at.error(format!(
                "'{name}' must be a structure, but is {}",
                class.description()
            ))),
        }
    }
}

fn origin(value: &Value) -> Result<Origin> {
    if let ValueKind::Text(text) = &value.kind {
        return match text.as_str() {
            "unix-epoch" => Ok(Origin::UnixEpoch),
            _ => Err(value.expected("origin", "unix-epoch or an object")),
        };
    }
    let mut object = Object::new(value, "the origin of the clock")?;
    let identity = Identity {
        name: Some(object.require("name")?.text("name")?.to_owned()),
        uid: Some(object.require("uid")?.text("uid")?.to_owned()),
        namespace: object.text("namespace")?,
    };
    object.finish()?;
    Ok(Origin::Custom(identity))
}
