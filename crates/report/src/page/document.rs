//! The file: the frame, the style sheet, the packed parts, the chart library and the scripts, in this order.

use std::io::{self, Write};

use super::definitions::DEFINITIONS;
use super::part::PackedPart;

const FRAME: &str = include_str!("../../assets/page/page.html");
const STYLE: &[&str] = &[
    include_str!("../../assets/base/colours.css"),
    include_str!("../../assets/page/style.css"),
    include_str!("../../assets/page/graph.css"),
];
const CHART_LIBRARY: &str = include_str!(concat!(env!("OUT_DIR"), "/plotly.base64"));

/// One script, made of these in the order in which they need each other.
const SCRIPTS: &[&str] = &[
    include_str!("../../assets/base/element.js"),
    include_str!("../../assets/base/duration.js"),
    include_str!("../../assets/base/number.js"),
    include_str!("../../assets/base/clock.js"),
    include_str!("../../assets/base/text.js"),
    include_str!("../../assets/base/colour.js"),
    include_str!("../../assets/base/theme.js"),
    include_str!("../../assets/base/combobox.js"),
    include_str!("../../assets/page/base/format.js"),
    include_str!("../../assets/page/base/data.js"),
    include_str!("../../assets/page/base/theme.js"),
    include_str!("../../assets/page/base/axis.js"),
    include_str!("../../assets/page/base/chart.js"),
    include_str!("../../assets/page/base/table.js"),
    include_str!("../../assets/page/base/pen.js"),
    include_str!("../../assets/page/base/timeview.js"),
    include_str!("../../assets/page/base/view.js"),
    include_str!("../../assets/page/base/find.js"),
    include_str!("../../assets/page/base/layout.js"),
    include_str!("../../assets/page/base/distribution.js"),
    include_str!("../../assets/page/base/explanation.js"),
    include_str!("../../assets/page/sections/overview.js"),
    include_str!("../../assets/page/graph/layers.js"),
    include_str!("../../assets/page/graph/order.js"),
    include_str!("../../assets/page/graph/place.js"),
    include_str!("../../assets/page/graph/wrap.js"),
    include_str!("../../assets/page/graph/lines.js"),
    include_str!("../../assets/page/graph/layered.js"),
    include_str!("../../assets/page/graph/nested.js"),
    include_str!("../../assets/page/graph/curve.js"),
    include_str!("../../assets/page/graph/visible.js"),
    include_str!("../../assets/page/graph/figures.js"),
    include_str!("../../assets/page/graph/picture.js"),
    include_str!("../../assets/page/graph/camera.js"),
    include_str!("../../assets/page/graph/panel.js"),
    include_str!("../../assets/page/graph/save.js"),
    include_str!("../../assets/page/sections/graph.js"),
    include_str!("../../assets/page/sections/callbacks.js"),
    include_str!("../../assets/page/sections/callback.js"),
    include_str!("../../assets/page/sections/topics.js"),
    include_str!("../../assets/page/sections/topic.js"),
    include_str!("../../assets/page/sections/paths.js"),
    include_str!("../../assets/page/sections/flow.js"),
    include_str!("../../assets/page/sections/lanes.js"),
    include_str!("../../assets/page/sections/schedule.js"),
    include_str!("../../assets/page/sections/nodes.js"),
    include_str!("../../assets/page/sections/processes.js"),
    include_str!("../../assets/page/sections/process.js"),
    include_str!("../../assets/page/sections/definitions.js"),
    include_str!("../../assets/page/start.js"),
];

#[derive(Debug)]
pub(crate) struct Document<'a> {
    pub(crate) title: &'a str,
    pub(crate) parts: &'a [PackedPart],
}

impl Document<'_> {
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut rest = FRAME;
        while let Some((before, after)) = rest.split_once("{{") {
            out.write_all(before.as_bytes())?;
            let Some((slot, after)) = after.split_once("}}") else {
                break;
            };
            self.fill(slot, out)?;
            rest = after;
        }
        out.write_all(rest.as_bytes())
    }

    fn fill(&self, slot: &str, out: &mut impl Write) -> io::Result<()> {
        match slot {
            "version" => out.write_all(env!("CARGO_PKG_VERSION").as_bytes()),
            "title" => out.write_all(rostrace_base::text::markup(self.title).as_bytes()),
            "style" => STYLE
                .iter()
                .try_for_each(|style| out.write_all(style.as_bytes())),
            "script" => scripts(out),
            "definitions" => out.write_all(DEFINITIONS.as_bytes()),
            "data" => {
                for part in self.parts {
                    block(&format!("{}-data", part.name), &part.json, out)?;
                    block(&format!("{}-columns", part.name), &part.columns, out)?;
                }
                block("plotly", CHART_LIBRARY, out)
            }
            unknown => unreachable!("the frame has no slot {unknown}"),
        }
    }
}

/// All scripts share one scope: what a module of `assets/base` exports is simply declared, and what it imports is there.
fn scripts(out: &mut impl Write) -> io::Result<()> {
    let lines = SCRIPTS
        .iter()
        .flat_map(|script| script.split_inclusive('\n'));
    for line in lines.filter(|line| !line.starts_with("import ")) {
        out.write_all(line.strip_prefix("export ").unwrap_or(line).as_bytes())?;
    }
    Ok(())
}

/// Data that the browser does not look into.
fn block(id: &str, content: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "<script type=\"text/plain\" id=\"{id}\">{content}</script>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All scripts share one scope, where a second function of a name would silently replace the first.
    #[test]
    fn no_two_scripts_declare_the_same_name() {
        let mut declared = std::collections::HashSet::new();
        for line in SCRIPTS.iter().flat_map(|script| script.lines()) {
            let line = line.strip_prefix("export ").unwrap_or(line);
            let line = line.strip_prefix("async ").unwrap_or(line);
            let keywords = ["function ", "const ", "let ", "class "];
            let rest = keywords
                .iter()
                .find_map(|keyword| line.strip_prefix(keyword));
            let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
            let name = rest.map(|rest| rest.split(|letter| !is_letter(letter)).next());
            if let Some(name) = name.flatten().filter(|name| !name.is_empty()) {
                assert!(declared.insert(name), "{name} is declared twice");
            }
        }
        assert!(declared.len() > 50);
    }

    #[test]
    fn every_slot_of_the_frame_is_filled_and_titles_stay_text() {
        let mut page = Vec::new();
        let title = "</title><script>alert(1)</script>\" ' & {{data}}";
        Document { title, parts: &[] }.write(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(!page.contains("<script>alert"));
        assert!(page.contains("&lt;/title&gt;&lt;script&gt;alert(1)"));
        assert_eq!(page.matches("id=\"plotly\"").count(), 1);
    }
}
