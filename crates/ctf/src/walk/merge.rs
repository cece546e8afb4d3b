//! The earliest of many: a binary heap whose first element changes and then finds its place again.
//!
//! The heap of the standard library has its order in the type of its elements; here the order depends on something beside them,
//! the lanes of a [`Cursor`](crate::Cursor), so it is given with each call.

/// Elements of which the first is always at hand.
#[derive(Debug)]
pub(crate) struct Merge<T> {
    /// Each is before its two children, which stand at twice its place and one or two more.
    heap: Vec<T>,
    /// The place of the second one: that of the first itself if there is no other.
    second: usize,
}

impl<T: Copy> Merge<T> {
    /// `before` says whether one element comes before another; of two different ones exactly one does.
    pub(crate) fn new(elements: Vec<T>, mut before: impl FnMut(&T, &T) -> bool) -> Merge<T> {
        let mut merge = Merge {
            heap: elements,
            second: 0,
        };
        for place in (0..merge.heap.len() / 2).rev() {
            merge.settle(place, merge.heap[place], &mut before);
        }
        merge.find_second(&mut before);
        merge
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        self.heap.first()
    }

    /// Puts another element in place of the first one. One that stays the first, as in a run of events of one stream, is
    /// compared with the second alone.
    #[inline]
    pub(crate) fn replace_first(&mut self, element: T, mut before: impl FnMut(&T, &T) -> bool) {
        let (Some(&second), false) = (self.heap.get(self.second), self.second == 0) else {
            self.heap.clear();
            self.heap.push(element);
            return;
        };
        if before(&element, &second) {
            self.heap[0] = element;
            return;
        }
        self.heap[0] = second;
        self.settle(self.second, element, &mut before);
        self.find_second(&mut before);
    }

    pub(crate) fn remove_first(&mut self, mut before: impl FnMut(&T, &T) -> bool) {
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.settle(0, last, &mut before);
        }
        self.find_second(&mut before);
    }

    #[inline]
    fn find_second(&mut self, before: &mut impl FnMut(&T, &T) -> bool) {
        self.second = match self.heap.as_slice() {
            [_, left, right, ..] => 1 + usize::from(before(right, left)),
            [_, _] => 1,
            _ => 0,
        };
    }

    /// Puts an element at a place or below it, where it belongs.
    #[inline]
    fn settle(&mut self, mut place: usize, element: T, before: &mut impl FnMut(&T, &T) -> bool) {
        loop {
            let left = 2 * place + 1;
            let child = match self.heap.get(left..) {
                Some([left_child, right_child, ..]) => {
                    left + usize::from(before(right_child, left_child))
                }
                Some([_]) => left,
                _ => break,
            };
            if before(&element, &self.heap[child]) {
                break;
            }
            self.heap[place] = self.heap[child];
            place = child;
        }
        self.heap[place] = element;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merges so many sequences whose elements take turns, the worst case, and counts the comparisons for each element.
    fn comparisons_per_element(sequences: u64) -> f64 {
        const EACH: u64 = 20;
        let mut comparisons = 0u64;
        let mut before = |a: &(u64, u64), b: &(u64, u64)| {
            comparisons += 1;
            a < b
        };
        let firsts = (0..sequences).rev().map(|sequence| (0, sequence));
        let mut merge = Merge::new(firsts.collect(), &mut before);
        let mut merged = Vec::new();
        while let Some(&(turn, sequence)) = merge.first() {
            merged.push((turn, sequence));
            if turn + 1 < EACH {
                merge.replace_first((turn + 1, sequence), &mut before);
            } else {
                merge.remove_first(&mut before);
            }
        }
        assert_eq!(merged.len() as u64, sequences * EACH);
        assert!(merged.is_sorted());
        comparisons as f64 / merged.len() as f64
    }

    #[test]
    fn the_work_grows_with_the_logarithm_of_the_number_of_sequences() {
        for sequences in [1, 2, 3, 4, 7, 100, 2_000, 20_000] {
            let most = 2.0 * (sequences as f64).log2().ceil() + 1.0;
            let comparisons = comparisons_per_element(sequences);
            assert!(comparisons <= most, "{sequences}: {comparisons}");
        }
    }

    #[test]
    fn a_run_of_one_sequence_takes_one_comparison_for_each_element() {
        let mut comparisons = 0;
        let mut merge = Merge::new((0..1_000).map(|it| it * 1_000).collect(), |a, b| a < b);
        for element in 1..1_000 {
            merge.replace_first(element, |a, b| {
                comparisons += 1;
                a < b
            });
            assert_eq!(merge.first(), Some(&element));
        }
        assert_eq!(comparisons, 999);
    }
}
