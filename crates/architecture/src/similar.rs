//! The name that somebody may have meant.

/// As similar as this, or it is no help.
const LEAST: f64 = 0.6;
/// Beyond this, comparing takes longer than reading the list.
const MOST_BYTES: usize = 512;
const MOST_CANDIDATES: usize = 5_000;

pub fn most_similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut best: Option<(f64, &str)> = None;
    if name.len() > MOST_BYTES {
        return None;
    }
    let short = |candidate: &&str| candidate.len() <= MOST_BYTES;
    for candidate in known.into_iter().filter(short).take(MOST_CANDIDATES) {
        let similarity = strsim::normalized_levenshtein(name, candidate);
        let better = match best {
            None => similarity > LEAST,
            // Equal ones in the order of their names, so that the answer is always the same.
            Some((most, first)) => similarity > most || (similarity == most && candidate < first),
        };
        if better {
            best = Some((similarity, candidate));
        }
    }
    best.map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let known = ["/planner", "/fusion", "/lidar"];
        assert_eq!(most_similar("/plannr", known), Some("/planner".to_owned()));
        assert_eq!(most_similar("/camera_front", known), None);
    }
}
