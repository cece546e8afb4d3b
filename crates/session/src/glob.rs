//! Patterns with `*` (any text) and `?` (any byte), separated by `:`.

/// Whether any of the patterns is the whole text.
pub fn matches_any(patterns: &[u8], text: &[u8]) -> bool {
    patterns
        .split(|byte| *byte == b':')
        .filter(|pattern| !pattern.is_empty())
        .any(|pattern| matches(pattern, text))
}

/// Goes back to the last `*` only: linear but for hostile patterns.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut in_text) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while in_text < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, in_text));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[in_text] => {
                at += 1;
                in_text += 1;
            }
            _ => match star {
                Some((before, from)) => {
                    at = before + 1;
                    in_text = from + 1;
                    star = Some((before, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (patterns, text, expected) in [
            ("/talker", "/talker", true),
            ("/talk", "/talker", false),
            ("/talk*", "/talker", true),
            ("*/points", "/lidar/front/points", true),
            ("/a*b*c", "/axxbyyc", true),
            ("/a*b*c", "/axxbyy", false),
            ("/?", "/x", true),
            ("/?", "/xy", false),
            ("*", "", true),
            ("", "", false),
            ("/a::/b", "/b", true),
        ] {
            let matches = matches_any(patterns.as_bytes(), text.as_bytes());
            assert_eq!(matches, expected, "{patterns} {text}");
        }
    }
}
