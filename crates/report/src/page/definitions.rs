//! What the metrics mean: a page of the documents, made into HTML when this crate is built. Charts and tables link to its headings.

pub(crate) const DEFINITIONS: &str = include_str!(concat!(env!("OUT_DIR"), "/definitions.html"));

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// How anchors are written in the scripts, and before `#definitions/` anywhere.
    const WAYS: &[&str] = &["definition: \"", "definitionLink(\"", "#definitions/"];

    fn sources(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else {
                found.push(fs::read_to_string(path).unwrap());
            }
        }
    }

    fn anchors_in(text: &str, way: &str) -> BTreeSet<String> {
        let anchor = |at: usize| {
            let rest = text[at + way.len()..].chars();
            rest.take_while(|it| it.is_ascii_lowercase() || *it == '-')
                .collect::<String>()
        };
        let anchors = text.match_indices(way).map(|(at, _)| anchor(at));
        anchors.filter(|anchor| !anchor.is_empty()).collect()
    }

    #[test]
    fn every_anchor_in_use_is_a_heading() {
        let headings = anchors_in(DEFINITIONS, " id=\"");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut texts = vec![DEFINITIONS.to_owned()];
        sources(&folder.join("assets"), &mut texts);
        sources(&folder.join("src"), &mut texts);
        let used: BTreeSet<String> = texts
            .iter()
            .flat_map(|text| WAYS.iter().flat_map(|way| anchors_in(text, way)))
            .collect();
        assert!(used.len() > 8, "{used:?}");
        let missing: Vec<&String> = used.difference(&headings).collect();
        assert!(missing.is_empty(), "no heading has the anchors {missing:?}");
    }

    #[test]
    fn the_definitions_need_nothing_from_elsewhere() {
        assert!(!DEFINITIONS.contains("<script"));
        assert!(!DEFINITIONS.contains(".svg\""));
        assert!(!DEFINITIONS.contains("href=\"."));
        let pictures = DEFINITIONS
            .matches("src=\"data:image/svg+xml;base64,")
            .count();
        assert_eq!(pictures, DEFINITIONS.matches("<img").count());
        let light = DEFINITIONS.matches("picture light").count();
        assert_eq!(light, DEFINITIONS.matches("picture dark").count());
        assert!(light > 0);
    }
}
