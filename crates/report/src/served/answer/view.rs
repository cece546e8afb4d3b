//! What is drawn: for each track that is in view its spans and blocks, as numbers that a browser reads without parsing.
//!
//! All are little-endian. The answer begins with two numbers of four bytes, [`MAGIC`] and the tracks. A track is its number and its
//! rows; a row is its spans and a zero; a span is four times eight bytes (start, length, start and length of the longest; floating point) and
//! six times four (count, item of the longest, its subject or class, flags, busy time as floating point, shares of classes).

use rostrace_analyze::communication::DropCause;
use rostrace_model::entity::DeliveryId;

use super::Answer;
use crate::served::http::Query;
use crate::served::row::SpanRow;
use crate::served::timeline::ServedTimeline;
use crate::served::track::{Content, OPEN_MARK};
use crate::served::window::{VisibleSpan, Window, look};

pub(super) const MAGIC: u32 = 0x3156_5452;
/// The bytes of a span.
const RECORD: usize = 56;
/// A flag: the end of an execution is not known. Of a message that was dropped the flags are the place of the cause among all.
const OPEN: u32 = 1;
/// Memory is asked for once if no more than this is needed.
const MOST_EXPECTED: usize = 1 << 23;
/// More lanes than fit on a screen.
const MOST_TRACKS: usize = 600;

impl ServedTimeline<'_> {
    pub(super) fn view(&self, query: &Query) -> Option<Answer> {
        let window = Window {
            from: self.origin.saturating_add(query.integer("from")?),
            to: self.origin.saturating_add(query.integer("to")?),
            pixels: u32::try_from(query.integer("pixels")?).ok()?,
        };
        let tracks = query.integers("tracks");
        let tracks: Vec<u32> = tracks.filter_map(|it| u32::try_from(it).ok()).collect();
        let known = |number: &u32| (*number as usize) < self.lanes.contents.len();
        let tracks: Vec<u32> = tracks.into_iter().filter(known).take(MOST_TRACKS).collect();
        let mut body = Vec::new();
        put(&mut body, [MAGIC, tracks.len() as u32]);
        // The first look at a lane builds it, which takes a while for an hour: all processors share that.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let share = tracks.len().div_ceil(processors).max(1);
        let shares: Vec<&[u32]> = tracks.chunks(share).collect();
        let parts = rostrace_base::parallel::on_all_processors(&shares, |tracks| {
            self.spans(tracks, &window)
        });
        body.reserve_exact(parts.iter().map(Vec::len).sum());
        for part in parts {
            body.extend_from_slice(&part);
        }
        Some(Answer::binary(body))
    }

    fn spans(&self, tracks: &[u32], window: &Window) -> Vec<u8> {
        let expected = tracks.len() * window.pixels as usize * RECORD;
        let mut body = Vec::with_capacity(expected.min(MOST_EXPECTED));
        let known = tracks
            .iter()
            .filter_map(|number| Some((*number, self.track(*number)?)));
        for (number, (content, track)) in known {
            put(&mut body, [number, track.rows.len() as u32]);
            for row in &track.rows {
                // How many they are is known when they have been put.
                let count = body.len();
                put(&mut body, [0, 0]);
                let first = body.len();
                let class_of = |item| content.class_of(item);
                look(row, window, class_of, |span| {
                    self.put_span(&mut body, content, row, &span);
                });
                let spans = (body.len() - first) / RECORD;
                body[count..count + 4].copy_from_slice(&(spans as u32).to_le_bytes());
            }
        }
        body
    }

    fn put_span(&self, body: &mut Vec<u8>, content: &Content, row: &SpanRow, span: &VisibleSpan) {
        let longest = span.longest;
        let item = row.items[longest];
        let analysis = self.analysis;
        let (subject, flags) = match content {
            Content::Thread(_) | Content::Subject(_) => {
                let mark = row.marks[longest];
                let is_open = mark & OPEN_MARK != 0;
                (mark & !OPEN_MARK, if is_open { OPEN } else { 0 })
            }
            Content::Drops(_) => {
                let subscription = analysis.delivery(DeliveryId(item)).subscription;
                let callback =
                    subscription.and_then(|id| analysis.model.subscriptions[id.index()].callback);
                let cause = analysis.drop_cause(DeliveryId(item));
                let cause = DropCause::EVERY.iter().position(|it| Some(*it) == cause);
                let subject = callback.map_or(u32::MAX, |id| id.0);
                (subject, cause.unwrap_or_default() as u32)
            }
            Content::Executor(_) | Content::Scheduling(_) => (item & 3, 0),
        };
        let total: i64 = span.sums.iter().fold(0, |sum, it| sum.saturating_add(*it));
        let shares = span.sums.map(|sum| match sum {
            0 => 0,
            sum if sum == total => u8::MAX,
            sum => (sum as f64 / total as f64 * 255.0).round() as u8,
        });
        // Put together first: an hour of many lanes is a hundred thousand of these.
        let mut record = [0; RECORD];
        let times = [
            self.since(span.start),
            span.end.saturating_sub(span.start),
            self.since(row.starts[longest]),
            row.lengths[longest],
        ];
        for (place, time) in record.chunks_exact_mut(8).zip(times) {
            place.copy_from_slice(&(time as f64).to_le_bytes());
        }
        let numbers = [span.places.len() as u32, item, subject, flags];
        for (place, number) in record[32..].chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        record[48..52].copy_from_slice(&(total as f32).to_le_bytes());
        record[52..].copy_from_slice(&shares);
        body.extend_from_slice(&record);
    }
}

fn put<const N: usize>(body: &mut Vec<u8>, numbers: [u32; N]) {
    for number in numbers {
        body.extend_from_slice(&number.to_le_bytes());
    }
}
