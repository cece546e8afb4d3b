//! The flame graph as a picture: the callback at the top, below each function those that it called, as wide as their samples are many.
//!
//! Names and numbers show in full when the pointer rests on a box; there is no script in it.

use std::fmt::Write as _;
use std::io::{self, Write};

use rostrace_analyze::profile::{CallTreeNode, Profile};
use rostrace_base::text::markup;
use rostrace_base::units;

use super::Flame;

const WIDTH: f64 = 1200.0;
const ROW: f64 = 18.0;
/// What is narrower cannot be seen.
const NARROWEST: f64 = 0.4;
/// About as wide as a letter is.
const LETTER: f64 = 6.6;

pub(super) fn svg(out: &mut dyn Write, flames: &[Flame], profile: &Profile) -> io::Result<()> {
    out.write_all(drawing(flames, profile).as_bytes())
}

pub(super) fn html(out: &mut dyn Write, flames: &[Flame], profile: &Profile) -> io::Result<()> {
    let title = flames.first().map_or("", |flame| flame.callback.as_str());
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{}</title>\n\
         <style>body {{ margin: 1em; }} svg {{ width: 100%; height: auto; }}</style>\n{}</html>\n",
        markup(title),
        drawing(flames, profile)
    )
}

fn drawing(flames: &[Flame], profile: &Profile) -> String {
    let rows: usize = flames.iter().map(|it| depth(&it.tree.roots) + 3).sum();
    let height = rows as f64 * ROW;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"monospace\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let mut top = 0.0;
    for flame in flames {
        let heading = format!(
            "{}: {}, {}",
            flame.callback,
            units::counted(flame.executions as u64, "execution"),
            units::counted(flame.tree.samples as u64, "sample"),
        );
        let _ = writeln!(
            text,
            "<text x=\"2\" y=\"{}\" font-weight=\"bold\">{}</text>",
            top + ROW * 0.7,
            markup(&heading)
        );
        top += ROW;
        let scale = WIDTH / flame.tree.samples.max(1) as f64;
        let mut left = 0.0;
        for root in &flame.tree.roots {
            draw(
                &mut text,
                root,
                (left, top),
                scale,
                (flame.tree.samples, profile.period()),
            );
            left += root.samples as f64 * scale;
        }
        top += (depth(&flame.tree.roots) + 2) as f64 * ROW;
    }
    text.push_str("</svg>\n");
    text
}

fn draw(
    text: &mut String,
    node: &CallTreeNode,
    (left, top): (f64, f64),
    scale: f64,
    (total, period): (usize, i64),
) {
    let width = node.samples as f64 * scale;
    if width < NARROWEST {
        return;
    }
    let title = format!(
        "{} ({}): {}, {}, about {}; {} itself",
        node.name,
        node.file,
        units::counted(node.samples as u64, "sample"),
        units::share(node.samples as f64 / total.max(1) as f64),
        units::signed_duration(node.samples as i64 * period),
        units::share(node.own as f64 / total.max(1) as f64),
    );
    let letters = ((width - 4.0) / LETTER).max(0.0) as usize;
    let name = match node.name.chars().count() > letters {
        true if letters < 3 => String::new(),
        true => node.name.chars().take(letters - 1).chain(['…']).collect(),
        false => node.name.clone(),
    };
    let _ = writeln!(
        text,
        "<g><title>{}</title><rect x=\"{left:.2}\" y=\"{top}\" width=\"{width:.2}\" height=\"{}\" fill=\"{}\" stroke=\"#fff\" stroke-width=\"0.5\"/>\
         <text x=\"{:.2}\" y=\"{}\">{}</text></g>",
        markup(&title),
        ROW - 1.0,
        colour(&node.name),
        left + 2.0,
        top + ROW * 0.7,
        markup(&name),
    );
    let mut at = left;
    for child in &node.children {
        draw(text, child, (at, top + ROW), scale, (total, period));
        at += child.samples as f64 * scale;
    }
}

fn depth(nodes: &[CallTreeNode]) -> usize {
    let below = nodes.iter().map(|node| 1 + depth(&node.children));
    below.max().unwrap_or(0)
}

/// The same function has the same colour everywhere.
fn colour(name: &str) -> String {
    let hash = (name.bytes()).fold(5381_u32, |hash, byte| {
        hash.wrapping_mul(33) ^ u32::from(byte)
    });
    format!("hsl({}, 75%, {}%)", 20 + hash % 35, 62 + hash / 35 % 12)
}
