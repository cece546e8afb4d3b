//! What is seen of a row in a window: each span that is at least a pixel long by itself, the shorter ones of a pixel together.
//!
//! Nothing is left out. A block of many knows their number, the time in them and the longest one, so that a single bad execution among
//! thousands is drawn whatever the zoom. Pixels are those of a grid that stands still while the view moves.

use std::ops::Range;

use super::row::{CLASSES, SpanRow};

/// What a page asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub from: i64,
    pub to: i64,
    /// So many columns.
    pub pixels: u32,
}

/// More than any screen has.
const MOST_PIXELS: u32 = 20_000;

impl Window {
    /// The time that a pixel stands for, at least one nanosecond.
    pub fn pixel(&self) -> i64 {
        let pixels = i64::from(self.pixels.clamp(1, MOST_PIXELS));
        let length = self.to.saturating_sub(self.from).max(0);
        (length / pixels).saturating_add(1)
    }
}

/// One span, or a block of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleSpan {
    /// Which spans of the row.
    pub places: Range<usize>,
    pub start: i64,
    pub end: i64,
    /// Time in each class.
    pub sums: [i64; CLASSES],
    /// The place of the longest one.
    pub longest: usize,
}

/// What is in a window, in the order of time: all spans that touch it. Nothing is collected.
pub fn look(
    row: &SpanRow,
    window: &Window,
    class_of: impl Fn(u32) -> usize + Copy,
    mut tell: impl FnMut(VisibleSpan),
) {
    let pixel = window.pixel();
    let mut at = row.first_ending(window.from);
    let mut before = 1;
    while at < row.len() && row.starts[at] <= window.to {
        let mut until = at + 1;
        if row.lengths[at] < pixel {
            let column_end = row.starts[at]
                .div_euclid(pixel)
                .saturating_add(1)
                .saturating_mul(pixel);
            until = row.first_start(at, column_end, before).max(until);
            before = until - at;
        }
        let mut summary = row.summary(at..until, class_of);
        // A long one that starts in the same pixel stands by itself.
        while until > at + 1 && row.lengths[summary.longest] >= pixel {
            until = summary.longest;
            summary = row.summary(at..until, class_of);
        }
        tell(VisibleSpan {
            places: at..until,
            start: row.starts[at],
            end: row.end_of(until - 1),
            sums: summary.sums,
            longest: summary.longest,
        });
        at = until;
    }
}
