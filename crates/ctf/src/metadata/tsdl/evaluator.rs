//! From the syntax of a TSDL text to the tree that both languages share.
//!
//! Blocks are evaluated by kind, not by place: byte order, environment, clocks, types of the file, trace, streams,
//! events. So a `map` may precede its clock and an event its stream. What stands in each block is in `block`.

use std::collections::HashMap;

use super::super::ast::{AstStream, AstTrace};
use super::super::error::{Position, Result, Warning};
use super::block::EventBlock;
use super::scope::TypeScopes;
use super::syntax::{Block, BlockEntry, BlockKind, Item};
use crate::schema::{ByteOrder, Clock, EnvironmentValue, Identity, Origin, Version};

pub(super) struct Evaluator<'w> {
    pub(super) byte_order: ByteOrder,
    pub(super) environment: Vec<(String, EnvironmentValue)>,
    /// Where each name is in `environment`.
    pub(super) environment_index: HashMap<String, usize>,
    pub(super) clocks: Vec<Clock>,
    /// Where each name is in `clocks`.
    pub(super) clock_index: HashMap<String, usize>,
    pub(super) scopes: TypeScopes,
    pub(super) warnings: &'w mut Vec<Warning>,
}

/// `cut_short`: the end of the text is missing, so an event may have lost its stream.
pub(super) fn evaluate(
    items: &[Item],
    cut_short: bool,
    warnings: &mut Vec<Warning>,
) -> Result<AstTrace> {
    let blocks = |kind: BlockKind| {
        items.iter().filter_map(move |item| match item {
            Item::Block(block) if block.kind == kind => Some(block),
            _ => None,
        })
    };
    let trace = only_trace_block(blocks(BlockKind::Trace), cut_short)?;
    let mut evaluator = Evaluator {
        byte_order: byte_order(trace)?,
        environment: Vec::new(),
        environment_index: HashMap::new(),
        clocks: Vec::new(),
        clock_index: HashMap::new(),
        scopes: TypeScopes::new(),
        warnings,
    };
    for block in blocks(BlockKind::Environment) {
        evaluator.environment_block(block)?;
    }
    for block in blocks(BlockKind::Clock) {
        evaluator.clock_block(block)?;
    }
    evaluator.correlate_lttng_clocks();
    for item in items {
        if let Item::Types(declaration) = item {
            evaluator.declare_types(declaration)?;
        }
    }
    let (uuid, packet_header) = evaluator.trace_block(trace)?;
    let mut streams = Vec::new();
    for block in blocks(BlockKind::Stream) {
        streams.push(evaluator.stream_block(block)?);
    }
    let mut events = Vec::new();
    for block in blocks(BlockKind::Event) {
        events.push(evaluator.event_block(block)?);
    }
    let mut trace = AstTrace {
        version: Version::Ctf1,
        uuid,
        identity: Identity::default(),
        byte_order: evaluator.byte_order,
        environment: evaluator.environment,
        clocks: evaluator.clocks,
        packet_header,
        streams,
    };
    assign_events(&mut trace.streams, events, cut_short, evaluator.warnings)?;
    Ok(trace)
}

fn only_trace_block<'i, 't>(
    mut blocks: impl Iterator<Item = &'i Block<'t>>,
    cut_short: bool,
) -> Result<&'i Block<'t>>
where
    't: 'i,
{
    let first = blocks.next().ok_or_else(|| {
        let error = Position::NOWHERE.error("the metadata has no trace block");
        match cut_short {
            true => error.with_hint("its end is missing, and what is left is too little to use"),
            false => error,
        }
    })?;
    match blocks.next() {
        Some(second) => Err(second.at.error("there is a second trace block")),
        None => Ok(first),
    }
}

/// The trace's byte order, which all other declarations depend on.
fn byte_order(trace: &Block) -> Result<ByteOrder> {
    for entry in &trace.entries {
        if let BlockEntry::Value(attribute) = entry
            && attribute.name == "byte_order"
        {
            return attribute.byte_order(None);
        }
    }
    Err(trace.at.error("the trace block has no byte_order"))
}

impl Evaluator<'_> {
    /// LTTng's clocks count from 1970 although they do not say `absolute = true`.
    fn correlate_lttng_clocks(&mut self) {
        let tracer = self.environment_value("tracer_name");
        let is_lttng =
            matches!(tracer, Some(EnvironmentValue::Text(name)) if name.starts_with("lttng"));
        if is_lttng && let Some(&clock) = self.clock_index.get("monotonic") {
            self.clocks[clock].origin = Origin::UnixEpoch;
        }
    }

    pub(super) fn environment_value(&self, name: &str) -> Option<&EnvironmentValue> {
        let index = *self.environment_index.get(name)?;
        self.environment.get(index).map(|(_, value)| value)
    }
}

/// Gives each event class to its stream class.
fn assign_events(
    streams: &mut Vec<AstStream>,
    events: Vec<EventBlock>,
    cut_short: bool,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let mut stream_index = HashMap::new();
    for (i, stream) in streams.iter().enumerate() {
        if stream_index.insert(stream.id, i).is_some() {
            return Err(stream.at.repeated_id("a stream", stream.id));
        }
    }
    let mut taken = std::collections::HashSet::new();
    for EventBlock { at, stream, event } in events {
        let stream = match (stream, streams.as_slice()) {
            (Some(id), []) if id != 0 || cut_short => None,
            (_, []) => {
                // The format allows events without any stream block.
                streams.push(AstStream::implicit(at));
                stream_index.insert(0, 0);
                Some(0)
            }
            (Some(id), _) => stream_index.get(&id).copied(),
            (None, [_]) => Some(0),
            (None, _) => {
                return Err(at
                    .error("the event has no stream_id, and there are several streams")
                    .with_hint("add 'stream_id = …;' to the event"));
            }
        };
        let Some(stream) = stream else {
            let message = "the event belongs to a stream that is not declared";
            if cut_short {
                warnings.push(at.warning(format!("{message}; it is left out")));
                continue;
            }
            return Err(at.error(message));
        };
        if !taken.insert((stream, event.id)) {
            return Err(at.repeated_id("an event of this stream", event.id));
        }
        streams[stream].events.push(event);
    }
    Ok(())
}
