//! How much less each of many tests says than one alone.

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
    fn many_tests_make_each_one_count_less() {
        let found = adjusted(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.02, 0.04, 0.04, 0.02];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
