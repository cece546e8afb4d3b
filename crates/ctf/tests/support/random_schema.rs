//! Random schemas: everything that the intermediate form can say, or what CTF 1.8 can say of it.
//!
//! The only thing avoided on purpose is what readers must refuse: two byte orders that meet inside a byte. So fields
//! that do not fill whole bytes all have the byte order of the trace.

use std::collections::HashMap;
use std::sync::Arc;

use rostrace_ctf::schema::*;
use rostrace_ctf::writer::lttng::{Alignment, HeaderForm, LttngSchema};

use super::choices::Choices;

/// What a random schema may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// What TSDL can say and babeltrace2 reads without a warning.
    Ctf1,
    Everything,
}

/// The values that an integer with a slot may have, so that lengths are small and selectors select something.
pub type Domains = HashMap<Slot, Vec<i128>>;

/// A schema, and what one must know to make values for it.
#[derive(Debug, Clone)]
pub struct RandomSchema {
    pub schema: Schema,
    /// Parallel to the stream classes: for their own scopes and those of the packet.
    pub stream_domains: Vec<Domains>,
    /// Parallel to the stream classes and their event classes.
    pub event_domains: Vec<Vec<Domains>>,
}

/// A field that later ones may depend on.
#[derive(Debug, Clone)]
struct Target {
    slot: Slot,
    signed: bool,
    boolean: bool,
}

struct Builder<'c> {
    choices: &'c mut Choices,
    profile: Profile,
    order: ByteOrder,
    has_clock: bool,
    /// Whether the scope that is being made comes after the event header.
    after_header: bool,
    /// Whether fields of the scope that is being made may depend on others.
    may_refer: bool,
    next_slot: u32,
    most_slots: u32,
    next_name: u32,
    visible: Vec<Target>,
    domains: Domains,
}

const UNIX_CLOCK_OFFSET_SECONDS: i64 = 1_600_000_000;

pub fn random_schema(choices: &mut Choices, profile: Profile) -> RandomSchema {
    let order = choices.one_of(&[ByteOrder::Little, ByteOrder::Big]);
    let has_clock = !choices.once_in(6);
    let mut builder = Builder {
        choices,
        has_clock,
        after_header: false,
        may_refer: true,
        profile,
        order,
        next_slot: 0,
        most_slots: 0,
        next_name: 0,
        visible: Vec::new(),
        domains: Domains::new(),
    };
    builder.schema()
}

impl Builder<'_> {
    fn schema(&mut self) -> RandomSchema {
        let count = 1 + self.choices.below(3);
        let has_clock = self.has_clock;
        let uuid = Uuid(std::array::from_fn(|_| self.choices.number() as u8));
        let (packet_header, packet_header_uuid) = self.packet_header(count > 1);
        let mut random = RandomSchema {
            schema: Schema {
                version: match self.profile {
                    Profile::Ctf1 => Version::Ctf1,
                    Profile::Everything => Version::Ctf2,
                },
                uuid: Some(uuid),
                identity: Identity::default(),
                byte_order: self.order,
                environment: vec![
                    (
                        "hostname".into(),
                        EnvironmentValue::Text("host \"\\".into()),
                    ),
                    ("text".into(), EnvironmentValue::Text("a\n\u{1}1é".into())),
                    ("number".into(), EnvironmentValue::Integer(i64::MIN)),
                ],
                clocks: vec![Clock {
                    offset_seconds: UNIX_CLOCK_OFFSET_SECONDS,
                    origin: Origin::UnixEpoch,
                    ..Clock::implicit("monotonic")
                }],
                packet_header,
                packet_header_uuid,
                streams: Vec::new(),
                slots: 0,
            },
            stream_domains: Vec::new(),
            event_domains: Vec::new(),
        };
        let says_stream = random.schema.packet_header.iter().any(|header| {
            (header.members.iter()).any(|member| &*member.original_name == "stream_id")
        });
        let (slots, visible, domains) =
            (self.next_slot, self.visible.clone(), self.domains.clone());
        for index in 0..count {
            self.next_slot = slots;
            self.visible.clone_from(&visible);
            self.domains.clone_from(&domains);
            let id = match says_stream {
                true => 3 * index as u64 + self.choices.below(3) as u64,
                false => 0,
            };
            let (stream, event_domains) = self.stream(id, has_clock);
            random.schema.streams.push(stream);
            random.stream_domains.push(self.domains.clone());
            random.event_domains.push(event_domains);
        }
        random.schema.slots = self.most_slots;
        random
    }

    fn packet_header(&mut self, several_streams: bool) -> (Option<Struct>, Option<usize>) {
        if !several_streams && self.choices.once_in(4) {
            return (None, None);
        }
        let mut members = Vec::new();
        let mut uuid = None;
        if !self.choices.once_in(4) {
            members.push(self.role("magic", Role::PacketMagic, &[32]));
        }
        if !self.choices.once_in(4) {
            uuid = Some(members.len());
            let class = if self.profile == Profile::Everything && self.choices.once_in(2) {
                FieldClass::Blob {
                    length: Length::Fixed(16),
                    media_type: None,
                }
            } else {
                let bits = self.bits(8, 8);
                array(Length::Fixed(16), integer(bits, false), 1)
            };
            members.push(member("uuid", "uuid", class));
        }
        if several_streams || self.choices.once_in(2) {
            members.push(self.role("stream_id", Role::StreamClassId, &[8, 13, 32, 64]));
        }
        if self.choices.once_in(2) {
            members.push(self.role("stream_instance_id", Role::StreamInstanceId, &[8, 32, 64]));
        }
        if self.profile == Profile::Everything && self.choices.once_in(3) {
            self.add_members(&mut members, 2, 2);
        }
        (Some(self.aligned(members)), uuid)
    }

    fn stream(&mut self, id: u64, has_clock: bool) -> (StreamClass, Vec<Domains>) {
        let (packet_context, says_sizes) = self.packet_context(has_clock);
        let event_count = 1 + self.choices.below(4);
        let mut event_header = self.event_header(has_clock, event_count);
        let says_time = (packet_context.iter().chain(&event_header))
            .flat_map(|scope| &scope.members)
            .any(|member| member.original_name.starts_with("timestamp") || &*member.name == "v");
        if self.profile == Profile::Ctf1 && has_clock && !says_time {
            // In CTF 1.8 a stream has a clock because of its times only, and babeltrace wants one in all or in none.
            event_header = Some(self.lttng_header(HeaderForm::Large, Alignment::Packed));
        }
        self.after_header = true;
        let event_context = self.choices.once_in(2).then(|| self.scope(1));
        let (slots, visible, stream_domains) =
            (self.next_slot, self.visible.clone(), self.domains.clone());
        let mut events = Vec::new();
        let mut all_domains = Vec::new();
        for index in 0..event_count as u64 {
            self.next_slot = slots;
            self.visible.clone_from(&visible);
            self.domains.clone_from(&stream_domains);
            // babeltrace 2.0.4 aborts on every length and tag in the context of an event class.
            self.may_refer = self.profile == Profile::Everything;
            let context = self.choices.once_in(4).then(|| self.scope(1));
            self.may_refer = true;
            let mut payload = (!says_sizes || !self.choices.once_in(8)).then(|| self.scope(3));
            if let Some(payload) = payload.as_mut().filter(|_| !says_sizes) {
                // Without sizes the packet ends with the file, so every event must end at a byte boundary.
                let bits = self.bits(8, 8);
                payload
                    .members
                    .push(member("last", "_last", integer(bits, false)));
                payload.align = payload.align.max(8);
            }
            events.push(EventClass {
                id: index * 5,
                name: Some(format!("provider:event \"{index}\"")),
                log_level: self.choices.once_in(2).then_some(13),
                emf_uri: self.choices.once_in(4).then(|| "http://a.b/c".to_owned()),
                context,
                payload,
            });
            all_domains.push(std::mem::replace(&mut self.domains, stream_domains.clone()));
        }
        if event_header.is_none() {
            events.truncate(1);
        }
        self.after_header = false;
        let stream = StreamClass {
            id,
            identity: Identity::default(),
            clock: has_clock.then_some(0),
            packet_context,
            event_header,
            event_context,
            events,
        };
        (stream, all_domains)
    }

    /// And whether it says both sizes of the packet.
    fn packet_context(&mut self, has_clock: bool) -> (Option<Struct>, bool) {
        if self.choices.once_in(8) {
            return (None, false);
        }
        let mut members = Vec::new();
        if self.choices.once_in(3) {
            self.add_members(&mut members, 2, 2);
        }
        if has_clock && !self.choices.once_in(3) {
            members.push(self.role("timestamp_begin", Role::TimestampBegin, &[64]));
        }
        if has_clock && !self.choices.once_in(3) {
            members.push(self.role("timestamp_end", Role::TimestampEnd, &[64]));
        }
        let sizes = self.choices.below(8);
        if sizes != 6 {
            members.push(self.role("content_size", Role::ContentSize, &[64, 32, 27]));
        }
        if sizes != 7 {
            members.push(self.role("packet_size", Role::PacketSize, &[64, 32, 27]));
        }
        if self.choices.once_in(2) {
            members.push(self.role("events_discarded", Role::EventsDiscarded, &[64, 32]));
        }
        if self.choices.once_in(2) {
            members.push(self.role("packet_seq_num", Role::PacketSequence, &[64, 32]));
        }
        if self.choices.once_in(3) {
            self.add_members(&mut members, 2, 2);
        }
        (Some(self.aligned(members)), sizes < 6)
    }

    fn event_header(&mut self, has_clock: bool, events: usize) -> Option<Struct> {
        let form = self.choices.below(8);
        if form == 7 && events == 1 {
            return None;
        }
        if form < 4 && has_clock {
            let alignment = self
                .choices
                .one_of(&[Alignment::Packed, Alignment::Natural]);
            let form = [HeaderForm::Large, HeaderForm::Compact][form % 2];
            return Some(self.lttng_header(form, alignment));
        }
        let mut members = vec![self.role("id", Role::EventId, &[8, 5, 16, 64])];
        if has_clock && !self.choices.once_in(8) {
            members.push(self.role("timestamp", Role::Timestamp, &[64, 32, 27, 8]));
        }
        if self.profile == Profile::Everything && self.choices.once_in(3) {
            self.add_members(&mut members, 1, 2);
        }
        Some(self.aligned(members))
    }

    /// The header of LTTng, with slots that are free here.
    fn lttng_header(&mut self, form: HeaderForm, alignment: Alignment) -> Struct {
        let clock = Clock::implicit("monotonic");
        let schema = LttngSchema::new(Uuid([0; 16]), self.order, alignment, clock)
            .stream(form, &[])
            .build();
        let mut header = schema.streams[0].event_header.clone().unwrap();
        let slot = self.take_slot();
        for member in &mut header.members {
            match &mut member.class {
                FieldClass::Integer(id) => id.slot = Some(slot),
                FieldClass::Variant { selector, .. } => *selector = slot,
                _ => unreachable!(),
            }
        }
        header
    }

    /// A structure with at most `2 * depth` members that serves as a scope of its own.
    fn scope(&mut self, depth: usize) -> Struct {
        let mut members = Vec::new();
        self.add_members(&mut members, depth, 2 * depth);
        self.aligned(members)
    }

    fn add_members(&mut self, members: &mut Vec<Member>, depth: usize, most: usize) {
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
                length: Length::Fixed(4 * self.choices.below(4) as u64),
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
        let class = integer(bits, self.choices.once_in(2));
        let base =
            self.choices
                .one_of(&[Base::Decimal, Base::Hexadecimal, Base::Octal, Base::Binary]);
        let FieldClass::Integer(integer) = class else {
            unreachable!()
        };
        FieldClass::Integer(Integer { base, ..integer })
    }

    /// A field that moves the clock for the events after it.
    fn time_in_between(&mut self) -> FieldClass {
        let bits = self.any_bits(12);
        let FieldClass::Integer(integer) = integer(bits, false) else {
            unreachable!()
        };
        FieldClass::Integer(Integer {
            updates_clock: true,
            ..integer
        })
    }

    fn enumeration(&mut self) -> FieldClass {
        let bits = self.random_bits();
        let signed = self.choices.once_in(2);
        let FieldClass::Integer(integer) = integer(bits, signed) else {
            unreachable!()
        };
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
        let FieldClass::Integer(integer) = integer(bits, self.choices.once_in(2)) else {
            unreachable!()
        };
        FieldClass::Integer(Integer {
            form: IntegerForm::Variable,
            ..integer
        })
    }

    /// Text or bytes after their length.
    fn dynamic_bytes(&mut self, members: &mut Vec<Member>) -> FieldClass {
        let encoding = self.encoding();
        if encoding == Encoding::Utf8 {
            let length = Length::Slot(self.length(members, &[0, 1, 3, 4]));
            if self.profile == Profile::Everything && self.choices.once_in(2) {
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
        let FieldClass::Integer(integer) = integer(bits, signed) else {
            unreachable!()
        };
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

    fn take_slot(&mut self) -> Slot {
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
        member(&name, &original_name, class)
    }

    fn role(&mut self, name: &str, role: Role, sizes: &[u8]) -> Member {
        let size = self.choices.one_of(sizes);
        let bits = self.any_bits(size);
        let FieldClass::Integer(integer) = integer(bits, false) else {
            unreachable!()
        };
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
        member(name, name, class)
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

    fn bits(&mut self, size: u8, align: u32) -> BitField {
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
    fn aligned(&mut self, members: Vec<Member>) -> Struct {
        let least = self.choices.one_of(&[1, 1, 1, 8, 64]);
        let align = (members.iter())
            .map(|member| member.class.alignment())
            .fold(least, u32::max);
        Struct { members, align }
    }
}

fn integer(bits: BitField, signed: bool) -> FieldClass {
    FieldClass::Integer(Integer {
        form: IntegerForm::Fixed(bits),
        signed,
        base: Base::Decimal,
        mappings: None,
        role: None,
        updates_clock: false,
        slot: None,
    })
}

fn array(length: Length, element: FieldClass, least_alignment: u32) -> FieldClass {
    FieldClass::Array {
        length,
        align: element.alignment().max(least_alignment),
        element: Box::new(element),
    }
}

fn member(name: &str, original_name: &str, class: FieldClass) -> Member {
    Member {
        name: name.into(),
        original_name: original_name.into(),
        class,
    }
}
