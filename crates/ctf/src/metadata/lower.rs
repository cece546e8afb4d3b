//! Lowers the syntax tree of one scope into the intermediate form, and gives each field its role, its clock and its slot.

use std::sync::Arc;

use super::ast::{AstClass, AstInteger, AstKind, AstLength, AstOption, AstStruct, RootScope};
use super::error::{Position, Result, Warning};
use super::reference::{Referral, ScopePlan, Targets};
use super::role;
use crate::schema::{
    Clock, FieldClass, Integer, Length, Member, Role, Slot, Struct, VariantOption, Version,
};

pub(super) struct Lowering<'c> {
    scope: RootScope,
    version: Version,
    plan: &'c ScopePlan,
    targets: &'c mut Targets,
    clocks: &'c mut Clocks,
    warnings: &'c mut Vec<Warning>,
    next_referral: usize,
    path: Vec<u32>,
    /// The roles that fields of this scope have.
    pub(super) roles: Vec<Role>,
}

/// The clocks of a trace, and the one that the current stream class uses.
pub(super) struct Clocks {
    list: Vec<Clock>,
    current: Option<usize>,
}

impl<'c> Lowering<'c> {
    pub(super) fn new(
        scope: RootScope,
        version: Version,
        plan: &'c ScopePlan,
        targets: &'c mut Targets,
        clocks: &'c mut Clocks,
        warnings: &'c mut Vec<Warning>,
    ) -> Lowering<'c> {
        Lowering {
            scope,
            version,
            plan,
            targets,
            clocks,
            warnings,
            next_referral: 0,
            path: Vec::new(),
            roles: Vec::new(),
        }
    }

    pub(super) fn structure(&mut self, ast: &AstStruct) -> Result<Struct> {
        let mut members = Vec::with_capacity(ast.members.len());
        let mut align = ast.minimum_align.max(1);
        for (i, member) in ast.members.iter().enumerate() {
            self.path.push(i as u32);
            let class = self.class(&member.class, Some(&member.original_name), member.at)?;
            self.path.pop();
            align = align.max(class.alignment());
            members.push(Member {
                name: Arc::clone(&member.name),
                original_name: Arc::clone(&member.original_name),
                class,
            });
        }
        Ok(Struct { members, align })
    }

    /// `name` is that of the member or option that has this class; elements of arrays have none.
    fn class(&mut self, ast: &AstClass, name: Option<&str>, at: Position) -> Result<FieldClass> {
        let reserved = match self.version {
            Version::Ctf1 => {
                name.and_then(|name| role::by_name(self.scope, name, self.path.len() == 1))
            }
            Version::Ctf2 => None,
        };
        if let (Some(_), Some(name), None) = (reserved, name, ast.integer())
            && self.path.len() == 1
        {
            return Err(at.error(format!(
                "'{name}' in the {} must be an unsigned integer, but is {}",
                self.scope,
                ast.description()
            )));
        }
        Ok(match &ast.kind {
            AstKind::Integer(integer) => {
                FieldClass::Integer(self.integer(integer, reserved, name, at)?)
            }
            AstKind::Float(bits) => FieldClass::Float(*bits),
            AstKind::Boolean(bits) => FieldClass::Boolean {
                bits: *bits,
                slot: self.slot(),
            },
            AstKind::BitArray(bits) => FieldClass::BitArray(*bits),
            AstKind::BitMap { bits, flags } => FieldClass::BitMap {
                bits: *bits,
                flags: Arc::clone(flags),
            },
            AstKind::String(encoding) => FieldClass::String {
                encoding: *encoding,
            },
            AstKind::Text { length, encoding } => FieldClass::Text {
                length: self.length(length, at)?,
                encoding: *encoding,
            },
            AstKind::Blob {
                length,
                media_type,
                is_uuid,
            } => {
                if *is_uuid && self.scope != RootScope::PacketHeader {
                    return Err(at.error(format!(
                        "the role 'metadata-stream-uuid' is not allowed in the {}",
                        self.scope
                    )));
                }
                FieldClass::Blob {
                    length: self.length(length, at)?,
                    media_type: media_type.clone(),
                }
            }
            AstKind::Structure(structure) => FieldClass::Struct(self.structure(structure)?),
            AstKind::Array {
                length,
                minimum_align,
                element,
            } => {
                let length = self.length(length, at)?;
                let element = self.class(element, None, at)?;
                FieldClass::Array {
                    length,
                    align: element.alignment().max(*minimum_align),
                    element: Box::new(element),
                }
            }
            AstKind::Optional { ranges, class, .. } => {
                let referral = self.referral(at)?;
                FieldClass::Optional {
                    selector: self.targets.slot_of_referral(&referral),
                    selector_signed: referral.signed,
                    ranges: ranges.clone(),
                    class: Box::new(self.class(class, name, at)?),
                }
            }
            AstKind::Variant { options, .. } => self.variant(options, at)?,
        })
    }

    fn variant(&mut self, declared: &[AstOption], at: Position) -> Result<FieldClass> {
        let referral = self.referral(at)?;
        let mut options = Vec::with_capacity(declared.len());
        for (i, option) in declared.iter().enumerate() {
            let ranges = match (&option.ranges, &referral.labels) {
                (Some(ranges), _) => ranges.as_slice(),
                (None, Some(labels)) => labels.ranges(&option.original_name),
                (None, None) => &[],
            };
            self.targets.spend_fields(ranges.len(), option.at)?;
            self.path.push(i as u32);
            let class = self.class(&option.class, Some(&option.original_name), option.at)?;
            self.path.pop();
            options.push(VariantOption {
                name: Arc::clone(&option.name),
                original_name: Arc::clone(&option.original_name),
                ranges: ranges.to_vec(),
                class,
            });
        }
        Ok(FieldClass::Variant {
            selector: self.targets.slot_of_referral(&referral),
            selector_signed: referral.signed,
            options,
        })
    }

    fn integer(
        &mut self,
        ast: &AstInteger,
        reserved: Option<Role>,
        name: Option<&str>,
        at: Position,
    ) -> Result<Integer> {
        let role = match ast.role {
            Some(declared) => Some(role::declared(self.scope, declared, at)?),
            None => reserved,
        };
        if let (true, Some(_), Some(name)) = (ast.signed, role, name) {
            return Err(at.error(format!(
                "'{name}' in the {} must be an unsigned integer, but is signed",
                self.scope
            )));
        }
        if role == Some(Role::PacketMagic) {
            role::check_magic(ast, self.path.as_slice() == [0], at)?;
        }
        if let Some(role) = role
            && !self.roles.contains(&role)
        {
            self.roles.push(role);
        }
        Ok(Integer {
            form: ast.form,
            signed: ast.signed,
            base: ast.base,
            mappings: ast
                .labels
                .as_ref()
                .map(|labels| Arc::clone(&labels.mappings)),
            role,
            updates_clock: self.updates_clock(ast, role, at)?,
            slot: self.slot(),
        })
    }

    fn updates_clock(
        &mut self,
        ast: &AstInteger,
        role: Option<Role>,
        at: Position,
    ) -> Result<bool> {
        let is_timestamp = role.is_some_and(role::is_timestamp);
        match (ast.clock, self.version) {
            (Some(clock), Version::Ctf1) => self.clocks.enlist(clock, at)?,
            (None, Version::Ctf1) if is_timestamp => {
                let clock = self.clocks.only(at)?;
                self.clocks.enlist(clock, at)?;
            }
            (_, Version::Ctf2) if is_timestamp => self.clocks.require_default(ast.role, at)?,
            _ => return Ok(false),
        }
        if ast.signed {
            self.warnings.push(at.warning(
                "a signed integer is mapped to a clock; only unsigned ones can advance it",
            ));
        }
        Ok(!ast.signed && role != Some(Role::TimestampEnd))
    }

    fn length(&mut self, length: &AstLength, at: Position) -> Result<Length> {
        Ok(match length {
            AstLength::Fixed(length) => Length::Fixed(*length),
            AstLength::Field(_) => {
                let referral = self.referral(at)?;
                Length::Slot(self.targets.slot_of_referral(&referral))
            }
        })
    }

    fn referral(&mut self, at: Position) -> Result<Referral> {
        let referral = self.plan.referrals.get(self.next_referral);
        self.next_referral += 1;
        // The walk that made the plan saw the same fields in the same order.
        referral
            .cloned()
            .ok_or_else(|| at.error("this reference was not resolved"))
    }

    fn slot(&self) -> Option<Slot> {
        self.targets.slot_of_field(self.plan, &self.path)
    }
}

impl Clocks {
    pub(super) fn new(list: Vec<Clock>) -> Clocks {
        Clocks {
            list,
            current: None,
        }
    }

    pub(super) fn enter_stream(&mut self, clock: Option<usize>) {
        self.current = clock;
    }

    pub(super) fn of_stream(&self) -> Option<usize> {
        self.current
    }

    pub(super) fn into_list(self) -> Vec<Clock> {
        self.list
    }

    /// All mapped fields of a stream class use one clock.
    fn enlist(&mut self, clock: usize, at: Position) -> Result<()> {
        let current = *self.current.get_or_insert(clock);
        if current == clock {
            return Ok(());
        }
        let name = |index: usize| self.list.get(index).map_or("?", |clock| clock.id.as_str());
        Err(at.error(format!(
            "this field is mapped to the clock '{}', but others of its stream class to '{}'",
            name(clock),
            name(current)
        )))
    }

    /// The clock of timestamps that are not mapped to any.
    fn only(&mut self, at: Position) -> Result<usize> {
        match self.list.len() {
            0 => {
                self.list.push(Clock::implicit("default"));
                Ok(0)
            }
            1 => Ok(0),
            _ => Err(at
                .error("this timestamp is not mapped to a clock, and there are several clocks")
                .with_hint("add 'map = clock.NAME.value;' to its integer")),
        }
    }

    fn require_default(&self, role: Option<&str>, at: Position) -> Result<()> {
        if self.current.is_some() {
            return Ok(());
        }
        let role = role.unwrap_or("default-clock-timestamp");
        Err(at
            .error(format!(
                "the role '{role}' needs a clock, but the data stream class has none"
            ))
            .with_hint("give it a default-clock-class-id"))
    }
}
