//! Walking through events: of one packet here, of all streams in the order of time (`cursor`), on all processors to count
//! them (`statistics`). `selection` says which of them are wanted, `slices` how the way is shared among threads.
//!
//! A [`Walker`] knows one packet's content and yields its events one after the other: class, time, where it begins and
//! ends, and the anchors from which each field can be read. It decodes no field that nobody asks for.

mod cursor;
mod merge;
mod selection;
mod slices;
mod statistics;
mod tasks;

use crate::layout::decode::{DecodeError, Registers};
use crate::layout::{Known, Layout, PacketContent, StreamLayout, within};
use crate::schema::Cycles;

pub use cursor::{Cursor, EventView};
pub(crate) use cursor::{non_monotonic, undecodable};
pub use selection::Selection;
pub(crate) use selection::StreamSelection;
pub use slices::slices;
pub use statistics::{ClassSurvey, ProcessSurvey, StreamSurvey, Survey};

/// One event in its packet; positions are bits from the packet's first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Index into the stream class's events.
    pub class: u32,
    /// The first bit of the header, before its alignment.
    pub start: u64,
    /// The first bit behind the header.
    pub body: u64,
    pub end: u64,
    pub time: Cycles,
}

/// Walks through one packet.
#[derive(Debug)]
pub struct Walker<'a> {
    layout: &'a StreamLayout,
    content: PacketContent<'a>,
    position: u64,
    registers: Registers,
    anchors: Vec<u64>,
    /// The packet was never closed: zeros up to its end are no events.
    open: bool,
    stopped: bool,
}

impl<'a> Walker<'a> {
    /// A walker that stands nowhere yet; see [`Walker::enter`].
    pub(crate) fn new(layout: &'a StreamLayout, slots: u32) -> Walker<'a> {
        Walker {
            layout,
            content: PacketContent { data: &[], end: 0 },
            position: 0,
            registers: Registers::new(slots),
            anchors: Vec::new(),
            open: false,
            stopped: true,
        }
    }

    /// Goes to the first event of a packet. Buffers and, unless the packet sets it, the clock are kept.
    pub(crate) fn enter(&mut self, content: PacketContent<'a>, first_event: u64, open: bool) {
        self.content = content;
        self.position = first_event;
        self.open = open;
        self.stopped = false;
        self.registers.begin_packet();
    }

    pub(crate) fn registers_mut(&mut self) -> &mut Registers {
        &mut self.registers
    }

    pub(crate) fn registers(&self) -> &Registers {
        &self.registers
    }

    pub(crate) fn set_layout(&mut self, layout: &'a StreamLayout) {
        self.layout = layout;
    }

    /// The next event; nothing behind the last one. After an error the packet is over: where the next event begins
    /// cannot be known.
    #[inline(always)]
    pub(crate) fn next_event(&mut self) -> Result<Option<Event>, DecodeError> {
        let start = self.position;
        if start >= self.content.end || self.stopped {
            return Ok(None);
        }
        if self.open && self.is_zero_from(start) {
            self.stopped = true;
            return Ok(None);
        }
        match self.decode(start) {
            Ok(event) => {
                self.position = event.end;
                Ok(Some(event))
            }
            Err(error) => {
                self.stopped = true;
                Err(error)
            }
        }
    }

    /// All events up to the packet's end, with what the clock showed before each; and why that is too early, if it is.
    #[inline(always)]
    pub(crate) fn each_event<E>(
        &mut self,
        mut visit: impl FnMut(&Walker<'a>, Event, u64) -> Result<(), E>,
    ) -> Result<Option<DecodeError>, E> {
        loop {
            let clock = self.registers.clock;
            match self.next_event() {
                Ok(Some(event)) => visit(self, event, clock)?,
                Ok(None) => return Ok(None),
                Err(error) => return Ok(Some(error)),
            }
        }
    }

    #[inline(always)]
    fn decode(&mut self, start: u64) -> Result<Event, DecodeError> {
        let begun = self
            .layout
            .header
            .begin(self.content, start, &mut self.registers)?;
        // Fields of the body may move the clock; the event's own time is that of its header.
        let time = Cycles(self.registers.clock);
        let known = self.layout.class_of(begun.id);
        let Some(Known { class, size }) = known else {
            return Err(DecodeError::UnknownEvent { id: begun.id });
        };
        self.anchors.clear();
        let end = if size == Known::VARYING {
            self.follow(class, begun.body)?
        } else {
            self.anchors.push(begun.body);
            within(begun.body, size, self.content.end)?
        };
        if end == start {
            return Err(DecodeError::EmptyEvent);
        }
        Ok(Event {
            class,
            start,
            body: begun.body,
            end,
            time,
        })
    }

    #[inline(never)]
    fn follow(&mut self, class: u32, body: u64) -> Result<u64, DecodeError> {
        let layout = &self.layout.events[class as usize];
        layout.follow(self.content, body, &mut self.registers, &mut self.anchors)
    }

    /// Where the walker stands: behind the last event that it yielded.
    pub fn position(&self) -> u64 {
        self.position
    }

    pub(crate) fn content_end(&self) -> u64 {
        self.content.end
    }

    pub(crate) fn data(&self) -> &'a [u8] {
        self.content.data
    }

    pub(crate) fn content(&self) -> PacketContent<'a> {
        self.content
    }

    /// The anchors of the last event.
    pub(crate) fn anchors(&self) -> &[u64] {
        &self.anchors
    }

    pub(crate) fn layout_of(&self, event: &Event) -> &'a Layout {
        &self.layout.events[event.class as usize]
    }

    fn is_zero_from(&self, position: u64) -> bool {
        let from = position.div_ceil(8) as usize;
        let to = (self.content.end / 8) as usize;
        self.content
            .data
            .get(from..to)
            .is_none_or(|rest| rest.iter().all(|&byte| byte == 0))
    }
}
