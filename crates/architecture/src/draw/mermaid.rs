//! For Mermaid, which many wikis and forges draw inside of Markdown.

use std::fmt::Write;

use super::escape;
use super::picture::{Arrow, Figure, Picture, Shape};

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
    for arrow in &picture.arrows {
        let Arrow { from, to, .. } = arrow;
        let label = arrow.text().map(|text| escape::mermaid(&text).to_string());
        let label = label.map_or(String::new(), |text| format!("|\"{text}\"|"));
        let _ = writeln!(out, "  f{from} -->{label} f{to}");
    }
    out
}

/// Nodes are boxes, topics have round ends.
fn line(index: usize, figure: &Figure) -> String {
    let label = escape::mermaid(&figure.text());
    match figure.shape {
        Shape::Topic => format!("f{index}([\"{label}\"])"),
        Shape::Node => format!("f{index}[\"{label}\"]"),
        Shape::Namespace(_) => format!("f{index}[[\"{label}\"]]"),
    }
}
