//! As SVG, by a layout of our own: one file, no program to install, and text that can be searched.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::layout::{Layout, Spot, layout};
use super::picture::{Arrow, Figure, Picture, Shape};
use rostrace_base::text::{markup, visible};

const CHARACTER: f64 = 6.7;
const HEIGHT: f64 = 24.0;
const ROW: f64 = 36.0;
/// Of figures whose names have two lines.
const TALL: f64 = 36.0;
const TALL_ROW: f64 = 52.0;
const GAP: f64 = 70.0;
/// Where something is written beside arrows.
const LABELLED_GAP: f64 = 110.0;
const MARGIN: f64 = 24.0;
const BAND_GAP: f64 = 34.0;
/// Longer names are shortened in the middle; the whole name shows under the pointer.
const MOST_CHARACTERS: usize = 44;

/// Of each line, where there are two.
const MOST_IN_LINE: usize = 30;
/// Of the names that stand at arrows.
const MOST_OF_TOPIC: usize = 22;
/// Beside more arrows nothing is written: it would cover them.
const MOST_LABELS: usize = 80;

const STYLE: &str = "\
text{font:11px ui-monospace,Consolas,monospace;fill:#1d2733;text-anchor:middle;dominant-baseline:central}\
.n rect{fill:#dbeafe;stroke:#2563eb}.t rect{fill:#f6f8fa;stroke:#8a94a0}\
path{fill:none;stroke:#6b7785;stroke-width:1.1}marker path{fill:#6b7785;stroke:none}\
.c rect{fill:#000;fill-opacity:.04;stroke:#c3cad2;stroke-dasharray:4 3}.c text{text-anchor:start;fill:#57606a}\
.s rect{fill:#e7e0f8;stroke:#6d4fc2;stroke-width:1.6}\
text.p{font-size:9px;fill:#57606a}text.l{font-size:9px;paint-order:stroke;stroke:#fff;stroke-width:3px;fill:#3d4753}\
@media(prefers-color-scheme:dark){svg{background:#12171d}text{fill:#e6edf3}.n rect{fill:#1e3a5f}.t rect{fill:#222a33}\
.c rect{fill:#fff}.c text{fill:#9aa4ae}.s rect{fill:#3a2f5c}text.p{fill:#9aa4ae}text.l{stroke:#12171d;fill:#c4ccd4}}";

pub fn svg(picture: &Picture) -> String {
    // Band 0 holds what belongs to no namespace.
    let bands: Vec<usize> = (picture.figures.iter())
        .map(|figure| figure.cluster.map_or(0, |cluster| cluster + 1))
        .collect();
    let ends: Vec<(usize, usize)> = (picture.arrows.iter())
        .map(|arrow| (arrow.from, arrow.to))
        .collect();
    let layout = layout(&ends, &bands);
    let page = Page::new(picture, &layout);
    let mut out = String::new();
    let (width, height) = (page.width, page.height);
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n\
         <title>Nodes and topics</title>\n<style>{STYLE}</style>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0.5L8 4L0 7.5z\"/></marker></defs>"
    );
    for (index, name) in picture.clusters.iter().enumerate() {
        page.cluster(&mut out, index + 1, name);
    }
    for (arrow, route) in picture.arrows.iter().zip(&layout.routes) {
        page.arrow(&mut out, route, picture, arrow);
    }
    // Under the figures, and once where the same leads to several of them.
    let mut written: BTreeSet<(usize, String)> = BTreeSet::new();
    for (arrow, route) in picture.arrows.iter().zip(&layout.routes) {
        let text = arrow.text().filter(|_| picture.arrows.len() <= MOST_LABELS);
        let text = text.filter(|text| written.insert((arrow.from, text.clone())));
        if let Some(text) = text {
            page.arrow_label(&mut out, route, &text);
        }
    }
    for (index, figure) in picture.figures.iter().enumerate() {
        page.figure(&mut out, index, figure);
    }
    out.push_str("</svg>\n");
    out
}

/// Coordinates.
struct Page<'l> {
    layout: &'l Layout,
    /// By layer: the centre, and the width of the widest figure.
    columns: Vec<(f64, f64)>,
    /// By band: the top.
    tops: Vec<f64>,
    widths: Vec<f64>,
    width: f64,
    height: f64,
    /// Whether names have two lines: pictures whose arrows have names are wide enough.
    is_tall: bool,
    row: f64,
}

impl<'l> Page<'l> {
    fn new(picture: &Picture, layout: &'l Layout) -> Page<'l> {
        let has_labels = picture.arrows.iter().any(|arrow| !arrow.topics.is_empty());
        let gap = if has_labels { LABELLED_GAP } else { GAP };
        let row = if has_labels { TALL_ROW } else { ROW };
        let width = |figure: &Figure| {
            let lines = lines(figure, has_labels);
            let widths = lines.iter().map(|line| text_width(line) + 18.0);
            widths.fold(0.0, f64::max)
        };
        let widths: Vec<f64> = picture.figures.iter().map(width).collect();
        let mut widest = vec![20.0_f64; layout.layers];
        for (spot, width) in layout.spots.iter().zip(&widths) {
            widest[spot.layer] = widest[spot.layer].max(*width);
        }
        let mut x = MARGIN;
        let mut columns = Vec::new();
        for width in widest {
            columns.push((x + width / 2.0, width));
            x += width + gap;
        }
        let mut y = MARGIN;
        let mut tops = Vec::new();
        for (band, rows) in layout.rows.iter().enumerate() {
            // Room for the name of the namespace.
            y += if band > 0 && *rows > 0 { BAND_GAP } else { 0.0 };
            tops.push(y);
            y += *rows as f64 * row;
        }
        Page {
            layout,
            columns,
            tops,
            widths,
            width: (x - gap).max(MARGIN) + MARGIN,
            height: y + MARGIN,
            is_tall: has_labels,
            row,
        }
    }

    /// The centre of a spot; the spots of a layer stand in the middle of their band.
    fn centre(&self, spot: &Spot) -> (f64, f64) {
        let rows = self.layout.rows[spot.band] as f64;
        let count = self.layout.counts[spot.layer][spot.band] as f64;
        let step = if count > 0.0 { rows / count } else { 1.0 };
        // Spread a little, but keep neighbours together.
        let step = step.min(2.0);
        let first = (rows - count * step) / 2.0;
        let row = first + (spot.row as f64 + 0.5) * step;
        (
            self.columns[spot.layer].0,
            self.tops[spot.band] + row * self.row,
        )
    }

    fn cluster(&self, out: &mut String, band: usize, name: &str) {
        let members = self.layout.spots[..self.widths.len()].iter();
        let layers: Vec<usize> = members
            .filter(|spot| spot.band == band)
            .map(|spot| spot.layer)
            .collect();
        let (Some(first), Some(last)) = (layers.iter().min(), layers.iter().max()) else {
            return;
        };
        let left = self.columns[*first].0 - self.columns[*first].1 / 2.0 - 12.0;
        let right = self.columns[*last].0 + self.columns[*last].1 / 2.0 + 12.0;
        let top = self.tops[band] - 22.0;
        let height = self.layout.rows[band] as f64 * self.row + 24.0;
        let _ = writeln!(
            out,
            "<g class=\"c\"><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"8\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            right - left,
            left + 10.0,
            top + 12.0,
            markup(&label(name))
        );
    }

    /// A curve through the bends: it leaves and enters each column horizontally.
    fn arrow(&self, out: &mut String, route: &[usize], picture: &Picture, arrow: &Arrow) {
        let mut path = String::new();
        let mut before: Option<(f64, f64)> = None;
        let forwards = match route {
            [first, .., last] => self.layout.spots[*first].layer <= self.layout.spots[*last].layer,
            _ => return,
        };
        let side = if forwards { 0.5 } else { -0.5 };
        for (index, &spot) in route.iter().enumerate() {
            let (x, y) = self.centre(&self.layout.spots[spot]);
            let half = self.widths.get(spot).copied().unwrap_or(0.0) * side;
            let enter = if index == 0 { x + half } else { x - half };
            match before {
                None => {
                    let _ = write!(path, "M{enter:.1} {y:.1}");
                }
                Some((x, before)) => {
                    let middle = (x + enter) / 2.0;
                    let _ = write!(
                        path,
                        "C{middle:.1} {before:.1} {middle:.1} {y:.1} {enter:.1} {y:.1}"
                    );
                }
            }
            before = Some((enter, y));
        }
        let (from, to) = (&picture.figures[arrow.from], &picture.figures[arrow.to]);
        let mut title = format!("{} → {}", from.name, to.name);
        if !arrow.topics.is_empty() {
            title += &format!(": {}", arrow.topics.join(", "));
        }
        let _ = writeln!(
            out,
            "<path d=\"{path}\" marker-end=\"url(#arrow)\"><title>{}</title></path>",
            markup(&title)
        );
    }

    fn figure(&self, out: &mut String, index: usize, figure: &Figure) {
        let (x, y) = self.centre(&self.layout.spots[index]);
        let width = self.widths[index];
        let (class, radius) = match figure.shape {
            Shape::Topic => ("t", HEIGHT / 2.0),
            Shape::Node => ("n", 4.0),
            Shape::Namespace(_) => ("s", 4.0),
        };
        let height = if self.is_tall { TALL } else { HEIGHT };
        let _ = write!(
            out,
            "<g class=\"{class}\"><title>{}</title><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height}\" rx=\"{radius}\"/>",
            markup(&figure.name),
            x - width / 2.0,
            y - height / 2.0,
        );
        match lines(figure, self.is_tall).as_slice() {
            [namespace, name] => {
                let (above, below) = (y - 8.0, y + 7.0);
                let _ = write!(
                    out,
                    "<text class=\"p\" x=\"{x:.1}\" y=\"{above:.1}\">{}</text><text x=\"{x:.1}\" y=\"{below:.1}\">{}</text>",
                    markup(namespace),
                    markup(name)
                );
            }
            lines => {
                let text = markup(&lines.concat());
                let _ = write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
            }
        }
        out.push_str("</g>\n");
    }

    /// Where the arrow has left its figure.
    fn arrow_label(&self, out: &mut String, route: &[usize], text: &str) {
        let [before, second, ..] = route else {
            return;
        };
        let side = |spot: &usize, sign: f64| {
            let (x, y) = self.centre(&self.layout.spots[*spot]);
            let half = self.widths.get(*spot).copied().unwrap_or(0.0) / 2.0;
            (x + half * sign, y)
        };
        let forwards = self.layout.spots[*before].layer <= self.layout.spots[*second].layer;
        let sign = if forwards { 1.0 } else { -1.0 };
        let (from, to) = (side(before, sign), side(second, -sign));
        let _ = writeln!(
            out,
            "<text class=\"l\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            (from.0 + to.0) / 2.0,
            (from.1 + to.1) / 2.0,
            markup(&short(text))
        );
    }
}

/// What is written in a figure: its whole name, or its namespace above it.
fn lines(figure: &Figure, is_tall: bool) -> Vec<String> {
    let text = figure.text();
    match figure.name.rfind('/') {
        Some(slash) if is_tall && slash > 0 => {
            let (namespace, name) = text.split_at(slash + 1);
            vec![
                shortened(namespace, MOST_IN_LINE),
                shortened(name, MOST_IN_LINE),
            ]
        }
        _ => vec![label(&text)],
    }
}

/// The end of a long name: what stands between two boxes has little room.
fn short(topic: &str) -> String {
    let topic = visible(topic);
    let count = topic.chars().count();
    match count <= MOST_OF_TOPIC {
        true => topic.into_owned(),
        false => {
            let end: String = topic.chars().skip(count - MOST_OF_TOPIC + 1).collect();
            format!("…{end}")
        }
    }
}

/// A name short enough to draw: its beginning and its end, which tell most.
fn label(name: &str) -> String {
    shortened(name, MOST_CHARACTERS)
}

fn shortened(name: &str, most: usize) -> String {
    let name = visible(name);
    let characters: Vec<char> = name.chars().collect();
    if characters.len() <= most {
        return name.into_owned();
    }
    let half = most / 2;
    let begin: String = characters[..half].iter().collect();
    let end: String = characters[characters.len() - half + 1..].iter().collect();
    format!("{begin}…{end}")
}

fn text_width(text: &str) -> f64 {
    // Characters of East Asia are about twice as wide.
    let width = |c: char| if c >= '\u{1100}' { 2.0 } else { 1.0 };
    text.chars().map(width).sum::<f64>() * CHARACTER
}
