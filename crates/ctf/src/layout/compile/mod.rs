//! From the scopes of an event class to a [`Layout`].
//!
//! The compiler follows the fields as a decoder would, but with positions of which it knows only a remainder: the
//! [`Phase`]. Where the phase is fine enough, alignment becomes a constant; where it is not, it becomes a step. Arrays are
//! compiled in `array`; `byte_order` knows what a field may follow.

mod array;
mod byte_order;

use std::sync::Arc;

use byte_order::LastOrder;

use super::phase::Phase;
use super::slots::slots_of;
use super::{BitOffset, Block, Layout, Leaf, LeafType, Scope, Step};
use crate::layout::bits::Codec;
use crate::schema::{
    BitField, EventClass, FieldClass, Integer, IntegerForm, Length, StreamClass, Struct,
};

pub(super) fn event(stream: &StreamClass, class: &EventClass, phase: Phase) -> Layout {
    let scopes: Vec<(Scope, Arc<Struct>)> = [
        (Scope::CommonContext, &stream.event_context),
        (Scope::SpecificContext, &class.context),
        (Scope::Payload, &class.payload),
    ]
    .into_iter()
    .filter_map(|(scope, structure)| Some((scope, Arc::new(structure.clone()?))))
    .collect();
    let mut compiler = Compiler::new(phase);
    let mut context_bits = None;
    for (scope, structure) in &scopes {
        compiler.scope = *scope;
        compiler.structure(structure, true);
        if *scope == Scope::CommonContext && compiler.anchor == 0 && !compiler.irregular {
            context_bits = Some(compiler.offset);
        }
    }
    let slots = slots_of(scopes.iter().map(|(_, structure)| &**structure));
    let Compiler {
        steps,
        offset,
        mut leaves,
        irregular,
        ..
    } = compiler;
    if irregular {
        for leaf in &mut leaves {
            leaf.shape = LeafType::Nested;
        }
    }
    let constant = (steps.is_empty() && !irregular).then_some(offset);
    Layout {
        block: Block {
            steps,
            tail: offset,
        },
        constant,
        irregular,
        slots,
        leaves,
        context_bits,
        scopes,
    }
}

/// The phase behind a structure that begins at an unknown position.
pub(super) fn phase_behind(structure: &Struct) -> Phase {
    let mut compiler = Compiler::new(Phase::UNKNOWN);
    compiler.structure(structure, false);
    compiler.phase()
}

struct Compiler {
    steps: Vec<Step>,
    leaves: Vec<Leaf>,
    /// Phase at the last anchor.
    anchor_phase: Phase,
    anchor: u32,
    /// Bits since the last anchor.
    offset: u64,
    last_order: LastOrder,
    irregular: bool,
    scope: Scope,
    path: Vec<Arc<str>>,
}

impl Compiler {
    fn new(phase: Phase) -> Compiler {
        Compiler {
            steps: Vec::new(),
            leaves: Vec::new(),
            anchor_phase: phase,
            anchor: 0,
            offset: 0,
            last_order: LastOrder::Any,
            irregular: false,
            scope: Scope::Payload,
            path: Vec::new(),
        }
    }

    fn phase(&self) -> Phase {
        self.anchor_phase.plus(self.offset)
    }

    fn place(&self) -> BitOffset {
        BitOffset {
            anchor: self.anchor,
            offset: self.offset,
        }
    }

    /// A step whose end only the data knows; positions count from there afterwards.
    fn step(&mut self, step: Step, phase: Phase) {
        self.steps.push(step);
        self.anchor += 1;
        self.anchor_phase = phase;
        self.offset = 0;
    }

    /// Metadata can declare sizes that no packet has: reading stops there, whatever the exact size is.
    fn skip(&mut self, bits: u64) {
        self.offset = self.offset.saturating_add(bits);
    }

    fn align(&mut self, align: u32) {
        let align = u64::from(align.max(1));
        let phase = self.phase();
        if align <= phase.modulus {
            self.skip((align - phase.residue % align) % align);
        } else {
            let skip = self.offset;
            self.step(Step::Align { skip, align }, Phase::aligned(align));
        }
    }

    /// `reachable`: the fields can be leaves, for they are neither optional nor repeated.
    fn structure(&mut self, structure: &Struct, reachable: bool) {
        self.align(structure.align);
        for member in &structure.members {
            self.path.push(member.name.clone());
            self.field(&member.class, reachable);
            self.path.pop();
        }
    }

    fn leaf(&mut self, class: &FieldClass, place: BitOffset, shape: LeafType, reachable: bool) {
        if reachable {
            let name = self.path.join(".").into();
            self.leaves.push(Leaf {
                scope: self.scope,
                name,
                class: class.clone(),
                place,
                shape,
            });
        }
    }

    fn field(&mut self, class: &FieldClass, reachable: bool) {
        match class {
            FieldClass::Integer(Integer {
                form: IntegerForm::Variable,
                signed,
                slot,
                updates_clock,
                ..
            }) => {
                self.align(8);
                let place = self.place();
                let signed = *signed;
                let step = Step::Variable {
                    skip: self.offset,
                    signed,
                    slot: *slot,
                    clock: *updates_clock,
                };
                self.step(step, Phase::BYTE);
                self.leaf(class, place, LeafType::Variable { signed }, reachable);
            }
            FieldClass::Integer(Integer {
                form: IntegerForm::Fixed(bits),
                ..
            })
            | FieldClass::Float(bits)
            | FieldClass::Boolean { bits, .. }
            | FieldClass::BitArray(bits)
            | FieldClass::BitMap { bits, .. } => {
                let integer = match class {
                    FieldClass::Integer(integer) => Some(integer),
                    _ => None,
                };
                let codec = Codec::new(*bits, integer.is_some_and(|integer| integer.signed));
                let place = self.bits(bits);
                let offset = place.offset;
                if let Some(slot) = class.slot() {
                    let boolean = integer.is_none();
                    self.steps.push(Step::Save {
                        offset,
                        codec,
                        slot,
                        boolean,
                    });
                }
                if integer.is_some_and(|integer| integer.updates_clock) {
                    self.steps.push(Step::Clock { offset, codec });
                }
                let shape = match class {
                    FieldClass::Float(_) => LeafType::Float(codec),
                    _ => LeafType::Number(codec),
                };
                self.leaf(class, place, shape, reachable);
            }
            FieldClass::String { encoding } => {
                self.align(8);
                let place = self.place();
                let (skip, encoding) = (self.offset, *encoding);
                self.step(Step::String { skip, encoding }, Phase::BYTE);
                self.leaf(class, place, LeafType::String(encoding), reachable);
            }
            FieldClass::Text { length, encoding } => {
                let (place, fixed) = self.bytes(*length);
                let encoding = *encoding;
                self.leaf(class, place, LeafType::Text { fixed, encoding }, reachable);
            }
            FieldClass::Blob { length, .. } => {
                let (place, fixed) = self.bytes(*length);
                self.leaf(class, place, LeafType::Blob { fixed }, reachable);
            }
            FieldClass::Struct(structure) => self.structure(structure, reachable),
            FieldClass::Array {
                length,
                align,
                element,
            } => self.array(class, *length, *align, element, reachable),
            FieldClass::Optional {
                selector,
                selector_signed,
                ranges,
                class: inner,
            } => {
                let place = self.place();
                let (block, phase, order) = self.inner(inner, self.phase());
                let phase = phase.or(self.phase());
                self.last_order = order.or(self.last_order);
                let step = Step::Optional {
                    skip: self.offset,
                    selector: *selector,
                    signed: *selector_signed,
                    ranges: ranges.clone(),
                    block,
                };
                self.step(step, phase);
                self.leaf(class, place, LeafType::Nested, reachable);
            }
            FieldClass::Variant {
                selector,
                selector_signed,
                options,
            } => {
                let place = self.place();
                let mut blocks = Vec::with_capacity(options.len());
                let mut behind: Option<(Phase, LastOrder)> = None;
                for option in options {
                    let (block, phase, order) = self.inner(&option.class, self.phase());
                    blocks.push((option.ranges.clone(), block));
                    behind = Some(match behind {
                        None => (phase, order),
                        Some((p, o)) => (p.or(phase), o.or(order)),
                    });
                }
                let (phase, order) = behind.unwrap_or((self.phase(), self.last_order));
                self.last_order = order;
                let step = Step::Variant {
                    skip: self.offset,
                    selector: *selector,
                    signed: *selector_signed,
                    options: blocks,
                };
                self.step(step, phase);
                self.leaf(class, place, LeafType::Nested, reachable);
            }
        }
    }

    fn bits(&mut self, bits: &BitField) -> BitOffset {
        self.align(bits.align);
        let phase = self.phase();
        let inside_a_byte = (phase.modulus >= 8).then_some(!phase.residue.is_multiple_of(8));
        match (inside_a_byte, self.last_order.fits(bits.order)) {
            (Some(false), _) | (_, Some(true)) => {}
            (Some(true), Some(false)) => self.steps.push(Step::Mixed),
            _ => self.irregular = true,
        }
        self.last_order = LastOrder::Is(bits.order);
        let place = self.place();
        self.skip(u64::from(bits.size));
        place
    }

    fn bytes(&mut self, length: Length) -> (BitOffset, Option<u64>) {
        self.align(8);
        let place = self.place();
        match length {
            Length::Fixed(bytes) => {
                self.skip(bytes.saturating_mul(8));
                (place, Some(bytes))
            }
            Length::Slot(length) => {
                let step = Step::Run {
                    skip: self.offset,
                    length,
                    stride: 8,
                };
                self.step(step, Phase::BYTE);
                (place, None)
            }
        }
    }

    /// Compiles a field that is not always there, or there several times, as a block of its own.
    fn inner(&mut self, class: &FieldClass, phase: Phase) -> (Block, Phase, LastOrder) {
        let mut inner = Compiler::new(phase);
        inner.last_order = self.last_order;
        inner.field(class, false);
        self.irregular |= inner.irregular;
        let (phase, order) = (inner.phase(), inner.last_order);
        let block = Block {
            steps: inner.steps,
            tail: inner.offset,
        };
        (block, phase, order)
    }
}
