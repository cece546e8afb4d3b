//! Random schemas: everything that the intermediate form can say, or what CTF 1.8 can say of it.

use std::collections::HashMap;

use rostrace_ctf::schema::*;
use rostrace_testkit::lttng::{Alignment, HeaderForm, LttngSchema};

use super::choices::Choices;
use super::random_field::{Builder, array, integer};

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
                array(
                    Length::Fixed(16),
                    FieldClass::Integer(integer(bits, false)),
                    1,
                )
            };
            members.push(rostrace_testkit::schema::member("uuid", "uuid", class));
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
                let class = FieldClass::Integer(integer(bits, false));
                payload
                    .members
                    .push(rostrace_testkit::schema::member("last", "_last", class));
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
}
