//! For Mermaid, which many wikis and forges draw inside of Markdown.

use std::fmt::Write;

use super::escape;
use super::picture::{Figure, Picture};

pub fn mermaid(picture: &Picture) -> String {
    let mut out = String::from("flowchart LR\n");
    for (index, name) in picture.clusters.iter().enumerate() {
        let _ = writeln!(out, "  subgraph c{index}[\"{}\"]", escape::mermaid(name));
        for (index, figure) in picture.of_cluster(Some(index)) {
            let _ = writeln!(out, "    {}", line(index, figure));
        }
        out.push_str("  end\n");
    }
    for (index, figure) in picture.of_cluster(None) {
        let _ = writeln!(out, "  {}", line(index, figure));
    }
    for (from, to) in &picture.arrows {
        let _ = writeln!(out, "  f{from} --> f{to}");
    }
    out
}

/// Nodes are boxes, topics have round ends.
fn line(index: usize, figure: &Figure) -> String {
    let label = escape::mermaid(&figure.name);
    match figure.is_topic {
        true => format!("f{index}([\"{label}\"])"),
        false => format!("f{index}[\"{label}\"]"),
    }
}
