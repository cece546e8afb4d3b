//! How large a difference is, whatever its unit.

/// Cliff's delta: how much more often a value of the new sample is the larger one of a pair than the smaller one, from −1 to 1.
/// Both samples sorted.
pub(super) fn cliffs_delta(base: &[i64], new: &[i64]) -> Option<f64> {
    let pairs = base.len() as f64 * new.len() as f64;
    if pairs <= 0.0 {
        return None;
    }
    let (mut smaller, mut not_larger) = (0, 0);
    let mut balance = 0.0;
    for value in new {
        while smaller < base.len() && base[smaller] < *value {
            smaller += 1;
        }
        while not_larger < base.len() && base[not_larger] <= *value {
            not_larger += 1;
        }
        balance += smaller as f64 - (base.len() - not_larger) as f64;
    }
    Some(balance / pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effect_goes_from_all_smaller_to_all_larger() {
        assert_eq!(cliffs_delta(&[1, 2, 3], &[4, 5]), Some(1.0));
        assert_eq!(cliffs_delta(&[4, 5], &[1, 2, 3]), Some(-1.0));
        assert_eq!(cliffs_delta(&[1, 2, 3], &[1, 2, 3]), Some(0.0));
        assert_eq!(cliffs_delta(&[], &[1]), None);
    }
}
