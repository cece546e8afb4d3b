//! What things are called on a timeline, and what is the same each time that they happen: written once and referred to.

use std::collections::HashMap;

use rostrace_analyze::Analysis;
use rostrace_model::describe::names;
use rostrace_model::describe::{CallbackKind, Description};
use rostrace_model::entity::{Address, CallbackId, PublisherId};

/// A row of [`Labels`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LabelId(u32);

impl LabelId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug)]
pub(super) struct Label {
    pub(super) name: String,
    pub(super) category: &'static str,
    pub(super) arguments: Vec<(&'static str, Fixed)>,
}

/// The value of an argument that never changes.
#[derive(Debug)]
pub(super) enum Fixed {
    Integer(i64),
    Text(String),
}

/// What has one name however often it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Common {
    GetNextReady,
    WaitForWork,
    Execute,
    Due,
    /// The rest is named each time.
    User,
    Take,
    Service,
    Lifecycle,
    Drop,
    Damage,
    Cpu,
    /// Named each time.
    Lock,
    /// What of the kernel, or which lock, a thread was in; named each time.
    Inside,
}

impl Common {
    pub(super) const EVERY: [(Common, &'static str, &'static str); 13] = [
        (Common::GetNextReady, "get next ready", "executor"),
        (Common::WaitForWork, "wait for work", "executor"),
        (Common::Execute, "execute", "executor"),
        (Common::Due, "due", "timer"),
        (Common::User, "", "user"),
        (Common::Take, "take", "take"),
        (Common::Service, "service", "service"),
        (Common::Lifecycle, "state", "lifecycle"),
        (Common::Drop, "dropped", "drop"),
        (Common::Damage, "damage", "damage"),
        (Common::Cpu, "running", "cpu"),
        (Common::Lock, "", "lock"),
        (Common::Inside, "", "kernel"),
    ];
}

/// First the common ones, then callbacks, publishers, and whatever the trace does not name.
#[derive(Debug)]
pub(super) struct Labels {
    list: Vec<Label>,
    callbacks: u32,
    publishers: u32,
    unnamed_callbacks: HashMap<Address, LabelId>,
    unnamed_publishers: HashMap<Address, LabelId>,
}

impl Labels {
    pub(super) fn of(analysis: &Analysis<'_>) -> Labels {
        let model = analysis.model;
        let common = Common::EVERY.iter().map(|(_, name, category)| Label {
            name: (*name).to_owned(),
            category,
            arguments: Vec::new(),
        });
        let mut list: Vec<Label> = common.collect();
        let callbacks = list.len() as u32;
        list.extend((0..model.callbacks.len()).map(|index| {
            let id = CallbackId::from_index(index);
            of_callback(analysis, id)
        }));
        let publishers = list.len() as u32;
        list.extend(model.publishers.iter().map(|publisher| {
            let mut arguments = vec![("topic", Fixed::Text(publisher.topic.clone()))];
            if let Some(node) = model.node_name(publisher.node) {
                arguments.push(("node", Fixed::Text(node.to_owned())));
            }
            Label {
                name: format!("publish {}", publisher.topic),
                category: "publish",
                arguments,
            }
        }));
        Labels {
            list,
            callbacks,
            publishers,
            unnamed_callbacks: HashMap::new(),
            unnamed_publishers: HashMap::new(),
        }
    }

    pub(super) fn get(&self, id: LabelId) -> &Label {
        &self.list[id.index()]
    }

    pub(super) fn common(common: Common) -> LabelId {
        LabelId(common as u32)
    }

    pub(super) fn callback(&mut self, id: Option<CallbackId>, address: Address) -> LabelId {
        match id {
            Some(id) => LabelId(self.callbacks + id.0),
            None => *self.unnamed_callbacks.entry(address).or_insert_with(|| {
                push(&mut self.list, names::unnamed_callback(address), "callback")
            }),
        }
    }

    pub(super) fn publisher(&mut self, id: Option<PublisherId>, handle: Address) -> LabelId {
        match id {
            Some(id) => LabelId(self.publishers + id.0),
            None => *self.unnamed_publishers.entry(handle).or_insert_with(|| {
                let address = (handle.0 != 0).then(|| handle.to_string());
                let topic = names::unnamed_topic(address.as_deref());
                push(&mut self.list, format!("publish {topic}"), "publish")
            }),
        }
    }
}

fn push(list: &mut Vec<Label>, name: String, category: &'static str) -> LabelId {
    list.push(Label {
        name,
        category,
        arguments: Vec::new(),
    });
    LabelId(list.len() as u32 - 1)
}

fn of_callback(analysis: &Analysis<'_>, id: CallbackId) -> Label {
    let described = Description::of(analysis.model, id);
    let text = |text: &str| Fixed::Text(text.to_owned());
    let mut arguments = Vec::new();
    if let Some(node) = described.node_name {
        arguments.push(("node", text(node)));
    }
    if described.kind != CallbackKind::Unknown {
        arguments.push(("kind", text(described.kind.name())));
    }
    if let Some(period) = described.period {
        arguments.push(("period_ns", Fixed::Integer(period.0)));
    }
    for (name, value) in [
        ("topic", described.topic),
        ("service", described.service),
        ("symbol", described.symbol),
    ] {
        arguments.extend(value.map(|value| (name, text(value))));
    }
    Label {
        name: analysis.names.callback(id).to_owned(),
        category: "callback",
        arguments,
    }
}

#[cfg(test)]
mod tests {
    use super::Common;

    #[test]
    fn common_labels_stand_at_their_own_numbers() {
        for (number, (common, _, category)) in Common::EVERY.iter().enumerate() {
            assert_eq!(*common as usize, number, "{category}");
        }
    }
}
