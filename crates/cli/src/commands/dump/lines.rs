//! Events as lines, rendered on all processors and written in order.

use std::io::{self, Write};
use std::ops::{ControlFlow, Range};

use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Conversion, Cursor, Damage, EventView, Selection, TraceSet, Trouble, slices};

use super::unreadable_fields;
use crate::pipeline;

/// Bytes of packets whose events are rendered at a time.
const STRETCH: u64 = 256 << 10;
/// A stretch is written whenever its text is longer than this, where it is not shared among threads.
const LONG: usize = 1 << 20;

/// Renders events, each as one line that ends with a line feed.
pub(crate) trait LineRenderer {
    /// Appends a whole line even if some fields cannot be read.
    fn line(&mut self, event: &EventView<'_>, out: &mut Vec<u8>) -> Result<(), Trouble>;
}

/// Writes the selected events, and returns what was found wrong on the way. `progress` is told how many bytes of the
/// set are done; it returns whether to go on.
pub(crate) fn write<R: LineRenderer>(
    set: &TraceSet,
    selection: &Selection,
    limit: Option<u64>,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64) -> bool,
    renderer: impl Fn() -> R + Sync,
) -> io::Result<Vec<Damage>> {
    let ranges = slices(set, Conversion::Exact, selection, STRETCH);
    let total = set.bytes();
    let count = ranges.len() as u64;
    let mut written = 0;
    let mut go_on = move || {
        written += 1;
        progress(total / count * written)
    };
    let mut damage = if limit.is_some() || count == 1 {
        in_sequence(set, selection, ranges, limit, out, &mut go_on, renderer())?
    } else {
        let mut damage = Vec::new();
        pipeline::ordered(
            ranges,
            0,
            renderer,
            |renderer, range, stretch: &mut Stretch| {
                stretch.render(set, selection, range, renderer)
            },
            |stretch| {
                out.write_all(&stretch.text)?;
                damage.extend_from_slice(&stretch.damage);
                Ok(if go_on() {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                })
            },
        )?;
        damage
    };
    // A packet that reaches into two stretches is decoded in both.
    damage.sort_by(|a, b| (&a.path, a.offset, a.kind).cmp(&(&b.path, b.offset, b.kind)));
    damage.dedup_by(|a, b| (&a.path, a.offset, a.kind) == (&b.path, b.offset, b.kind));
    Ok(damage)
}

/// For the first few events alone, and for streams that cannot be entered in the middle.
fn in_sequence(
    set: &TraceSet,
    selection: &Selection,
    ranges: Vec<Range<Nanos>>,
    limit: Option<u64>,
    out: &mut dyn Write,
    go_on: &mut dyn FnMut() -> bool,
    mut renderer: impl LineRenderer,
) -> io::Result<Vec<Damage>> {
    let mut left = limit.unwrap_or(u64::MAX);
    let mut stretch = Stretch::default();
    for range in ranges {
        let mut cursor = Cursor::within(set, Conversion::Exact, selection, range);
        while left > 0 && !crate::interrupt::requested() {
            let Some(event) = cursor.next() else { break };
            stretch.line(&event, &mut renderer);
            left -= 1;
            if stretch.text.len() > LONG {
                out.write_all(&stretch.text)?;
                stretch.text.clear();
            }
        }
        stretch.damage.append(&mut cursor.damage);
        if left == 0 || !go_on() {
            break;
        }
    }
    out.write_all(&stretch.text)?;
    Ok(stretch.damage)
}

/// The lines of one stretch of time.
#[derive(Debug, Default)]
struct Stretch {
    text: Vec<u8>,
    damage: Vec<Damage>,
}

impl Stretch {
    fn render(
        &mut self,
        set: &TraceSet,
        selection: &Selection,
        range: Range<Nanos>,
        renderer: &mut impl LineRenderer,
    ) {
        self.text.clear();
        self.damage.clear();
        let mut cursor = Cursor::within(set, Conversion::Exact, selection, range);
        while let Some(event) = cursor.next() {
            self.line(&event, renderer);
        }
        self.damage.append(&mut cursor.damage);
    }

    fn line(&mut self, event: &EventView<'_>, renderer: &mut impl LineRenderer) {
        if let Err(trouble) = renderer.line(event, &mut self.text) {
            self.damage.push(unreadable_fields(event, &trouble));
        }
    }
}
