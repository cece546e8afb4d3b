//! A stream as the messages that babeltrace2 makes of it.
//!
//! Its CTF source does not only yield events: the stream, each packet and each loss begin or end with a message of their
//! own, and all of them take part in its merge. Who wants to know *when* babeltrace2 decodes an event, and not only in
//! which order it shows them, has to count them all. Times are its own too: those that the packets say, not the repaired
//! ones (see `loss`), in double precision.

use std::collections::VecDeque;

use crate::cursor::{EventView, Lane};
use crate::damage::DamageRows;
use crate::decode::Roles;
use crate::decoder::role_size;
use crate::loss::{Quirk, can_crash};
use crate::schema::{Cycles, Nanos, Role};
use crate::selection::Selection;
use crate::time::Conversion;
use crate::trace::{StreamId, TraceSet};
use crate::value::Value;

/// In the order in which equal times and streams are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageKind {
    StreamBeginning,
    PacketBeginning,
    Event,
    DiscardedEvents,
    PacketEnd,
    DiscardedPackets,
    StreamEnd,
}

/// One message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    pub kind: MessageKind,
    /// Without one it comes as soon as it can.
    pub time: Option<Nanos>,
    /// A packet's head had to be decoded for this message: [`Messages::packet_context`] is new.
    pub enters_packet: bool,
    /// An event had to be decoded for this message: [`Messages::event`] is new.
    pub decodes_event: bool,
}

/// The messages of one stream.
#[derive(Debug)]
pub struct Messages<'a> {
    lane: Lane<'a>,
    place: Place,
    /// Messages that are made already.
    waiting: VecDeque<Message>,
    /// What the packet before said of itself.
    before: Option<Roles>,
    has_begin: bool,
    has_end: bool,
    crashes: bool,
    /// The packet's beginning is told when its first event is known.
    owes_beginning: bool,
    /// A packet was entered, or an event decoded, since the last message was made.
    entered: bool,
    decoded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    BeforeStream,
    InPacket,
    BetweenPackets,
    AtEnd,
    Broken,
}

/// Here babeltrace2 gives up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken;

impl<'a> Messages<'a> {
    pub fn new(set: &'a TraceSet, id: StreamId) -> Messages<'a> {
        let lane = Lane::new(set, id, Conversion::DoublePrecision, &Selection::default());
        let class = &lane.trace.schema.streams[lane.stream.class];
        let has = |role| role_size(class, role).is_some() && lane.time.has_clock();
        Messages {
            place: Place::BeforeStream,
            waiting: VecDeque::new(),
            before: None,
            has_begin: has(Role::TimestampBegin),
            has_end: has(Role::TimestampEnd),
            crashes: can_crash(&lane.trace.schema),
            owes_beginning: false,
            entered: false,
            decoded: false,
            lane,
        }
    }

    /// The next message; nothing behind the last one.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Message>, Broken> {
        loop {
            if let Some(message) = self.waiting.pop_front() {
                return Ok(Some(message));
            }
            match self.place {
                Place::InPacket => self.go_on()?,
                Place::BeforeStream | Place::BetweenPackets => self.next_packet()?,
                Place::AtEnd => return Ok(None),
                Place::Broken => return Err(Broken),
            }
        }
    }

    /// The event that was decoded last.
    pub fn event(&self) -> EventView<'_> {
        EventView { lane: &self.lane }
    }

    /// The position in its stream of the packet that was entered last.
    pub fn packet_number(&self) -> usize {
        self.lane.next_packet - 1
    }

    /// The context of the packet that was entered last.
    pub fn packet_context(&self) -> Option<Value> {
        self.event().packet_context()
    }

    fn next_packet(&mut self) -> Result<(), Broken> {
        let first = self.place == Place::BeforeStream;
        self.before = self.lane.head.as_ref().map(|head| head.roles.clone());
        let number = self.lane.next_packet;
        let found = self
            .lane
            .next_packet(&(i64::MIN..i64::MAX), &mut DamageRows::default());
        if !found && self.lane.next_packet == number {
            self.place = Place::AtEnd;
            if !first {
                self.tell(MessageKind::StreamEnd, None);
            }
            return Ok(());
        }
        if !found || self.lane.next_packet != number + 1 {
            return Err(self.give_up());
        }
        self.place = Place::InPacket;
        self.entered = true;
        if first {
            self.tell(MessageKind::StreamBeginning, None);
        }
        self.tell_losses();
        if self.lane.trace.decoder.quirk == Quirk::EventBeforePacket {
            self.owes_beginning = true;
        } else {
            let begin = self.roles().timestamp_begin;
            self.tell_beginning(begin);
        }
        Ok(())
    }

    fn tell_losses(&mut self) {
        let roles = self.roles();
        let before = self.before.clone();
        let begin = match &before {
            Some(before) => before.timestamp_end,
            None => roles.timestamp_begin,
        };
        let begin = begin.filter(|_| self.has_begin && self.has_end);
        let then = before.as_ref().and_then(|before| before.events_discarded);
        let lost = match (then, roles.events_discarded) {
            (Some(then), Some(now)) => now != then,
            (None, Some(now)) => now != 0,
            (_, None) => false,
        };
        if lost {
            self.tell(MessageKind::DiscardedEvents, begin);
        }
        let then = before.as_ref().and_then(|before| before.packet_sequence);
        if let (Some(then), Some(now)) = (then, roles.packet_sequence)
            && now.wrapping_sub(then) > 1
        {
            self.tell(MessageKind::DiscardedPackets, begin);
        }
    }

    fn go_on(&mut self) -> Result<(), Broken> {
        match self.lane.walker.next_event() {
            Ok(Some(event)) => {
                self.lane.take(event);
                self.decoded = true;
                if self.owes_beginning {
                    self.tell_owed_beginning();
                }
                let time = self.lane.time.has_clock().then_some(event.time.0);
                self.tell(MessageKind::Event, time);
            }
            Ok(None) => {
                if self.owes_beginning {
                    self.tell_owed_beginning();
                }
                let end = self.packet_end();
                self.tell(MessageKind::PacketEnd, end);
                self.place = Place::BetweenPackets;
            }
            Err(_) => return Err(self.give_up()),
        }
        Ok(())
    }

    /// The clock at the end of the packet, unless that would set it back for a reason that babeltrace2 knows.
    fn packet_end(&self) -> Option<u64> {
        let clock = self.lane.walker.registers().clock;
        let Roles {
            timestamp_begin,
            timestamp_end,
            ..
        } = self.roles();
        let crashed = self.crashes && timestamp_end == Some(0) && timestamp_begin != Some(0);
        let late = self.lane.trace.decoder.quirk == Quirk::EventAfterPacket
            && timestamp_end.is_some_and(|end| end < clock);
        let end = timestamp_end.filter(|_| !crashed && !late).unwrap_or(clock);
        self.has_end.then_some(end)
    }

    fn tell_owed_beginning(&mut self) {
        self.owes_beginning = false;
        let clock = self.lane.walker.registers().clock;
        let begin = self.roles().timestamp_begin.map(|begin| begin.min(clock));
        self.tell_beginning(begin);
    }

    fn tell_beginning(&mut self, begin: Option<u64>) {
        let begin = begin.filter(|_| self.has_begin);
        self.tell(MessageKind::PacketBeginning, begin);
    }

    fn tell(&mut self, kind: MessageKind, time: Option<u64>) {
        let time = time.map(|cycles| self.lane.time.nanos(Cycles(cycles)));
        self.waiting.push_back(Message {
            kind,
            time,
            enters_packet: std::mem::take(&mut self.entered),
            decodes_event: std::mem::take(&mut self.decoded),
        });
    }

    fn roles(&self) -> Roles {
        (self.lane.head.as_ref())
            .map(|head| head.roles.clone())
            .unwrap_or_default()
    }

    fn give_up(&mut self) -> Broken {
        self.place = Place::Broken;
        Broken
    }
}
