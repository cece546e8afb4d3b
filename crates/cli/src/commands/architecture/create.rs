//! `rostrace architecture create`: the file, out of a recording.

use rostrace_architecture::{
    Architecture, binding, from_trace, from_trace_with_flows, is_hidden_topic, write,
};

use super::arguments::CreateArguments;
use super::file;
use crate::capabilities::EXECUTORS;
use crate::outcome::Outcome;
use crate::recorded::Recorded;
use crate::render::diagnostic;
use rostrace_base::units;

pub(super) fn create(arguments: &CreateArguments) -> anyhow::Result<Outcome> {
    file::expect_free(&arguments.output, arguments.force)?;
    let Recorded { set, model, .. } =
        Recorded::read_apart(&arguments.input.traces, &arguments.output)?;
    let mut architecture = if arguments.plain {
        from_trace(&model)
    } else {
        from_trace_with_flows(&model)
    };
    if arguments.plain {
        // CARET gives publishers to the only callback of a node.
        binding::guess_publisher_callbacks(&mut architecture);
    }
    tell(&architecture, &model);
    file::save(write(&architecture).as_bytes(), &arguments.output)?;
    diagnostic::note(&format!(
        "{}: {} and {}",
        arguments.output.display(),
        units::counted(architecture.nodes.len() as u64, "node"),
        units::counted(architecture.topics().len() as u64, "topic"),
    ));
    Ok(Outcome::of(set.damage.iter().chain(&model.damage)))
}

/// What the recording cannot tell, and what stays to be said by hand.
fn tell(architecture: &Architecture, model: &rostrace_model::Model) {
    if architecture.nodes.is_empty() {
        diagnostic::note(
            "the recording names no node: it began after the nodes were created, or is no recording of ROS 2",
        );
    } else if let Some(lack) = EXECUTORS.lack(&model.kinds) {
        diagnostic::note(lack);
    }
    let unbound = architecture
        .nodes
        .iter()
        .flat_map(|node| &node.publishers)
        .filter(|publisher| publisher.callbacks.is_empty() && !is_hidden_topic(&publisher.topic))
        .count();
    if unbound > 0 {
        diagnostic::note(&format!(
            "{unbound} publishers were not used inside any callback: their callback_names are UNDEFINED"
        ));
    }
}
