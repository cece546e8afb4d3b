//! Slices of one track must lie inside each other or after each other. What overlaps otherwise gets another lane.

use rostrace_ctf::schema::Nanos;

/// The lanes of one thread, or of whatever else does several things at once.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// By lane: the ends of what has begun and is not over, innermost last.
    open: Vec<Vec<Nanos>>,
}

impl Lanes {
    /// The lane for something that begins now, not earlier than the one before.
    pub(super) fn place(&mut self, begin: Nanos, end: Nanos) -> usize {
        let mut lane = 0;
        loop {
            if lane == self.open.len() {
                self.open.push(Vec::new());
            }
            let open = &mut self.open[lane];
            close(open, begin);
            if open.last().is_none_or(|outer| end <= *outer) {
                open.push(end);
                return lane;
            }
            lane += 1;
        }
    }

    /// When the innermost of what is under way on the first lane ends.
    pub(super) fn enclosing_end(&mut self, begin: Nanos) -> Option<Nanos> {
        let open = self.open.first_mut()?;
        close(open, begin);
        open.last().copied()
    }
}

fn close(open: &mut Vec<Nanos>, now: Nanos) {
    while open.last().is_some_and(|end| *end <= now) {
        open.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_inside_or_after_stays_and_what_crosses_moves() {
        let mut lanes = Lanes::default();
        let mut place = |begin, end| lanes.place(Nanos(begin), Nanos(end));
        assert_eq!(place(0, 10), 0);
        assert_eq!(place(2, 5), 0);
        assert_eq!(place(5, 10), 0);
        assert_eq!(place(7, 12), 1);
        assert_eq!(place(8, 13), 2);
        assert_eq!(place(12, 20), 0);
    }

    proptest! {
        #[test]
        fn on_every_lane_slices_are_nested(mut spans in prop::collection::vec((0i64..60, 0i64..20), 0..60)) {
            spans.sort_by_key(|(begin, length)| (*begin, std::cmp::Reverse(*length)));
            let mut lanes = Lanes::default();
            let mut placed: Vec<Vec<(i64, i64)>> = Vec::new();
            for (begin, length) in spans {
                let end = begin + length;
                let lane = lanes.place(Nanos(begin), Nanos(end));
                placed.resize_with(placed.len().max(lane + 1), Vec::new);
                for (before, until) in &placed[lane] {
                    prop_assert!(*until <= begin || (*before <= begin && end <= *until));
                }
                placed[lane].push((begin, end));
            }
        }
    }
}
