//! Random field classes, and the members that they depend on.
//!
//! The only thing avoided on purpose is what readers must refuse: two byte orders that meet inside a byte. So fields
//! that do not fill whole bytes all have the byte order of the trace.

use std::sync::Arc;

use rostrace_ctf::schema::*;

use super::choices::Choices;
use super::random_schema::{Domains, Profile};

/// A field that later ones may depend on.
#[derive(Debug, Clone)]
pub(super) struct Target {
    slot: Slot,
    signed: bool,
    boolean: bool,
}

pub(super) struct Builder<'c> {
    pub(super) choices: &'c mut Choices,
    pub(super) profile: Profile,
    pub(super) order: ByteOrder,
    pub(super) has_clock: bool,
    /// Whether the scope that is being made comes after the event header.
    pub(super) after_header: bool,
    /// Whether fields of the scope that is being made may depend on others.
    pub(super) may_refer: bool,
    pub(super) next_slot: u32,
    pub(super) most_slots: u32,
    pub(super) next_name: u32,
    pub(super) visible: Vec<Target>,
    pub(super) domains: Domains,
}

impl Builder<'_> {
    /// A structure with at most `2 * depth` members that serves as a scope of its own.
    pub(super) fn scope(&mut self, depth: usize) -> Struct {
        let mut members = Vec::new();
        self.add_members(&mut members, depth, 2 * depth);
        self.aligned(members)
    }

    pub(super) fn add_members(&mut self, members: &mut Vec<Member>, depth: usize, most: usize) {
        for _ in 0..=self.choices.below(most) {
            self.add_member(members, depth);
        }
    }

    /// Adds a random member, after the one that it depends on if it needs one.
    fn add_member(&mut self, members: &mut Vec<Member>, depth: usize) {
        let class = match self.choices.below(12) {
            _ if !self.may_refer => self.class(depth),
            8 => {
                let slot = self.length(members, &[0, 1, 3, 4]);
                let element = self.nested(|builder| builder.class(depth.saturating_sub(1)));
                let extra = self.extra_alignment();
                array(Length::Slot(slot), element, extra)
            }
            9 => self.dynamic_bytes(members),
            10 if depth > 0 => self.variant(members, depth - 1),
            11 if depth > 0 && self.profile == Profile::Everything => {
                self.optional(members, depth - 1)
            }
            _ => self.class(depth),
        };
        members.push(self.named(class));
    }

    /// A class that depends on nothing outside.
    fn class(&mut self, depth: usize) -> FieldClass {
        let everything = self.profile == Profile::Everything;
        // See `shortest_text`.
        let least_text = usize::from(!everything);
        match self.choices.below(16) {
            0..3 => self.integer(),
            3 => self.enumeration(),
            4 => {
                let size = self.choices.one_of(&[32, 64]);
                FieldClass::Float(self.any_bits(size))
            }
            5 => FieldClass::String {
                encoding: self.encoding(),
            },
            6 => FieldClass::Text {
                length: Length::Fixed(4 * (least_text + self.choices.below(3)) as u64),
                encoding: self.encoding(),
            },
            7 | 8 if depth > 0 => FieldClass::Struct(self.inner_structure(depth - 1)),
            9 if depth > 0 => {
                let length = Length::Fixed(self.choices.below(4) as u64);
                let element = self.nested(|builder| builder.class(depth - 1));
                let extra = self.extra_alignment();
                array(length, element, extra)
            }
            10 if everything => self.variable_integer(),
            11 if everything => FieldClass::Boolean {
                bits: self.random_bits(),
                slot: None,
            },
            12 if everything => FieldClass::BitArray(self.random_bits()),
            13 if everything => FieldClass::BitMap {
                bits: self.random_bits(),
                flags: Arc::new([Flag {
                    name: "flag".into(),
                    mask: 1,
                }]),
            },
            15 if everything && self.has_clock && self.after_header => self.time_in_between(),
            14 if everything => FieldClass::Blob {
                length: Length::Fixed(self.choices.below(5) as u64),
                media_type: None,
            },
            _ => self.integer(),
        }
    }

    fn inner_structure(&mut self, depth: usize) -> Struct {
        let mut members = Vec::new();
        if !self.choices.once_in(8) {
            self.add_members(&mut members, depth, 3);
        }
        self.aligned(members)
    }

    fn integer(&mut self) -> FieldClass {
        let bits = self.random_bits();
        let integer = integer(bits, self.choices.once_in(2));
        let bases = [Base::Decimal, Base::Hexadecimal, Base::Octal, Base::Binary];
        let base = self.choices.one_of(&bases);
        FieldClass::Integer(Integer { base, ..integer })
    }

    /// A field that moves the clock for the events after it.
    fn time_in_between(&mut self) -> FieldClass {
        let bits = self.any_bits(12);
        let integer = integer(bits, false);
        FieldClass::Integer(Integer {
            updates_clock: true,
            ..integer
        })
    }

    fn enumeration(&mut self) -> FieldClass {
        let bits = self.random_bits();
        let signed = self.choices.once_in(2);
        let integer = integer(bits, signed);
        let (low, high) = match signed {
            true => (-(1i128 << (bits.size - 1)), (1i128 << (bits.size - 1)) - 1),
            false => (0, (1i128 << bits.size) - 1),
        };
        let label = |name: &str, low, high| Label {
            name: name.into(),
            ranges: vec![Range { low, high }],
        };
        let labels = vec![
            label("lowest", low, low),
            label("any \"other\"", low, high),
            label("highest", high, high),
        ];
        FieldClass::Integer(Integer {
            mappings: Some(Arc::new(Mappings { labels })),
            ..integer
        })
    }

    fn variable_integer(&mut self) -> FieldClass {
        let bits = self.bits(8, 8);
        let integer = integer(bits, self.choices.once_in(2));
        FieldClass::Integer(Integer {
            form: IntegerForm::Variable,
            ..integer
        })
    }

    /// Text or bytes after their length.
    fn dynamic_bytes(&mut self, members: &mut Vec<Member>) -> FieldClass {
        let encoding = self.encoding();
        if self.profile == Profile::Ctf1 {
            let slot = self.new_length(members, &[1, 3, 4]);
            return FieldClass::Text {
                length: Length::Slot(slot),
                encoding,
            };
        }
        if encoding == Encoding::Utf8 {
            let length = Length::Slot(self.length(members, &[0, 1, 3, 4]));
            if self.choices.once_in(2) {
                return FieldClass::Blob {
                    length,
                    media_type: Some("image/png".into()),
                };
            }
            return FieldClass::Text { length, encoding };
        }
        // Whole code units, of all encodings.
        let slot = self.new_length(members, &[0, 4, 8]);
        FieldClass::Text {
            length: Length::Slot(slot),
            encoding,
        }
    }

    /// The slot of a field before this one that can be a length, maybe a new one.
    fn length(&mut self, members: &mut Vec<Member>, domain: &[i128]) -> Slot {
        let usable: Vec<Slot> = (self.visible.iter())
            .filter(|target| !target.signed && !target.boolean)
            .map(|target| target.slot)
            .collect();
        if usable.is_empty() || !self.choices.once_in(3) {
            return self.new_length(members, domain);
        }
        self.choices.one_of(&usable)
    }

    fn new_length(&mut self, members: &mut Vec<Member>, domain: &[i128]) -> Slot {
        let target = self.add_target(members, false, domain, None);
        target.slot
    }

    fn add_target(
        &mut self,
        members: &mut Vec<Member>,
        signed: bool,
        domain: &[i128],
        mappings: Option<Arc<Mappings>>,
    ) -> Target {
        let size = self.choices.one_of(&[8, 16, 5, 7, 32, 33, 64]);
        let bits = self.any_bits(size);
        let integer = integer(bits, signed);
        let variable = self.profile == Profile::Everything && self.choices.once_in(4);
        let target = Target {
            slot: self.take_slot(),
            signed,
            boolean: false,
        };
        let class = FieldClass::Integer(Integer {
            form: match variable {
                true => IntegerForm::Variable,
                false => integer.form,
            },
            slot: Some(target.slot),
            mappings,
            ..integer
        });
        members.push(self.named(class));
        self.domains.insert(target.slot, domain.to_vec());
        self.visible.push(target.clone());
        target
    }

    fn variant(&mut self, members: &mut Vec<Member>, depth: usize) -> FieldClass {
        let signed = self.choices.once_in(2);
        let domain: &[i128] = if signed {
            &[-3, -1, 0, 2]
        } else {
            &[0, 1, 2, 5]
        };
        let count = 1 + self.choices.below(3);
        let last = domain[domain.len() - 1];
        let ranges: Vec<Vec<Range>> = (0..count)
            .map(|option| {
                let low = domain[option];
                let high = if option + 1 == count { last } else { low };
                vec![Range { low, high }]
            })
            .collect();
        let name = |option: usize| format!("OPTION_{option}");
        let labels = (ranges.iter().enumerate())
            .map(|(option, ranges)| Label {
                name: name(option),
                ranges: ranges.clone(),
            })
            .collect();
        let mappings = Some(Arc::new(Mappings { labels }));
        let target = self.add_target(members, signed, domain, mappings);
        let options = (ranges.into_iter().enumerate())
            .map(|(option, ranges)| VariantOption {
                name: name(option).into(),
                original_name: name(option).into(),
                ranges,
                class: self.nested(|builder| builder.class(depth)),
            })
            .collect();
        FieldClass::Variant {
            selector: target.slot,
            selector_signed: signed,
            options,
        }
    }

    fn optional(&mut self, members: &mut Vec<Member>, depth: usize) -> FieldClass {
        let boolean = self.choices.once_in(2);
        let target = if boolean {
            let target = Target {
                slot: self.take_slot(),
                signed: false,
                boolean,
            };
            let class = FieldClass::Boolean {
                bits: self.random_bits(),
                slot: Some(target.slot),
            };
            members.push(self.named(class));
            target
        } else {
            self.add_target(
                members,
                self.profile == Profile::Everything,
                &[-3, 0, 2],
                None,
            )
        };
        FieldClass::Optional {
            selector: target.slot,
            selector_signed: target.signed,
            ranges: (!boolean).then(|| vec![Range { low: -5, high: 0 }]),
            class: Box::new(self.nested(|builder| builder.class(depth))),
        }
    }

    /// Runs where a field may be absent or repeated: nothing outside may depend on what is inside.
    fn nested<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let visible = self.visible.len();
        let result = run(self);
        self.visible.truncate(visible);
        result
    }

    pub(super) fn take_slot(&mut self) -> Slot {
        let slot = Slot(self.next_slot);
        self.next_slot += 1;
        self.most_slots = self.most_slots.max(self.next_slot);
        slot
    }

    fn named(&mut self, class: FieldClass) -> Member {
        self.next_name += 1;
        let name = format!("f{}", self.next_name);
        let original_name = match self.profile {
            Profile::Ctf1 => format!("_{name}"),
            Profile::Everything => name.clone(),
        };
        rostrace_testkit::schema::member(&name, &original_name, class)
    }

    pub(super) fn role(&mut self, name: &str, role: Role, sizes: &[u8]) -> Member {
        let size = self.choices.one_of(sizes);
        let bits = self.any_bits(size);
        let integer = integer(bits, false);
        let variable = self.profile == Profile::Everything
            && role != Role::PacketMagic
            && self.choices.once_in(5);
        let class = FieldClass::Integer(Integer {
            form: match variable {
                true => IntegerForm::Variable,
                false => integer.form,
            },
            role: Some(role),
            updates_clock: matches!(role, Role::TimestampBegin | Role::Timestamp),
            ..integer
        });
        rostrace_testkit::schema::member(name, name, class)
    }

    fn random_bits(&mut self) -> BitField {
        let size = match self.choices.below(3) {
            0 => self.choices.one_of(&[8, 16, 32, 64]),
            _ => 1 + self.choices.below(64) as u8,
        };
        self.any_bits(size)
    }

    fn any_bits(&mut self, size: u8) -> BitField {
        let align = self.choices.one_of(&[8, 1, 1, 2, 4, 16, 32, 64]);
        self.bits(size, align)
    }

    pub(super) fn bits(&mut self, size: u8, align: u32) -> BitField {
        let other_order = size.is_multiple_of(8) && align >= 8 && self.choices.once_in(4);
        let order = match (self.order, other_order) {
            (ByteOrder::Little, false) | (ByteOrder::Big, true) => ByteOrder::Little,
            _ => ByteOrder::Big,
        };
        BitField {
            size,
            align,
            order,
            reversed: self.profile == Profile::Everything && self.choices.once_in(5),
        }
    }

    fn encoding(&mut self) -> Encoding {
        match self.profile {
            Profile::Ctf1 => Encoding::Utf8,
            Profile::Everything => self.choices.one_of(&[
                Encoding::Utf8,
                Encoding::Utf16Le,
                Encoding::Utf16Be,
                Encoding::Utf32Le,
                Encoding::Utf32Be,
            ]),
        }
    }

    fn extra_alignment(&mut self) -> u32 {
        match self.profile {
            Profile::Ctf1 => 1,
            Profile::Everything => self.choices.one_of(&[1, 1, 8, 32]),
        }
    }

    /// A structure with the alignment of its members, sometimes more.
    pub(super) fn aligned(&mut self, members: Vec<Member>) -> Struct {
        let least = self.choices.one_of(&[1, 1, 1, 8, 64]);
        let structure = rostrace_testkit::schema::structure(members);
        Struct {
            align: structure.align.max(least),
            ..structure
        }
    }
}

pub(super) fn integer(bits: BitField, signed: bool) -> Integer {
    rostrace_testkit::schema::integer(IntegerForm::Fixed(bits), signed)
}

pub(super) fn array(length: Length, element: FieldClass, least_alignment: u32) -> FieldClass {
    FieldClass::Array {
        length,
        align: element.alignment().max(least_alignment),
        element: Box::new(element),
    }
}
