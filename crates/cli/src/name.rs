//! Names that people write on the command line: how they may be shortened, what they mean in a trace, and what may have been meant where nothing fits.
//! Every verb asks here.

use rostrace_base::similar::similar;
use std::collections::BTreeSet;

use glob::Pattern;

use crate::outcome::wrong_usage;

/// Names that are listed where one has several meanings.
const MOST_CANDIDATES: usize = 8;

/// `<-` for `←` and `->` for `→`, which few keyboards have, with or without spaces around them.
pub(crate) fn with_arrows(text: &str) -> String {
    let spaced = |text: String, arrow: &str| -> String {
        let parts: Vec<&str> = text.split(arrow).collect();
        match parts.as_slice() {
            [_] => text,
            parts => (parts.iter().map(|part| part.trim()))
                .collect::<Vec<&str>>()
                .join(&format!(" {arrow} ")),
        }
    };
    let text = text.replace("<-", "←").replace("->", "→");
    spaced(spaced(text, "←"), "→")
}

/// Parses an argument that is a name or a pattern of names.
pub(crate) fn pattern(text: &str) -> Result<Pattern, glob::PatternError> {
    Pattern::new(&with_arrows(text))
}

/// What was written stands for more than one name by itself.
fn has_wildcards(pattern: &Pattern) -> bool {
    pattern.as_str().contains(['*', '?', '['])
}

/// What a pattern means among these names: itself if it fits any, or else with the slash or the namespaces that were left out. Nothing that fits is an
/// error that tells what is similar; so is a name that several things have in different namespaces.
pub(crate) fn meant(
    option: &str,
    noun: &str,
    pattern: &Pattern,
    names: &BTreeSet<&str>,
) -> anyhow::Result<Pattern> {
    let fits = |pattern: &Pattern| names.iter().any(|name| pattern.matches(name));
    if fits(pattern) {
        return Ok(pattern.clone());
    }
    let written = pattern.as_str();
    let shortened = !written.starts_with('/') && !written.is_empty();
    for before in ["/", "*/"] {
        let longer = Pattern::new(&format!("{before}{written}"));
        let Some(longer) = longer.ok().filter(|it| shortened && fits(it)) else {
            continue;
        };
        let found: Vec<&str> = (names.iter().copied())
            .filter(|name| longer.matches(name))
            .collect();
        if found.len() > 1 && !has_wildcards(pattern) {
            let more = found.len().saturating_sub(MOST_CANDIDATES);
            let mut shown = found[..found.len() - more].join(", ");
            if more > 0 {
                shown += &format!(" and {more} more");
            }
            wrong_usage!(
                "{option}: `{written}` may be {shown}; write more of the name, or `*/{written}` for all of them"
            );
        }
        return Ok(longer);
    }
    Err(unknown(option, noun, written, names.iter().copied()))
}

/// The error for a name that nothing has.
pub(crate) fn unknown<'n>(
    option: &str,
    noun: &str,
    written: &str,
    names: impl Iterator<Item = &'n str>,
) -> anyhow::Error {
    let similar = similar(written, names);
    let mut sentence = format!("{option}: no {noun} is named `{written}`");
    if !similar.is_empty() {
        sentence += &format!("; similar: {}", similar.join(", "));
    }
    crate::outcome::WrongUsage(sentence).into()
}

/// `similar: /a, /b`, or what to say where nothing is.
pub(crate) fn similar_or<'n>(
    written: &str,
    names: impl Iterator<Item = &'n str>,
    otherwise: &str,
) -> String {
    match similar(written, names).as_slice() {
        [] => otherwise.to_owned(),
        similar => format!("similar: {}", similar.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = [
        "/fusion",
        "/front/camera",
        "/rear/camera",
        "/planning/planner",
        "/planning/fusion",
    ];

    fn found(written: &str) -> Result<String, String> {
        let names = BTreeSet::from(NAMES);
        let meant = meant("--node", "node", &pattern(written).unwrap(), &names);
        meant
            .map(|it| it.as_str().to_owned())
            .map_err(|it| it.to_string())
    }

    #[test]
    fn a_name_may_lack_its_slash_and_its_namespace_where_only_one_is_meant() {
        assert_eq!(found("/fusion"), Ok("/fusion".to_owned()));
        assert_eq!(found("fusion"), Ok("/fusion".to_owned()));
        assert_eq!(found("planner"), Ok("*/planner".to_owned()));
        assert_eq!(
            found("planning/planner"),
            Ok("/planning/planner".to_owned())
        );
        assert_eq!(found("cam*"), Ok("*/cam*".to_owned()));
        assert_eq!(found("/*/camera"), Ok("/*/camera".to_owned()));
    }

    #[test]
    fn what_may_be_several_is_shown_with_all_of_them() {
        let said = found("camera").unwrap_err();
        assert!(said.contains("/front/camera, /rear/camera"), "{said}");
    }

    #[test]
    fn what_nothing_has_is_shown_with_what_is_similar() {
        let said = found("/fusoin").unwrap_err();
        assert!(
            said.starts_with("--node: no node is named `/fusoin`; similar: /fusion"),
            "{said}"
        );
        let said = found("/planer").unwrap_err();
        assert!(said.contains("/planning/planner"), "{said}");
        assert_eq!(found("qqq").unwrap_err(), "--node: no node is named `qqq`");
        assert!(found("").is_err());
    }

    #[test]
    fn a_forgotten_provider_or_a_slip_finds_the_name() {
        let names = || ["ros2:callback_start", "ros2:rcl_publish", "sched_switch"].into_iter();
        assert_eq!(similar("callback_start", names()), ["ros2:callback_start"]);
        assert_eq!(similar("ros2:rcl_publsh", names())[0], "ros2:rcl_publish");
        assert!(similar("qqq", names()).is_empty());
    }

    #[test]
    fn arrows_can_be_written_with_any_keyboard() {
        assert_eq!(with_arrows("/a <- /b"), "/a ← /b");
        assert_eq!(with_arrows("/a->/b -> /c"), "/a → /b → /c");
        assert_eq!(with_arrows("/a · timer 10 ms"), "/a · timer 10 ms");
        assert_eq!(pattern("/a -> /b*").unwrap().as_str(), "/a → /b*");
    }
}
