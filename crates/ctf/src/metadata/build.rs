//! From the syntax tree of a trace to its [`Schema`]: references become slots, and every stream class gets its clock.
//!
//! `lower` does the same for one scope.

use super::ast::{AstClass, AstEvent, AstKind, AstStream, AstTrace, RootScope};
use super::error::{Result, Warning};
use super::lower::{Clocks, Lowering};
use super::reference::{Plans, Roots, ScopePlan, Targets};
use crate::schema::{
    BitField, EventClass, FieldClass, Length, Role, Schema, StreamClass, Struct, Version,
};

/// The references of a stream class: those of its own scopes and those of each event class.
#[derive(Default)]
struct StreamPlan {
    /// Packet context, event header, common context.
    own: [ScopePlan; 3],
    /// Context and payload.
    events: Vec<[ScopePlan; 2]>,
}

pub(super) fn build(trace: AstTrace, warnings: &mut Vec<Warning>) -> Result<Schema> {
    let mut targets = Targets::default();
    let mut header_plan = ScopePlan::default();
    let plans = collect(&trace, &mut targets, &mut header_plan)?;

    let clocks = Clocks::new(trace.clocks);
    let mut builder = Builder {
        version: trace.version,
        targets,
        clocks,
        warnings,
        slots: 0,
    };
    let after_header = builder.number(&header_plan, 0);
    let packet_header = builder.scope(
        RootScope::PacketHeader,
        trace.packet_header.as_deref(),
        &header_plan,
    )?;
    let packet_header_uuid = builder.uuid_member(
        trace.packet_header.as_deref(),
        packet_header.structure.as_ref(),
        trace.uuid.is_some(),
    )?;
    if trace.streams.len() > 1 && !packet_header.has(Role::StreamClassId) {
        return Err(trace.streams[1].at.error(
            "there are several stream classes, but the packet header has no field that says which one a packet belongs to",
        ));
    }
    let mut streams = Vec::with_capacity(trace.streams.len());
    for (stream, plan) in trace.streams.into_iter().zip(&plans) {
        streams.push(builder.stream(stream, plan, after_header, packet_header.clock)?);
    }
    Ok(Schema {
        version: trace.version,
        uuid: trace.uuid,
        identity: trace.identity,
        byte_order: trace.byte_order,
        environment: trace.environment,
        clocks: builder.clocks.into_list(),
        packet_header: packet_header.structure,
        packet_header_uuid,
        streams,
        slots: builder.slots,
    })
}

/// Finds the targets of all references. All of them must be known before the first slot is numbered, because an event
/// class may refer to fields of its stream class and of the packet header.
fn collect(
    trace: &AstTrace,
    targets: &mut Targets,
    header_plan: &mut ScopePlan,
) -> Result<Vec<StreamPlan>> {
    let mut plans = Plans::default();
    let mut roots: Roots = [None; 6];
    roots[RootScope::PacketHeader as usize] = trace.packet_header.as_deref();
    targets.collect(RootScope::PacketHeader, &roots, &mut plans)?;
    let mut streams = Vec::with_capacity(trace.streams.len());
    for stream in &trace.streams {
        roots[1..4].copy_from_slice(&stream.roots());
        roots[4..6].fill(None);
        for scope in &RootScope::ALL[1..4] {
            targets.collect(*scope, &roots, &mut plans)?;
        }
        let mut events = Vec::with_capacity(stream.events.len());
        for event in &stream.events {
            roots[4..6].copy_from_slice(&event.roots());
            for scope in &RootScope::ALL[4..6] {
                targets.collect(*scope, &roots, &mut plans)?;
            }
            events.push([4, 5].map(|scope| std::mem::take(&mut plans[scope])));
        }
        let own = [1, 2, 3].map(|scope| std::mem::take(&mut plans[scope]));
        streams.push(StreamPlan { own, events });
    }
    *header_plan = std::mem::take(&mut plans[0]);
    Ok(streams)
}

/// A finished scope and what was noticed in it.
#[derive(Default)]
struct Built {
    structure: Option<Struct>,
    roles: Vec<Role>,
    clock: Option<usize>,
}

impl Built {
    fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }
}

struct Builder<'w> {
    version: Version,
    targets: Targets,
    clocks: Clocks,
    warnings: &'w mut Vec<Warning>,
    /// The most slots that any stream class needs.
    slots: u32,
}

impl Builder<'_> {
    fn stream(
        &mut self,
        stream: AstStream,
        plan: &StreamPlan,
        after_header: u32,
        header_clock: Option<usize>,
    ) -> Result<StreamClass> {
        let numbered = plan.own.iter();
        let after_stream = numbered.fold(after_header, |next, plan| self.number(plan, next));
        self.clocks.enter_stream(stream.clock.or(header_clock));
        let [packet_context, event_header, event_context] =
            self.scopes(&RootScope::ALL[1..4], stream.roots(), &plan.own)?;
        if stream.events.len() > 1 && !event_header.has(Role::EventId) {
            return Err(stream.at.error(format!(
                "the stream class {} has several event classes, but its event header has no field that says which one an event belongs to",
                stream.id
            )));
        }
        let mut events = Vec::with_capacity(stream.events.len());
        for (event, plans) in stream.events.into_iter().zip(&plan.events) {
            events.push(self.event(event, plans, after_stream)?);
        }
        Ok(StreamClass {
            id: stream.id,
            identity: stream.identity,
            clock: self.clocks.of_stream(),
            packet_context: packet_context.structure,
            event_header: event_header.structure,
            event_context: event_context.structure,
            events,
        })
    }

    fn event(
        &mut self,
        event: AstEvent,
        plans: &[ScopePlan; 2],
        after_stream: u32,
    ) -> Result<EventClass> {
        let numbered = plans.iter();
        numbered.fold(after_stream, |next, plan| self.number(plan, next));
        let [context, payload] = self.scopes(&RootScope::ALL[4..6], event.roots(), plans)?;
        Ok(EventClass {
            id: event.id,
            name: event.name,
            log_level: event.log_level,
            emf_uri: event.emf_uri,
            context: context.structure,
            payload: payload.structure,
        })
    }

    fn number(&mut self, plan: &ScopePlan, next: u32) -> u32 {
        let next = self.targets.number(plan, next);
        self.slots = self.slots.max(next);
        next
    }

    /// Scopes that follow each other.
    fn scopes<const N: usize>(
        &mut self,
        scopes: &[RootScope],
        roots: [Option<&AstClass>; N],
        plans: &[ScopePlan; N],
    ) -> Result<[Built; N]> {
        let mut all = std::array::from_fn(|_| Built::default());
        for (number, built) in all.iter_mut().enumerate() {
            *built = self.scope(scopes[number], roots[number], &plans[number])?;
        }
        Ok(all)
    }

    fn scope(
        &mut self,
        scope: RootScope,
        root: Option<&AstClass>,
        plan: &ScopePlan,
    ) -> Result<Built> {
        let Some(structure) = root.and_then(AstClass::structure) else {
            return Ok(Built::default());
        };
        let mut lowering = Lowering::new(
            scope,
            self.version,
            plan,
            &mut self.targets,
            &mut self.clocks,
            self.warnings,
        );
        let structure = Some(lowering.structure(structure)?);
        Ok(Built {
            structure,
            roles: std::mem::take(&mut lowering.roles),
            clock: self.clocks.of_stream(),
        })
    }

    /// The member of the packet header that holds the trace's UUID.
    fn uuid_member(
        &mut self,
        root: Option<&AstClass>,
        header: Option<&Struct>,
        trace_has_uuid: bool,
    ) -> Result<Option<usize>> {
        let Some((ast, header)) = root.and_then(AstClass::structure).zip(header) else {
            return Ok(None);
        };
        for (i, member) in ast.members.iter().enumerate() {
            match (&member.class.kind, self.version) {
                (AstKind::Blob { is_uuid: true, .. }, _) if !trace_has_uuid => {
                    return Err(member.at.error(
                        "the packet header has the metadata stream's UUID, but the preamble gives none",
                    ));
                }
                (AstKind::Blob { is_uuid: true, .. }, _) => return Ok(Some(i)),
                (_, Version::Ctf1) if &*member.original_name == "uuid" => {
                    if is_sixteen_bytes(&header.members[i].class) {
                        return Ok(Some(i));
                    }
                    self.warnings.push(member.at.warning(
                        "the packet header's 'uuid' is not an array of 16 bytes and is ignored",
                    ));
                }
                _ => {}
            }
        }
        Ok(None)
    }
}

fn is_sixteen_bytes(class: &FieldClass) -> bool {
    let is_byte = |bits: BitField| (bits.size, bits.align) == (8, 8);
    matches!(class, FieldClass::Array { length: Length::Fixed(16), element, .. }
        if matches!(**element, FieldClass::Integer(_)) && element.bits().is_some_and(is_byte))
}
