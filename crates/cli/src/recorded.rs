//! A recording that was read, limited by the filters, and what was lost in it: the one way from folders to a model.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rostrace_analyze::measured::Measured;
use rostrace_analyze::{Analysis, Selection};
use rostrace_ctf::TraceSet;
use rostrace_model::Model;

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
    /// Several folders or files that are one recording. Tells what their metadata has that we do not know.
    pub(crate) fn read(paths: &[PathBuf]) -> anyhow::Result<Recorded> {
        Recorded::read_unless(paths, |_| Ok(()))
    }

    /// The same for a verb that writes to `output`, which must not be a part of the recording.
    pub(crate) fn read_apart(paths: &[PathBuf], output: &Path) -> anyhow::Result<Recorded> {
        Recorded::read_unless(paths, |set| source::expect_apart(set, output))
    }

    fn read_unless(
        paths: &[PathBuf],
        refuse: impl Fn(&TraceSet) -> anyhow::Result<()>,
    ) -> anyhow::Result<Recorded> {
        let names: Vec<String> = paths.iter().map(|it| it.display().to_string()).collect();
        let set = source::open(paths)?;
        refuse(&set)?;
        Ok(Recorded {
            name: names.join(", "),
            model: source::model(&set)?,
            set,
        })
    }

    /// The range of time that counts, and what the filters mean in it. A name that the recording does not have is shown with the rest, for another side of a
    /// comparison may have it.
    pub(crate) fn selected(&self, filter: &ModelFilterArguments) -> anyhow::Result<Selected<'_>> {
        let window =
            (filter.time.window(&self.set, &self.model)).with_context(|| self.name.clone())?;
        let (selection, unknown) = match filter.entities.selection(&self.model) {
            Ok(selection) => (selection, None),
            Err(error) => (filter.entities.as_written(), Some(error)),
        };
        let view = View::selecting(&self.model, &filter.entities, selection.clone(), window);
        // Not among what sides of a comparison have in common: each has times of its own.
        if let Some(sentence) = view.nothing_happened() {
            diagnostic::note(&format!("{}: {sentence}", self.name));
        }
        Ok(Selected {
            analysis: Analysis::new(&self.model, view.window().clone()),
            nothing_left: view.nothing_left().filter(|_| unknown.is_none()),
            selection,
            unknown,
        })
    }

    /// What was lost, in one line.
    pub(crate) fn headline(&self) -> Option<String> {
        damage::headline(self.damage())
    }

    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::of(self.damage())
    }

    pub(crate) fn damage(&self) -> impl Iterator<Item = &rostrace_ctf::Damage> {
        self.set.damage.iter().chain(&self.model.damage)
    }
}

/// What the filters leave of a recording.
#[derive(Debug)]
pub(crate) struct Selected<'m> {
    pub(crate) analysis: Analysis<'m>,
    selection: Selection,
    /// A sentence, where each filter fits something, but nothing fits all of them.
    pub(crate) nothing_left: Option<String>,
    /// A name that the recording does not have.
    pub(crate) unknown: Option<anyhow::Error>,
}

impl<'m> Selected<'m> {
    /// For verbs that have one recording only.
    pub(crate) fn expect_known(mut self) -> anyhow::Result<Selected<'m>> {
        match self.unknown.take() {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }

    pub(crate) fn measured(&self, built_in: bool) -> Measured {
        Measured::of(&self.analysis, &self.selection, built_in)
    }
}
