//! Recordings measured for a verdict: read, limited by the filters, and with what was lost in them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rostrace_analyze::Analysis;
use rostrace_analyze::measured::Measured;
use rostrace_ctf::TraceSet;
use rostrace_trace::Model;

use crate::args::ModelFilterArguments;
use crate::outcome::Outcome;
use crate::render::{damage, diagnostic};
use crate::source;
use crate::view::View;

/// A recording that was read.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) name: String,
    pub(crate) set: TraceSet,
    pub(crate) model: Model,
}

impl Recorded {
    /// Nothing if Ctrl-C stopped it.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Option<Recorded>> {
        Recorded::read_all(&[path.to_owned()])
    }

    /// Several folders that are one recording.
    pub(crate) fn read_all(paths: &[PathBuf]) -> anyhow::Result<Option<Recorded>> {
        let names: Vec<String> = paths.iter().map(|it| it.display().to_string()).collect();
        let name = names.join(", ");
        let set = source::open_quietly(paths)?;
        diagnostic::warnings(&set.warnings);
        Ok(source::model(&set).map(|model| Recorded { name, set, model }))
    }

    /// The range of time that counts, and what was filtered in vain.
    pub(crate) fn analysis(
        &self,
        filter: &ModelFilterArguments,
    ) -> anyhow::Result<(Analysis<'_>, Vec<String>)> {
        let view = View::new(&self.set, &self.model, filter).with_context(|| self.name.clone())?;
        let mut hints = filter.entities.hints(&self.model);
        hints.extend(view.nothing_left());
        // Not among what sides of a comparison have in common: each has times of its own.
        if let Some(sentence) = view.nothing_happened() {
            diagnostic::note(&format!("{}: {sentence}", self.name));
        }
        Ok((Analysis::new(&self.model, view.window().clone()), hints))
    }

    /// What was lost, in one line.
    pub(crate) fn headline(&self) -> Option<String> {
        damage::headline(self.damage())
    }

    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::of(self.damage())
    }

    fn damage(&self) -> impl Iterator<Item = &rostrace_ctf::Damage> {
        self.set.damage.iter().chain(&self.model.damage)
    }
}

/// Measures what the filters leave.
pub(crate) fn measure(
    analysis: &Analysis<'_>,
    filter: &ModelFilterArguments,
    built_in: bool,
) -> Measured {
    Measured::of(analysis, &filter.entities.selection(), built_in)
}
