//! The names that somebody may have meant.

/// Names that are less alike are no help.
const ALIKE: f64 = 0.75;
/// More than this many are a list, and no hint.
const MOST: usize = 3;
/// Beyond these, comparing takes longer than reading the list.
const MOST_BYTES: usize = 512;
const MOST_NAMES: usize = 20_000;

/// The most similar names, best first; equally similar ones in the order of their letters.
pub fn similar<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    if written.len() > MOST_BYTES {
        return Vec::new();
    }
    let plain: String = written.chars().filter(|c| !"*?[]".contains(*c)).collect();
    let plain = plain.to_lowercase();
    let plain = plain.trim_start_matches('/');
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        // People forget the provider of an event (`callback_start` for `ros2:callback_start`) and the namespaces of a node.
        let event = name.split_once(':').map_or(name.as_str(), |it| it.1);
        let base = name.rsplit_once('/').map_or(name.as_str(), |it| it.1);
        let parts = [name.as_str(), event, base].into_iter();
        parts
            .map(|part| strsim::jaro_winkler(plain, part.trim_start_matches('/')))
            .fold(0.0, f64::max)
    };
    let names = names.into_iter().filter(|name| name.len() <= MOST_BYTES);
    let mut alike: Vec<(f64, &str)> = names
        .take(MOST_NAMES)
        .map(|name| (likeness(name), name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    alike.dedup_by(|a, b| a.1 == b.1);
    alike.truncate(MOST);
    alike.into_iter().map(|(_, name)| name).collect()
}

/// The one that was most likely meant.
pub fn most_similar<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    similar(written, names).first().map(|it| (*it).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let known = ["/planner", "/fusion", "/lidar"];
        assert_eq!(similar("/plannr", known), ["/planner"]);
        assert!(similar("/camera_front", known).is_empty());
        assert!(similar(&"x".repeat(100_000), known).is_empty());
    }
}
