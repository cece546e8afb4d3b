//! Packet heads: the packet header and the packet context.
//!
//! A head of bit fields at constant places (every LTTng trace) is read through a list of places; any other is
//! decoded field by field.

use crate::layout::bits::{Codec, align_up};
use crate::layout::decode::{DecodeError, Reader, Registers, Roles};
use crate::schema::{ByteOrder, FieldClass, Integer, Length, Role, Schema, Struct, Uuid};
use crate::value::Value;

pub(crate) const MAGIC: u64 = 0xC1FC_1FC1;

/// What a packet says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) roles: Roles,
    /// Index of the stream class.
    pub(crate) class: usize,
    /// The first bit behind the head.
    pub(crate) first_event: u64,
    pub(crate) uuid: Option<Uuid>,
}

/// Everything in a head, field by field.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeadValues {
    pub(crate) header: Option<Value>,
    pub(crate) context: Option<Value>,
}

/// Why bytes are not the head of a packet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PacketHeaderError {
    #[error("the magic number is {found:#010x} instead of 0xc1fc1fc1")]
    Magic { found: u64 },
    #[error("no stream class has the id {id}")]
    UnknownStream { id: u64 },
    #[error("there are several stream classes and the packet header does not say which one it is")]
    AmbiguousStream,
    #[error("{0}")]
    DecodeError(#[from] DecodeError),
}

/// Reads the heads of one trace's packets.
#[derive(Debug)]
pub(crate) struct HeadReader {
    header: Option<Struct>,
    uuid_member: Option<usize>,
    /// FixedFields in the header, if all are constant.
    header_places: Option<FixedFields>,
    streams: Vec<StreamHead>,
    slots: u32,
}

#[derive(Debug)]
struct StreamHead {
    id: u64,
    context: Option<Struct>,
    /// FixedFields in the context behind a header of constant size, if all are constant.
    places: Option<FixedFields>,
}

#[derive(Debug, Default)]
struct FixedFields {
    fields: Vec<FixedField>,
    uuid: Option<u64>,
    end: u64,
}

#[derive(Debug)]
struct FixedField {
    offset: u64,
    codec: Codec,
    role: Role,
    clock: bool,
}

impl HeadReader {
    pub(crate) fn new(schema: &Schema) -> HeadReader {
        let header_places = match &schema.packet_header {
            None => Some(FixedFields::default()),
            Some(header) => places(header, 0, schema.packet_header_uuid),
        };
        let behind = header_places.as_ref().map(|places| places.end);
        let streams = schema.streams.iter().map(|stream| StreamHead {
            id: stream.id,
            places: match (&stream.packet_context, behind) {
                (None, Some(end)) => Some(FixedFields {
                    end,
                    ..FixedFields::default()
                }),
                (Some(context), Some(end)) => places(context, end, None),
                (_, None) => None,
            },
            context: stream.packet_context.clone(),
        });
        HeadReader {
            header: schema.packet_header.clone(),
            uuid_member: schema.packet_header_uuid,
            streams: streams.collect(),
            header_places,
            slots: schema.slots,
        }
    }

    /// The magic number as it stands in the file, if packets begin with it, so that lost ones can be found again.
    pub(crate) fn magic_bytes(&self) -> Option<[u8; 4]> {
        let bits = match &self.header.as_ref()?.members.first()?.class {
            FieldClass::Integer(magic) if magic.role == Some(Role::PacketMagic) => magic.bits()?,
            _ => return None,
        };
        if bits.size != 32 {
            return None;
        }
        Some(match bits.order {
            ByteOrder::Little => (MAGIC as u32).to_le_bytes(),
            ByteOrder::Big => (MAGIC as u32).to_be_bytes(),
        })
    }

    /// A register file that fits this trace.
    pub(crate) fn registers(&self) -> Registers {
        Registers::new(self.slots)
    }

    /// Reads the head at the start of `data` and leaves clock and slots of the packet in the registers.
    pub(crate) fn read(
        &self,
        data: &[u8],
        registers: &mut Registers,
    ) -> Result<Head, PacketHeaderError> {
        let mut roles = Roles::default();
        if let Some(places) = &self.header_places {
            let uuid = places.read(data, registers, &mut roles)?;
            let class = self.class_of(&roles)?;
            if let Some(context) = &self.streams[class].places {
                context.read(data, registers, &mut roles)?;
                return Ok(Head {
                    roles,
                    class,
                    first_event: context.end,
                    uuid,
                });
            }
        }
        self.decode(data, registers).map(|(head, _)| head)
    }

    /// Field by field, with all values.
    pub(crate) fn decode(
        &self,
        data: &[u8],
        registers: &mut Registers,
    ) -> Result<(Head, HeadValues), PacketHeaderError> {
        let mut roles = Roles::default();
        // An optional field of the packet before must not speak for this one.
        registers.begin_event(0..self.slots as usize);
        registers.begin_packet();
        let end = data.len() as u64 * 8;
        let mut reader = Reader::new(data, 0, end, registers, &mut roles);
        let header = match &self.header {
            Some(header) => Some(reader.structure(header)?),
            None => None,
        };
        let class = self.class_of(reader.roles)?;
        let context = match &self.streams[class].context {
            Some(context) => Some(reader.structure(context)?),
            None => None,
        };
        let first_event = reader.position;
        let uuid = self
            .uuid_member
            .and_then(|member| uuid_of(header.as_ref()?.members()?.get(member)?));
        Ok((
            Head {
                roles,
                class,
                first_event,
                uuid,
            },
            HeadValues { header, context },
        ))
    }

    fn class_of(&self, roles: &Roles) -> Result<usize, PacketHeaderError> {
        if let Some(found) = roles.magic.filter(|&magic| magic != MAGIC) {
            return Err(PacketHeaderError::Magic { found });
        }
        match roles.stream_class_id {
            Some(id) => self
                .streams
                .iter()
                .position(|stream| stream.id == id)
                .ok_or(PacketHeaderError::UnknownStream { id }),
            None if self.streams.len() == 1 => Ok(0),
            None => Err(PacketHeaderError::AmbiguousStream),
        }
    }
}

impl FixedFields {
    #[inline]
    fn read(
        &self,
        data: &[u8],
        registers: &mut Registers,
        roles: &mut Roles,
    ) -> Result<Option<Uuid>, DecodeError> {
        let left = data.len() as u64 * 8;
        if self.end > left {
            return Err(DecodeError::OutOfBits {
                needed: self.end,
                left,
            });
        }
        for place in &self.fields {
            let value = place.codec.read(data, place.offset);
            roles.note(place.role, value);
            if place.clock {
                registers.advance_clock(value, u32::from(place.codec.size));
            }
        }
        let bytes = self
            .uuid
            .and_then(|at| data.get((at / 8) as usize..)?.first_chunk());
        Ok(bytes.map(|bytes| Uuid(*bytes)))
    }
}

/// The places of all fields with a role, if the structure has nothing but bit fields and byte arrays of
/// constant size that nobody refers to.
fn places(structure: &Struct, start: u64, uuid_member: Option<usize>) -> Option<FixedFields> {
    let mut places = FixedFields::default();
    let mut position = align_up(start, u64::from(structure.align.max(1)));
    let mut order = None;
    for (number, member) in structure.members.iter().enumerate() {
        position = align_up(position, u64::from(member.class.alignment().max(1)));
        match &member.class {
            FieldClass::Integer(integer) if integer.slot.is_none() => {
                let bits = integer.bits()?;
                if *order.get_or_insert(bits.order) != bits.order {
                    return None;
                }
                match integer.role {
                    Some(role) => places.fields.push(FixedField {
                        offset: position,
                        codec: Codec::new(bits, integer.signed),
                        role,
                        clock: integer.updates_clock,
                    }),
                    None if integer.updates_clock => return None,
                    None => {}
                }
                position += u64::from(bits.size);
            }
            class if is_sixteen_bytes(class) => {
                if uuid_member == Some(number) {
                    places.uuid = Some(position);
                }
                position += 128;
            }
            _ => return None,
        }
    }
    places.end = position;
    Some(places)
}

/// Sixteen bytes that leave nothing behind for others.
fn is_sixteen_bytes(class: &FieldClass) -> bool {
    match class {
        FieldClass::Blob { length, .. } => *length == Length::Fixed(16),
        FieldClass::Array {
            length, element, ..
        } => {
            let is_byte = |integer: &Integer| {
                integer.slot.is_none()
                    && !integer.updates_clock
                    && (integer.bits()).is_some_and(|bits| (bits.size, bits.align) == (8, 8))
            };
            *length == Length::Fixed(16)
                && matches!(&**element, FieldClass::Integer(integer) if is_byte(integer))
        }
        _ => false,
    }
}

fn uuid_of(value: &Value) -> Option<Uuid> {
    let bytes: Vec<u8> = match value {
        Value::Blob(bytes) | Value::Text(bytes) => bytes.clone(),
        Value::Array(elements) => elements
            .iter()
            .map(|element| u8::try_from(element.as_unsigned()?).ok())
            .collect::<Option<_>>()?,
        _ => return None,
    };
    bytes.try_into().ok().map(Uuid)
}
