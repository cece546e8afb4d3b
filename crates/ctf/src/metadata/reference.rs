//! Which field does a length or a selector mean?
//!
//! One walk over each scope finds the targets of all references; each target gets a slot. The walk visits fields in
//! the order in which `build` copies them, so the n-th referral found here belongs to the n-th referrer there.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::ast::{
    AstClass, AstInteger, AstKind, AstLength, AstStruct, Labels, Reference, ReferenceOrigin,
    RootScope,
};
use super::error::{Position, Result};
use crate::schema::Slot;

/// How many fields all scopes of a trace may have together. LTTng's largest metadata has a few ten thousand.
const MAX_FIELDS: u64 = 1_000_000;
/// How many fields the search for targets may look at.
const MAX_STEPS: u64 = 50_000_000;

/// The way from a scope's root to a field: positions of structure members and variant options.
type Path = Vec<u32>;

/// What a reference leads to.
#[derive(Debug, Clone)]
pub(super) struct Referral {
    target: usize,
    pub(super) signed: bool,
    /// CTF 1.8: the labels of a tag.
    pub(super) labels: Option<Rc<Labels>>,
}

/// All references of one scope and the targets that others found in it.
#[derive(Debug, Default)]
pub(super) struct ScopePlan {
    pub(super) referrals: Vec<Referral>,
    /// Sorted, so that slots are numbered in the order of decoding.
    targets: BTreeMap<Path, usize>,
}

/// Counts work and gathers targets over the whole trace.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// For each target the one it shares its slot with; itself if none.
    joined: Vec<usize>,
    slots: HashMap<usize, Slot>,
    fields: u64,
    steps: u64,
}

/// The scopes that an event can see: its roots, and where to note targets in each.
pub(super) type Roots<'d> = [Option<&'d AstClass>; 6];
pub(super) type Plans = [ScopePlan; 6];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Length,
    /// CTF 1.8 selects by label, CTF 2 by value.
    VariantSelector {
        by_label: bool,
    },
    OptionalSelector {
        ranges: bool,
    },
}

impl Targets {
    pub(super) fn spend_fields(&mut self, count: usize, at: Position) -> Result<()> {
        self.fields = self.fields.saturating_add(count as u64);
        if self.fields > MAX_FIELDS {
            return Err(at.error(format!(
                "the metadata describes more than {MAX_FIELDS} fields, which no tracer writes"
            )));
        }
        Ok(())
    }

    /// Finds the targets of all references inside one scope.
    pub(super) fn collect(
        &mut self,
        scope: RootScope,
        roots: &Roots,
        plans: &mut Plans,
    ) -> Result<()> {
        let Some(root) = roots[scope as usize] else {
            return Ok(());
        };
        let mut walk = Walk {
            targets: self,
            scope,
            roots,
            plans,
            frames: Vec::new(),
            path: Vec::new(),
            at: Position::NOWHERE,
        };
        walk.visit(root)
    }

    /// Numbers the targets of a scope's plan from `next` on; returns the next free number.
    pub(super) fn number(&mut self, plan: &ScopePlan, mut next: u32) -> u32 {
        for &target in plan.targets.values() {
            let root = self.root(target);
            self.slots.entry(root).or_insert_with(|| {
                next += 1;
                Slot(next - 1)
            });
        }
        next
    }

    pub(super) fn slot_of_referral(&self, referral: &Referral) -> Slot {
        let root = self.root(referral.target);
        self.slots.get(&root).copied().unwrap_or(Slot(0))
    }

    pub(super) fn slot_of_field(&self, plan: &ScopePlan, path: &[u32]) -> Option<Slot> {
        let target = *plan.targets.get(path)?;
        self.slots.get(&self.root(target)).copied()
    }

    fn root(&self, mut target: usize) -> usize {
        while self.joined[target] != target {
            target = self.joined[target];
        }
        target
    }

    /// Several fields that one reference means share a slot.
    fn join(&mut self, first: usize, second: usize) {
        let (first, second) = (self.root(first), self.root(second));
        self.joined[first.max(second)] = first.min(second);
    }
}

struct Walk<'w, 'd> {
    targets: &'w mut Targets,
    scope: RootScope,
    roots: &'w Roots<'d>,
    plans: &'w mut Plans,
    frames: Vec<Frame<'d>>,
    path: Path,
    at: Position,
}

/// A structure that the walk is in.
#[derive(Clone, Copy)]
struct Frame<'d> {
    structure: &'d AstStruct,
    /// Length of the path that leads to it.
    depth: usize,
}

struct Target<'d> {
    path: Path,
    class: &'d AstClass,
}

impl<'d> Walk<'_, 'd> {
    fn visit(&mut self, ast: &'d AstClass) -> Result<()> {
        self.targets.spend_fields(1, self.at)?;
        match &ast.kind {
            AstKind::Structure(structure) => {
                self.frames.push(Frame {
                    structure,
                    depth: self.path.len(),
                });
                for (i, member) in structure.members.iter().enumerate() {
                    self.at = member.at;
                    self.path.push(i as u32);
                    self.visit(&member.class)?;
                    self.path.pop();
                }
                self.frames.pop();
            }
            AstKind::Text { length, .. } | AstKind::Blob { length, .. } => self.length(length)?,
            AstKind::Array {
                length, element, ..
            } => {
                self.length(length)?;
                self.visit(element)?;
            }
            AstKind::Optional {
                selector,
                ranges,
                class,
            } => {
                let ranges = ranges.is_some();
                self.refer(selector, Purpose::OptionalSelector { ranges })?;
                self.visit(class)?;
            }
            AstKind::Variant { selector, options } => {
                let by_label = options.iter().any(|option| option.ranges.is_none());
                self.refer(selector, Purpose::VariantSelector { by_label })?;
                for (i, option) in options.iter().enumerate() {
                    self.path.push(i as u32);
                    self.visit(&option.class)?;
                    self.path.pop();
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn length(&mut self, length: &AstLength) -> Result<()> {
        match length {
            AstLength::Fixed(_) => Ok(()),
            AstLength::Field(reference) => self.refer(reference, Purpose::Length),
        }
    }

    fn refer(&mut self, reference: &Reference, purpose: Purpose) -> Result<()> {
        let (scope, found) = self.find(reference)?;
        let mut referral: Option<Referral> = None;
        for Target { path, class } in found {
            let (signed, labels) = check(class, reference, purpose)?;
            let joined = &mut self.targets.joined;
            let target = *self.plans[scope as usize]
                .targets
                .entry(path)
                .or_insert_with(|| {
                    joined.push(joined.len());
                    joined.len() - 1
                });
            match &referral {
                None => {
                    referral = Some(Referral {
                        target,
                        signed,
                        labels,
                    });
                }
                Some(first) if first.signed == signed => self.targets.join(first.target, target),
                Some(_) => {
                    return Err(reference.at.error(format!(
                        "'{}' means fields of which some are signed and some are not",
                        reference.text()
                    )));
                }
            }
        }
        match referral {
            Some(referral) => {
                self.plans[self.scope as usize].referrals.push(referral);
                Ok(())
            }
            None => Err(not_found(reference)),
        }
    }

    /// The fields that a reference means: one, or in CTF 2 one for each option of a variant on the way.
    fn find(&mut self, reference: &Reference) -> Result<(RootScope, Vec<Target<'d>>)> {
        let (first, rest) = match reference.names.split_first() {
            Some((first, rest)) => (first.as_str(), rest),
            None => return Err(not_found(reference)),
        };
        let mut found = Vec::new();
        match reference.origin {
            ReferenceOrigin::Scope(scope) => {
                let root = self.roots[scope as usize].filter(|_| scope <= self.scope);
                let Some(root) = root else {
                    let problem = if scope > self.scope {
                        "comes later"
                    } else {
                        "is not declared"
                    };
                    return Err(reference.at.error(format!(
                        "'{}' is looked for in the {scope}, which {problem}",
                        reference.text()
                    )));
                };
                self.descend(root, &reference.names, Vec::new(), reference, &mut found)?;
                if scope < self.scope {
                    return Ok((scope, found));
                }
            }
            ReferenceOrigin::Up(levels) => {
                let Some(index) = self.frames.len().checked_sub(levels + 1) else {
                    return Err(reference
                        .at
                        .error("the location leaves the scope that it starts in"));
                };
                let frame = self.frames[index];
                if let Some(i) = frame.structure.position(first) {
                    let start = self.member_path(frame, i);
                    let class = &frame.structure.members[i].class;
                    self.descend(class, rest, start, reference, &mut found)?;
                }
            }
            ReferenceOrigin::Search => {
                let mut too_late = false;
                for index in (0..self.frames.len()).rev() {
                    let frame = self.frames[index];
                    let leads_to_referrer = self.path.get(frame.depth).copied();
                    let Some(i) = frame.structure.position(first) else {
                        continue;
                    };
                    if leads_to_referrer.is_none_or(|member| i as u32 >= member) {
                        too_late = true;
                        continue;
                    }
                    let start = self.member_path(frame, i);
                    let class = &frame.structure.members[i].class;
                    self.descend(class, rest, start, reference, &mut found)?;
                    if !found.is_empty() {
                        return Ok((self.scope, found));
                    }
                }
                return Err(if too_late {
                    not_before(reference)
                } else {
                    not_found(reference)
                });
            }
        }
        for target in &found {
            if !self.is_before(&target.path) {
                return Err(not_before(reference));
            }
        }
        Ok((self.scope, found))
    }

    fn member_path(&self, frame: Frame, member: usize) -> Path {
        let mut path = self.path[..frame.depth].to_vec();
        path.push(member as u32);
        path
    }

    /// Follows names downwards. Arrays and optional fields take no name; options take theirs in CTF 1.8, and in CTF 2
    /// they take none either, so that every option is tried.
    fn descend(
        &mut self,
        class: &'d AstClass,
        names: &[String],
        path: Path,
        reference: &Reference,
        found: &mut Vec<Target<'d>>,
    ) -> Result<()> {
        self.targets.steps += 1;
        if self.targets.steps > MAX_STEPS {
            return Err(reference
                .at
                .error("the references of this metadata have too many possible meanings"));
        }
        match (&class.kind, names.split_first()) {
            (AstKind::Structure(structure), Some((name, rest))) => {
                if let Some(i) = structure.position(name) {
                    let path = extended(&path, i);
                    let class = &structure.members[i].class;
                    self.descend(class, rest, path, reference, found)?;
                }
            }
            (AstKind::Array { element, .. }, Some(_)) => {
                self.descend(element, names, path, reference, found)?;
            }
            (AstKind::Optional { class, .. }, _) => {
                self.descend(class, names, path, reference, found)?;
            }
            (AstKind::Variant { options, .. }, name) => {
                self.targets.steps += options.len() as u64;
                for (i, option) in options.iter().enumerate() {
                    let names = match (&option.ranges, name) {
                        (Some(_), _) => names,
                        (None, Some((name, rest))) if *option.original_name == **name => rest,
                        (None, _) => continue,
                    };
                    let path = extended(&path, i);
                    self.descend(&option.class, names, path, reference, found)?;
                }
                if name.is_none() && found.is_empty() {
                    found.push(Target { path, class });
                }
            }
            (_, None) => found.push(Target { path, class }),
            (_, Some(_)) => {}
        }
        Ok(())
    }

    /// Whether a field of this scope is decoded before the field that the walk is at.
    fn is_before(&self, target: &[u32]) -> bool {
        let mut class = self.roots[self.scope as usize];
        for (&there, &here) in target.iter().zip(&self.path) {
            while let Some(
                AstKind::Array { element, .. } | AstKind::Optional { class: element, .. },
            ) = class.map(|class| &class.kind)
            {
                class = Some(element);
            }
            let below = match class.map(|class| &class.kind) {
                Some(AstKind::Structure(structure)) if there == here => {
                    structure.members.get(here as usize).map(|m| &m.class)
                }
                Some(AstKind::Structure(_)) => return there < here,
                // Of two options only one is ever decoded.
                Some(AstKind::Variant { options, .. }) if there == here => {
                    options.get(here as usize).map(|option| &option.class)
                }
                _ => return false,
            };
            class = below.map(Rc::as_ref);
        }
        // One contains the other.
        false
    }
}

fn extended(path: &[u32], step: usize) -> Path {
    let mut longer = Vec::with_capacity(path.len() + 1);
    longer.extend_from_slice(path);
    longer.push(step as u32);
    longer
}

/// Whether a field can serve the purpose; its signedness and labels.
fn check(
    class: &AstClass,
    reference: &Reference,
    purpose: Purpose,
) -> Result<(bool, Option<Rc<Labels>>)> {
    let integer: Option<&AstInteger> = class.integer();
    let wanted = match (purpose, integer) {
        (Purpose::Length, Some(integer)) if !integer.signed => return Ok((false, None)),
        (Purpose::Length, _) => "a length must be an unsigned integer",
        (Purpose::VariantSelector { by_label }, Some(integer)) => {
            let labels = integer.labels.as_ref().map(Rc::clone);
            if labels.is_some() || !by_label {
                return Ok((integer.signed, labels));
            }
            "the tag of a variant must be an enumeration"
        }
        (Purpose::VariantSelector { by_label: true }, None) => {
            "the tag of a variant must be an enumeration"
        }
        (Purpose::VariantSelector { by_label: false }, None) => {
            "the selector of a variant must be an integer"
        }
        (Purpose::OptionalSelector { ranges }, Some(integer)) => match ranges {
            true => return Ok((integer.signed, None)),
            false => "an optional field with an integer as selector needs selector-field-ranges",
        },
        (Purpose::OptionalSelector { ranges }, None) => match (&class.kind, ranges) {
            (AstKind::Boolean(_), false) => return Ok((false, None)),
            (AstKind::Boolean(_), true) => {
                "an optional field with a boolean as selector has no selector-field-ranges"
            }
            _ => "the selector of an optional field must be a boolean or an integer",
        },
    };
    Err(reference.at.error(format!(
        "{wanted}, but '{}' is {}",
        reference.text(),
        class.description()
    )))
}

fn not_found(reference: &Reference) -> super::error::MetadataError {
    reference.at.error(format!(
        "there is no field '{}' that is decoded before this one",
        reference.text()
    ))
}

fn not_before(reference: &Reference) -> super::error::MetadataError {
    reference.at.error(format!(
        "the field '{}' is not decoded before the field that refers to it",
        reference.text()
    ))
}
