//! Which events are recorded: by patterns, or all but the chattiest and those that have to be asked for.

use glob::Pattern;
use rostrace_session::MASK_WORDS;
use rostrace_tracepoints::{Attribute, Family, Phase, Tracepoint, recorded};

use crate::error::Error;

/// The mask of a command. Events of initialisation are always recorded: without them nothing has a name. Patterns are compared
/// with the full name, `ros2:callback_start`, and with the name alone. Locks are recorded if that is asked for, or if a pattern names them.
pub fn mask(patterns: &[Pattern], light: bool, locks: bool) -> Result<[u64; MASK_WORDS], Error> {
    let fits = |pattern: &Pattern, event: &Tracepoint| {
        pattern.matches(event.full_name) || pattern.matches(event.name)
    };
    if let Some(pattern) = patterns
        .iter()
        .find(|pattern| !recorded().any(|event| fits(pattern, event)))
    {
        return Err(Error::NoSuchEvent(pattern.to_string()));
    }
    let mut mask = [0; MASK_WORDS];
    for (number, event) in recorded().enumerate() {
        let chosen = match event.kind.family() {
            Some(Family::Locks) => locks || patterns.iter().any(|pattern| fits(pattern, event)),
            _ => patterns.is_empty() || patterns.iter().any(|pattern| fits(pattern, event)),
        };
        let quiet = !light || !event.has(Attribute::Chatty);
        if event.phase == Phase::Init || chosen && quiet {
            mask[number / 64] |= 1 << (number % 64);
        }
    }
    Ok(mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(patterns: &[&str], light: bool) -> Vec<&'static str> {
        names_with(patterns, light, false)
    }

    fn names_with(patterns: &[&str], light: bool, locks: bool) -> Vec<&'static str> {
        let patterns: Vec<Pattern> = patterns
            .iter()
            .map(|it| Pattern::new(it).unwrap())
            .collect();
        let mask = mask(&patterns, light, locks).unwrap();
        recorded()
            .enumerate()
            .filter(|(number, _)| mask[number / 64] >> (number % 64) & 1 == 1)
            .map(|(_, event)| event.full_name)
            .collect()
    }

    #[test]
    fn without_a_choice_everything_is_recorded_but_locks() {
        let all = recorded().count();
        assert_eq!(names(&[], false).len(), all - 3);
        assert_eq!(names_with(&[], false, true).len(), all);
    }

    #[test]
    fn locks_are_recorded_with_any_choice_if_they_are_asked_for() {
        let is_there = |names: Vec<&str>| names.contains(&"rostrace:lock_wait_begin");
        assert!(!is_there(names(&["callback_*"], false)));
        assert!(is_there(names_with(&["callback_*"], false, true)));
        assert!(is_there(names(&["lock_wait_*"], false)));
    }

    #[test]
    fn names_of_things_are_recorded_with_any_choice() {
        let found = names(&["callback_*"], false);
        assert!(found.contains(&"ros2:callback_start"));
        assert!(found.contains(&"ros2:rcl_node_init"));
        assert!(!found.contains(&"ros2:rmw_publish"));
    }

    #[test]
    fn light_leaves_out_the_chattiest() {
        let (all, light) = (names(&[], false), names(&[], true));
        let left_out = all.iter().filter(|name| !light.contains(name));
        assert_eq!(left_out.count(), 5);
        assert!(!light.contains(&"ros2:rcl_take") && light.contains(&"ros2:rmw_take"));
    }

    #[test]
    fn an_event_that_does_not_exist_is_refused() {
        let error = mask(&[Pattern::new("ros2:nothing").unwrap()], false, false).unwrap_err();
        assert!(error.to_string().contains("ros2:nothing"));
    }
}
