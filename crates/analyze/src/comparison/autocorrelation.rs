//! How far the values of a series depend on their neighbours.
//!
//! A busy second makes a hundred executions slow at once: these are not a hundred witnesses. The integrated autocorrelation time
//! τ = 1 + 2 Σ ρ(k) says how many values are worth one independent one. It is taken of the ranks, so that a single outlier says
//! nothing about its neighbours, and of who is above the 95th and 99th percentile, since the tail may come in bursts while the rest does not.

/// More values are averaged in groups first; a group then counts as one value, so τ is never underestimated by it.
const MOST_VALUES: usize = 4096;

/// The sum over lags ends at this many times τ (Sokal's window): later terms are noise.
const WINDOW: f64 = 5.0;

/// How many values in a row a block of the bootstrap has to have, so that blocks are nearly independent.
pub(super) fn block_length(values: &[i64]) -> usize {
    let ranks = ranks(values);
    let mut time = integrated_time(&ranks);
    for (least, quantile) in [(200, 0.95), (1000, 0.99)] {
        if values.len() >= least {
            let border = quantile * values.len() as f64;
            let above: Vec<f64> = ranks.iter().map(|rank| f64::from(*rank > border)).collect();
            time = time.max(integrated_time(&above));
        }
    }
    length_for(time, values.len())
}

/// The same for numbers whose mean is what counts.
pub(super) fn block_length_of_mean(values: &[f64]) -> usize {
    length_for(integrated_time(values), values.len())
}

/// Without any correlation n^(1/3), the order that is best for the variance of a mean; else as long as leaves about a tenth of the
/// correlation between blocks.
fn length_for(time: f64, values: usize) -> usize {
    let usual = (values as f64).cbrt();
    let needed = if time > 1.5 { 4.0 * time } else { 1.0 };
    usual.max(needed).ceil() as usize
}

/// 1 for the smallest; equal values share the mean of their ranks.
fn ranks(values: &[i64]) -> Vec<f64> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_unstable_by_key(|place| values[*place as usize]);
    let mut ranks = vec![0.0; values.len()];
    let mut begin = 0;
    while begin < order.len() {
        let value = values[order[begin] as usize];
        let equal = order[begin..].iter();
        let number = equal
            .take_while(|place| values[**place as usize] == value)
            .count();
        let rank = begin as f64 + (number + 1) as f64 / 2.0;
        for place in &order[begin..begin + number] {
            ranks[*place as usize] = rank;
        }
        begin += number;
    }
    ranks
}

/// τ, at least 1.
fn integrated_time(values: &[f64]) -> f64 {
    let group = values.len().div_ceil(MOST_VALUES).max(1);
    let means = values.chunks(group);
    let means: Vec<f64> = means
        .map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64)
        .collect();
    let number = means.len();
    if number < 8 {
        return 1.0;
    }
    let mean = means.iter().sum::<f64>() / number as f64;
    let deviations: Vec<f64> = means.iter().map(|value| value - mean).collect();
    let variance: f64 = deviations.iter().map(|it| it * it).sum();
    if variance <= 0.0 {
        return 1.0;
    }
    let mut time = 1.0f64;
    for lag in 1..number / 2 {
        let products = deviations[lag..].iter().zip(&deviations);
        let correlation = products.map(|(a, b)| a * b).sum::<f64>() / variance;
        time += 2.0 * correlation;
        if lag as f64 >= WINDOW * time.max(1.0) {
            break;
        }
    }
    let time = time.max(1.0);
    if group > 1 && time > 1.5 {
        return time * group as f64;
    }
    time
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    fn correlated(number: usize, correlation: f64) -> Vec<i64> {
        let mut random = Random::new(7);
        let mut state = 0.0;
        let values = (0..number).map(|_| {
            let noise = (0..12).map(|_| random.below(1000) as f64).sum::<f64>() - 6000.0;
            state = correlation * state + noise;
            state as i64
        });
        values.collect()
    }

    #[test]
    fn independent_values_need_short_blocks() {
        let length = block_length(&correlated(3000, 0.0));
        assert!((14..=30).contains(&length), "{length}");
    }

    #[test]
    fn correlated_values_need_long_blocks() {
        // τ of an AR(1) process is (1 + φ) / (1 − φ) = 19; of its tail less.
        let length = block_length(&correlated(20_000, 0.9));
        assert!((45..=130).contains(&length), "{length}");
    }

    #[test]
    fn constant_and_short_series_do_no_harm() {
        assert_eq!(block_length(&[]), 1);
        assert_eq!(block_length(&[5]), 1);
        assert_eq!(block_length(&[5; 1000]), 10);
    }
}
