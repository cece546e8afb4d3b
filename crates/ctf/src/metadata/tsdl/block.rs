//! The attributes of the blocks: `trace`, `env`, `clock`, `stream`, `event`.

use super::super::ast::{AstEvent, AstStream, Root};
use super::super::error::{Position, Result};
use super::attribute::{SeenNames, unknown};
use super::evaluator::Evaluator;
use super::syntax::{Assignment, Block, BlockEntry, ExpressionKind, Specifiers};
use crate::schema::{Clock, EnvironmentValue, Origin, Uuid};

/// An event class and the stream that it says it belongs to.
#[derive(Debug)]
pub(super) struct EventBlock {
    pub(super) at: Position,
    pub(super) stream: Option<u64>,
    pub(super) event: AstEvent,
}

/// One attribute of a block.
enum Attribute<'b, 't> {
    Value(&'b Assignment),
    Class(&'b Specifiers<'t>),
}

impl Evaluator<'_> {
    /// Goes through the entries of a block in a lexical scope of its own.
    fn entries<'b, 't>(
        &mut self,
        block: &'b Block<'t>,
        mut attribute: impl FnMut(&mut Self, &'b str, Attribute<'b, 't>, Position) -> Result<()>,
    ) -> Result<()> {
        let mut seen = SeenNames::default();
        self.scopes.enter();
        for entry in &block.entries {
            match entry {
                BlockEntry::Types(declaration) => self.declare_types(declaration)?,
                BlockEntry::Value(value) => {
                    seen.note(&value.name, value.at)?;
                    attribute(self, &value.name, Attribute::Value(value), value.at)?;
                }
                BlockEntry::Class { name, at, class } => {
                    seen.note(name, *at)?;
                    attribute(self, name, Attribute::Class(class), *at)?;
                }
            }
        }
        self.scopes.leave();
        Ok(())
    }

    /// A scope's root, which must be a structure.
    fn root(&mut self, class: &Specifiers) -> Result<Root> {
        let field = self.field(class)?;
        match field.structure() {
            Some(_) => Ok(Some(field)),
            None => Err(class.at.error(format!(
                "this must be a structure, but is {}",
                field.description()
            ))),
        }
    }

    pub(super) fn trace_block(&mut self, block: &Block) -> Result<(Option<Uuid>, Root)> {
        let (mut major, mut minor, mut uuid, mut header) = (None, None, None, None);
        self.entries(block, |evaluator, name, attribute, at| {
            match (name, attribute) {
                ("major", Attribute::Value(value)) => major = Some((value.unsigned()?, at)),
                ("minor", Attribute::Value(value)) => minor = Some((value.unsigned()?, at)),
                ("byte_order", Attribute::Value(_)) => {}
                ("uuid", Attribute::Value(value)) => uuid = Some(value.uuid()?),
                ("packet.header", Attribute::Class(class)) => header = evaluator.root(class)?,
                _ => evaluator.warnings.push(unknown(name, at, "the trace")),
            }
            Ok(())
        })?;
        match (major, minor) {
            (Some((1, _)), Some((8, _))) => Ok((uuid, header)),
            (Some((major, at)), Some((minor, _))) => Err(at
                .error(format!("the trace is of CTF version {major}.{minor}"))
                .with_hint("of the versions with this language only 1.8 is known")),
            (None, _) => Err(block.at.error("the trace block has no major version")),
            (_, None) => Err(block.at.error("the trace block has no minor version")),
        }
    }

    pub(super) fn environment_block(&mut self, block: &Block) -> Result<()> {
        for entry in &block.entries {
            let BlockEntry::Value(attribute) = entry else {
                return Err(block.at.error("the env block can hold only values"));
            };
            let value = match &attribute.value.kind {
                ExpressionKind::Integer(value) => match i64::try_from(*value) {
                    Ok(value) => EnvironmentValue::Integer(value),
                    Err(_) => {
                        self.warnings.push(attribute.at.warning(format!(
                            "the environment's '{}' does not fit 64 bits with a sign; it is ignored",
                            attribute.name
                        )));
                        continue;
                    }
                },
                ExpressionKind::Text(text) | ExpressionKind::Name(text) => {
                    EnvironmentValue::Text(text.clone())
                }
            };
            match self.environment_index.get(&attribute.name) {
                Some(&index) => self.environment[index].1 = value,
                None => {
                    self.environment_index
                        .insert(attribute.name.clone(), self.environment.len());
                    self.environment.push((attribute.name.clone(), value));
                }
            }
        }
        Ok(())
    }

    pub(super) fn clock_block(&mut self, block: &Block) -> Result<()> {
        let mut clock = Clock::implicit("");
        let mut has_name = false;
        self.entries(block, |evaluator, name, attribute, at| {
            let Attribute::Value(value) = attribute else {
                evaluator.warnings.push(unknown(name, at, "the clock"));
                return Ok(());
            };
            match name {
                "name" => {
                    has_name = true;
                    clock.id = value.text()?;
                    clock.identity.name = Some(clock.id.clone());
                }
                "uuid" => clock.uuid = Some(value.uuid()?),
                "description" => clock.description = Some(value.text()?),
                "freq" => match value.unsigned()? {
                    0 => return Err(value.value.at.error("the frequency of a clock cannot be 0")),
                    frequency => clock.frequency = frequency,
                },
                "precision" => clock.precision = Some(value.unsigned()?),
                "offset_s" => clock.offset_seconds = value.signed()?,
                "offset" => clock.offset_cycles = value.unsigned()?,
                "absolute" if value.boolean()? => clock.origin = Origin::UnixEpoch,
                "absolute" => {}
                _ => evaluator.warnings.push(unknown(name, at, "the clock")),
            }
            Ok(())
        })?;
        if !has_name {
            return Err(block.at.error("the clock has no name"));
        }
        let name = clock.id.clone();
        if self
            .clock_index
            .insert(name.clone(), self.clocks.len())
            .is_some()
        {
            return Err(block
                .at
                .error(format!("there is already a clock named '{name}'")));
        }
        self.clocks.push(clock);
        Ok(())
    }

    pub(super) fn stream_block(&mut self, block: &Block) -> Result<AstStream> {
        let mut stream = AstStream::implicit(block.at);
        self.entries(block, |evaluator, name, attribute, at| {
            match (name, attribute) {
                ("id", Attribute::Value(value)) => stream.id = value.id()?,
                ("event.header", Attribute::Class(class)) => {
                    stream.event_header = evaluator.root(class)?;
                }
                ("event.context", Attribute::Class(class)) => {
                    stream.event_context = evaluator.root(class)?;
                }
                ("packet.context", Attribute::Class(class)) => {
                    stream.packet_context = evaluator.root(class)?;
                }
                _ => evaluator.warnings.push(unknown(name, at, "the stream")),
            }
            Ok(())
        })?;
        Ok(stream)
    }

    pub(super) fn event_block(&mut self, block: &Block) -> Result<EventBlock> {
        let mut stream = None;
        let mut event = AstEvent {
            id: 0,
            name: None,
            log_level: None,
            emf_uri: None,
            context: None,
            payload: None,
        };
        self.entries(block, |evaluator, name, attribute, at| {
            match (name, attribute) {
                ("name", Attribute::Value(value)) => event.name = Some(value.text()?),
                ("id", Attribute::Value(value)) => event.id = value.id()?,
                ("stream_id", Attribute::Value(value)) => stream = Some(value.id()?),
                ("loglevel", Attribute::Value(value)) => {
                    event.log_level = value
                        .unsigned()
                        .ok()
                        .and_then(|level| u8::try_from(level).ok())
                        .filter(|level| *level <= 14);
                    if event.log_level.is_none() {
                        evaluator.warnings.push(at.warning(format!(
                            "the log level {} is not one of 0 to 14; it is ignored",
                            value.value.kind
                        )));
                    }
                }
                ("model.emf.uri", Attribute::Value(value)) => event.emf_uri = Some(value.text()?),
                ("context", Attribute::Class(class)) => event.context = evaluator.root(class)?,
                ("fields", Attribute::Class(class)) => event.payload = evaluator.root(class)?,
                _ => evaluator.warnings.push(unknown(name, at, "the event")),
            }
            Ok(())
        })?;
        if event.name.is_none() {
            return Err(block.at.error("the event has no name"));
        }
        Ok(EventBlock {
            at: block.at,
            stream,
            event,
        })
    }
}
