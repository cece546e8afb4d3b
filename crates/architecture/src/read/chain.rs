//! Named paths of a file.

use super::entry::MapEntry;
use super::{Reader, defined};
use crate::element::Element;
use crate::error::Item;
use crate::model::{Architecture, Endpoint, NamedPath, PathStep};
use rostrace_base::yaml::Marked;

impl Reader<'_> {
    pub(super) fn path(&mut self, item: &Marked, architecture: &mut Architecture) {
        let Some(mut entry) = MapEntry::new(item, "a path", self.problems) else {
            return;
        };
        let name = entry.required_text("path_name");
        let index = architecture.paths.len();
        let mut steps = Vec::new();
        let mut positions = Vec::new();
        for item in entry.list("node_chain", true) {
            if let Some(step) = self.step(item) {
                positions.push((Element::PathStep(index, steps.len()), item.at));
                steps.push(step);
            }
        }
        let at = entry.at();
        let extras = entry.extras();
        let Some(name) = name else {
            return;
        };
        if !self.is_new(Item::Path, &name) {
            let message = format!("a second path `{name}`; only the first is used");
            self.problems.warning(at, message);
            return;
        }
        self.found(Element::Path(index), at);
        self.positions.extend(positions);
        architecture.paths.push(NamedPath {
            name,
            steps,
            extras,
        });
    }

    fn step(&mut self, item: &Marked) -> Option<PathStep> {
        let mut entry = MapEntry::new(item, "a node of a path", self.problems)?;
        let node = entry.required_text("node_name");
        let publish = defined(entry.text("publish_topic_name"));
        let subscribe = defined(entry.text("subscribe_topic_name"));
        let publisher_order = entry.order("publisher_construction_order");
        let subscription_order = entry.order("subscription_construction_order");
        Some(PathStep {
            node: node?,
            subscription: subscribe.map(|topic| Endpoint::new(topic, subscription_order)),
            publisher: publish.map(|topic| Endpoint::new(topic, publisher_order)),
            extras: entry.extras(),
        })
    }
}
