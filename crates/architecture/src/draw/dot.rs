//! For Graphviz.

use std::fmt::Write;

use super::escape;
use super::picture::{Arrow, Figure, Picture, Shape};

pub fn dot(picture: &Picture) -> String {
    let mut out = String::from(
        "digraph architecture {\n  rankdir=LR;\n  node [fontname=\"sans-serif\", fontsize=11];\n  edge [arrowsize=0.7];\n",
    );
    for (index, name) in picture.clusters.iter().enumerate() {
        let label = escape::dot(name);
        let _ = writeln!(out, "  subgraph cluster_{index} {{\n    label=\"{label}\";");
        for (index, figure) in picture.of_cluster(Some(index)) {
            let _ = writeln!(out, "    {}", line(index, figure));
        }
        out.push_str("  }\n");
    }
    for (index, figure) in picture.of_cluster(None) {
        let _ = writeln!(out, "  {}", line(index, figure));
    }
    for arrow in &picture.arrows {
        let Arrow { from, to, .. } = arrow;
        let label = arrow.text().map(|text| escape::dot(&text).to_string());
        let label = label.map_or(String::new(), |text| format!(" [label=\"{text}\"]"));
        let _ = writeln!(out, "  f{from} -> f{to}{label};");
    }
    out.push_str("}\n");
    out
}

fn line(index: usize, figure: &Figure) -> String {
    let label = escape::dot(&figure.text());
    let shape = match figure.shape {
        Shape::Topic => "ellipse",
        Shape::Node => "box, style=rounded",
        Shape::Namespace(_) => "box3d",
    };
    format!("f{index} [label=\"{label}\", shape={shape}];")
}
