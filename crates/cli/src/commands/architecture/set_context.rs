//! `rostrace architecture set-context`: how a node makes an output from an input, where no recording can tell.

use anyhow::Context;
use rostrace_architecture::ContextType;

use super::arguments::SetContextArguments;
use super::file;
use crate::outcome::{Outcome, wrong_usage};
use crate::render::diagnostic;

/// Takes a declaration back.
const UNDEFINED: &str = "UNDEFINED";

pub(super) fn set_context(arguments: &SetContextArguments) -> anyhow::Result<Outcome> {
    let word = arguments.context.as_str();
    let context = ContextType::from_keyword(word);
    if context.is_none() && word != UNDEFINED {
        let known = ContextType::ALL.map(ContextType::keyword).join(", ");
        wrong_usage!("`{word}` is no message context; there are {known} and {UNDEFINED}");
    }
    let mut shown = String::new();
    file::edit(&arguments.file, &arguments.edit, |architecture| {
        let node = file::node(architecture, "NODE", &arguments.node)?.to_owned();
        let input = file::topic(architecture, "IN", &arguments.subscribed)?.to_owned();
        let output = file::topic(architecture, "OUT", &arguments.published)?.to_owned();
        shown = format!("{node} makes {output} from {input}: {word}");
        architecture
            .update_message_context(&node, context, input.as_str(), output.as_str())
            .with_context(|| format!("the context of {node} from {input} to {output}"))
    })?;
    diagnostic::note(&shown);
    Ok(Outcome::Fine)
}
