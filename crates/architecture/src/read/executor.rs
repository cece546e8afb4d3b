//! Executors of a file.

use super::Reader;
use super::entry::MapEntry;
use crate::element::Element;
use crate::error::Item;
use crate::model::{Architecture, Executor};
use rostrace_base::yaml::Marked;

impl Reader<'_> {
    pub(super) fn executor(&mut self, item: &Marked, architecture: &mut Architecture) {
        let Some(mut entry) = MapEntry::new(item, "an executor", self.problems) else {
            return;
        };
        let executor_type = entry.required_text("executor_type");
        let name = entry.required_text("executor_name");
        let groups = entry.texts("callback_group_names", true);
        let at = entry.at();
        let extras = entry.extras();
        let (Some(executor_type), Some(name)) = (executor_type, name) else {
            return;
        };
        if !self.is_new(Item::Executor, &name) {
            let message = format!("a second executor `{name}`; only the first is used");
            self.problems.warning(at, message);
            return;
        }
        let index = architecture.executors.len();
        self.found(Element::Executor(index), at);
        for (place, (_, at)) in groups.iter().enumerate() {
            self.found(Element::ExecutorGroup(index, place), *at);
        }
        architecture.executors.push(Executor {
            executor_type,
            name,
            callback_groups: groups.into_iter().map(|(name, _)| name).collect(),
            extras,
        });
    }
}
