//! Series that are too long to be seen: of the values that fall on one place of a chart the first, the least, the largest and the last are kept, so
//! that the line looks the same and the worst is never hidden.

/// At most about four points for each place; short series stay as they are. Points are in the order of time.
pub(crate) fn downsampled(points: &[(i64, i64)], places: usize) -> Vec<(i64, i64)> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Vec::new();
    };
    if points.len() <= places * 4 {
        return points.to_vec();
    }
    let span = i128::from(last.0) - i128::from(first.0) + 1;
    let place = |time: i64| (i128::from(time) - i128::from(first.0)) * places as i128 / span;
    let mut kept = Vec::with_capacity(places * 4);
    for run in points.chunk_by(|a, b| place(a.0) == place(b.0)) {
        let value = |index: &usize| run[*index].1;
        let least = (0..run.len()).min_by_key(value).unwrap_or(0);
        let largest = (0..run.len()).max_by_key(value).unwrap_or(0);
        let mut chosen = [0, least, largest, run.len() - 1];
        chosen.sort_unstable();
        let mut before = None;
        for index in chosen {
            if before.replace(index) != Some(index) {
                kept.push(run[index]);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_extremes_of_every_place_are_kept(
            values in prop::collection::vec((0i64..1000, any::<i32>()), 0..2000),
            places in 1usize..50,
        ) {
            let mut time = 0;
            let points: Vec<(i64, i64)> = values
                .iter()
                .map(|(step, value)| {
                    time += step;
                    (time, i64::from(*value))
                })
                .collect();
            let kept = downsampled(&points, places);
            prop_assert!(kept.len() <= points.len());
            prop_assert!(kept.len() <= places * 4);
            prop_assert!(kept.iter().all(|point| points.contains(point)));
            prop_assert!(kept.is_sorted_by_key(|point| point.0));
            prop_assert_eq!(kept.iter().map(|it| it.1).max(), points.iter().map(|it| it.1).max());
            prop_assert_eq!(kept.iter().map(|it| it.1).min(), points.iter().map(|it| it.1).min());
            prop_assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
        }
    }
}
