//! The file format of <https://www.speedscope.app>: one profile for each callback.

use std::collections::HashMap;
use std::io::{self, Write};

use rostrace_analyze::profile::{CallTreeNode, Profile};
use serde::Serialize;

use super::Flame;

#[derive(Debug, Serialize)]
struct File<'f> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    shared: Shared<'f>,
    profiles: Vec<Sampled<'f>>,
}

#[derive(Debug, Default, Serialize)]
struct Shared<'f> {
    frames: Vec<Frame<'f>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
struct Frame<'f> {
    name: &'f str,
    file: &'f str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled<'f> {
    r#type: &'static str,
    name: &'f str,
    unit: &'static str,
    start_value: i64,
    end_value: i64,
    samples: Vec<Vec<usize>>,
    weights: Vec<i64>,
}

#[derive(Debug, Default)]
struct Frames<'f> {
    list: Vec<Frame<'f>>,
    places: HashMap<Frame<'f>, usize>,
}

impl<'f> Frames<'f> {
    fn place(&mut self, node: &'f CallTreeNode) -> usize {
        let frame = Frame {
            name: &node.name,
            file: &node.file,
        };
        *self.places.entry(frame).or_insert_with(|| {
            self.list.push(frame);
            self.list.len() - 1
        })
    }
}

pub(super) fn write(out: &mut dyn Write, flames: &[Flame], profile: &Profile) -> io::Result<()> {
    let mut frames = Frames::default();
    let mut profiles = Vec::new();
    for flame in flames {
        let mut sampled = Sampled {
            r#type: "sampled",
            name: &flame.callback,
            unit: "nanoseconds",
            start_value: 0,
            end_value: flame.tree.samples as i64 * profile.period(),
            samples: Vec::new(),
            weights: Vec::new(),
        };
        for root in &flame.tree.roots {
            add(&mut sampled, &mut frames, root, &[], profile.period());
        }
        profiles.push(sampled);
    }
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: "rostrace",
        shared: Shared {
            frames: frames.list,
        },
        profiles,
    };
    serde_json::to_writer(&mut *out, &file)?;
    out.write_all(b"\n")
}

fn add<'f>(
    sampled: &mut Sampled<'f>,
    frames: &mut Frames<'f>,
    node: &'f CallTreeNode,
    above: &[usize],
    period: i64,
) {
    let stack = [above, &[frames.place(node)]].concat();
    if node.own > 0 {
        sampled.samples.push(stack.clone());
        sampled.weights.push(node.own as i64 * period);
    }
    for child in &node.children {
        add(sampled, frames, child, &stack, period);
    }
}
