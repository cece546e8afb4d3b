//! Stream files that end inside a packet, without an index that says what came behind it: it may have been anything, until the end.

use super::channel::processors_in_name;
use super::{FileState, IndexNote, MissingSearch, MissingStreams};
use crate::damage::{Damage, DamageKind};
use crate::packet::PacketState;
use crate::schema::Cycles;
use crate::trace::time::Conversion;

impl MissingSearch<'_> {
    pub(super) fn cut_files(&mut self) {
        let trace = self.trace;
        let mut cut = vec![None; trace.files.len()];
        for stream in &trace.streams {
            let packets = stream.packets.iter();
            for packet in packets.filter(|packet| packet.state == PacketState::Cut) {
                cut[packet.file as usize] = Some((stream, packet));
            }
        }
        for (folder, notes) in self.census.folders.iter().enumerate() {
            for note in notes {
                let FileState::Present(file) = note.state else {
                    continue;
                };
                let Some((stream, packet)) = cut[file as usize] else {
                    continue;
                };
                if matches!(note.index, IndexNote::Lists(_)) {
                    continue;
                }
                let time = trace.time_base(stream, Conversion::Exact);
                let begin = trace.head(packet).and_then(|head| {
                    let (begin, end) = (head.roles.timestamp_begin?, head.roles.timestamp_end?);
                    Some(time.nanos(Cycles(begin.max(end))))
                });
                let message =
                    "the file was cut; without its index nothing says how many packets followed";
                let row = Damage {
                    offset: Some(packet.offset + packet.size),
                    begin,
                    ..Damage::new(DamageKind::MissingPackets, &trace.name, &note.path, message)
                };
                let until = self.span(folder).map(|(_, end)| end);
                let missing = MissingStreams {
                    class: Some(stream.class),
                    processors: processors_in_name(&note.path),
                    window: begin.zip(until.max(begin)),
                };
                self.found.push((row, Some(missing)));
            }
        }
    }
}
