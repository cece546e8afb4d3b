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

/// Benjamini and Hochberg: the smallest false discovery rate at which each test would be taken for one. A thousand comparisons find
/// fifty differences where there is none; this says which of them to believe.
pub(super) fn adjusted(probabilities: &[f64]) -> Vec<f64> {
    let number = probabilities.len();
    let mut order: Vec<usize> = (0..number).collect();
    order.sort_by(|a, b| probabilities[*b].total_cmp(&probabilities[*a]));
    let mut adjusted = vec![1.0; number];
    let mut least = 1.0f64;
    for (place, index) in order.into_iter().enumerate() {
        let rank = (number - place) as f64;
        least = least.min(probabilities[index] * number as f64 / rank);
        adjusted[index] = least;
    }
    adjusted
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

    #[test]
    fn many_tests_make_each_one_count_less() {
        let found = adjusted(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.02, 0.04, 0.04, 0.02];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
