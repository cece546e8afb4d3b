//! Events as lines, rendered on all processors and written in order.
//!
//! The trace is cut into stretches of time; each is rendered by one thread, chunk by chunk.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use rostrace_ctf::{
    Conversion, Cursor, Damage, DamageRows, DecodeError, EventView, Selection, TraceSet, slices,
};

use super::unreadable_fields;
use crate::pipeline::{self, Outlet};

/// Bytes of packets in one stretch. A packet is never divided, so that a stretch can have much more.
const STRETCH: u64 = 256 << 10;
/// A chunk is handed over when its text is longer than this.
const CHUNK: usize = 1 << 20;

/// Renders events, each as one line that ends with a line feed.
pub(crate) trait LineRenderer {
    /// What the writer must know of a chunk besides its text, to join it to the one before.
    type ChunkBoundary: Default + Send;

    /// Appends a whole line even if some fields cannot be read.
    fn line(
        &mut self,
        event: &EventView<'_>,
        chunk: &mut Chunk<Self::ChunkBoundary>,
    ) -> Result<(), DecodeError>;

    /// The boundary of a chunk that follows another one of the same stretch.
    fn go_on(_seam: &Self::ChunkBoundary) -> Self::ChunkBoundary {
        Self::ChunkBoundary::default()
    }
}

/// Some lines.
#[derive(Debug, Default)]
pub(crate) struct Chunk<S> {
    pub(crate) text: Vec<u8>,
    pub(crate) boundary: S,
    damage: DamageRows,
    /// The last of its stretch.
    last: bool,
}

/// What to write, and how far.
pub(crate) struct Request<'r> {
    pub(crate) set: &'r TraceSet,
    pub(crate) conversion: Conversion,
    pub(crate) selection: &'r Selection,
    pub(crate) limit: Option<u64>,
    /// Is told how many bytes of the set are done; returns whether to go on.
    pub(crate) progress: &'r mut dyn FnMut(u64) -> bool,
}

/// Writes the selected events with `write`, and returns what was found wrong on the way.
pub(crate) fn write<R: LineRenderer>(
    request: Request<'_>,
    renderer: impl Fn() -> R + Sync,
    mut write: impl FnMut(&Chunk<R::ChunkBoundary>) -> io::Result<()>,
) -> io::Result<Vec<Damage>> {
    let Request {
        set,
        conversion,
        selection,
        limit,
        progress,
    } = request;
    let ranges = slices(set, conversion, selection, STRETCH);
    let (total, count) = (set.bytes(), ranges.len() as u64);
    let left = AtomicU64::new(limit.unwrap_or(u64::MAX));
    // Who wants only a few events should not wait for others to be rendered.
    let threads = if limit.is_some() { 1 } else { 0 };
    let mut damage = DamageRows::default();
    let mut stretches = 0;
    pipeline::ordered(
        ranges,
        threads,
        renderer,
        |renderer, range, outlet| {
            let cursor = Cursor::within(set, conversion, selection, range);
            render(cursor, renderer, &left, limit.is_some(), outlet);
        },
        |chunk: &Chunk<R::ChunkBoundary>| {
            write(chunk)?;
            damage.append(chunk.damage.clone());
            stretches += u64::from(chunk.last);
            let go_on = progress(total / count.max(1) * stretches);
            Ok(if go_on {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        },
    )?;
    let mut damage = damage.into_rows();
    // A packet that reaches into two stretches is decoded in both.
    damage.sort_by(|a: &Damage, b| (&a.path, a.offset, a.kind).cmp(&(&b.path, b.offset, b.kind)));
    damage.dedup_by(|a, b| (&a.path, a.offset, a.kind) == (&b.path, b.offset, b.kind));
    Ok(damage)
}

fn render<R: LineRenderer>(
    mut cursor: Cursor<'_>,
    renderer: &mut R,
    left: &AtomicU64,
    limited: bool,
    outlet: &Outlet<'_, Chunk<R::ChunkBoundary>>,
) {
    let mut chunk = Chunk::default();
    loop {
        if limited && left.load(Ordering::Relaxed) == 0 {
            break;
        }
        let Some(event) = cursor.next() else { break };
        if let Err(error) = renderer.line(&event, &mut chunk) {
            chunk.damage.push(unreadable_fields(&event, &error));
        }
        if limited {
            left.fetch_sub(1, Ordering::Relaxed);
        }
        if chunk.text.len() > CHUNK {
            let boundary = R::go_on(&chunk.boundary);
            let Some(next) = outlet.send(chunk) else {
                return;
            };
            chunk = next;
            chunk.clear(boundary);
        }
    }
    chunk.damage.append(std::mem::take(&mut cursor.damage));
    chunk.last = true;
    outlet.send(chunk);
}

impl<S> Chunk<S> {
    fn clear(&mut self, boundary: S) {
        self.text.clear();
        self.damage = DamageRows::default();
        self.last = false;
        self.boundary = boundary;
    }
}
