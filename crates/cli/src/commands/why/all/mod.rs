//! `rostrace why --all`: the explanations of all executions, or of all messages of topics or along paths, added up; and what to change.

mod row;

use std::io::{BufWriter, Write};

use anyhow::bail;
use glob::Pattern;
use rostrace_analyze::Analysis;
use rostrace_analyze::callback;
use rostrace_analyze::clocks::UnsynchronisedHosts;
use rostrace_analyze::communication;
use rostrace_analyze::declared::summary::title;
use rostrace_analyze::flow_latency::{FlowTimes, Include};
use rostrace_analyze::flow_path::{Ends as PathEnds, FlowPaths};
use rostrace_analyze::why::total::{
    CauseTotal, Change, Hop, LostMessages, Messages, PathVictim, Total, Wanted,
};
use rostrace_architecture::{Architecture, NamedPath};
use rostrace_base::text::{shell_word, visible};
use rostrace_base::units;
use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;
use rostrace_model::entity::DeliveryId;

use row::share;

use super::{WhyArguments, WhyFormat, named_path, subject};
use crate::commands::latency::{self, Ends};
use crate::outcome::wrong_usage;
use crate::render::diagnostic;
use crate::render::palette::Palette;
use crate::render::table::{Align, Table};
use crate::view::View;

/// Changes that are shown, and causes that a table has unless `--limit` says otherwise.
const MOST_CHANGES: usize = 10;
const MOST_ROWS: usize = 20;

/// What is asked.
pub(super) struct Question<'q, 'm> {
    pub(super) analysis: &'q Analysis<'m>,
    pub(super) view: &'q View<'m>,
    pub(super) arguments: &'q WhyArguments,
    pub(super) architecture: Option<&'q Architecture>,
    pub(super) ends: (&'q Ends, &'q Ends),
    /// Of the recording.
    pub(super) begin: Nanos,
}

/// What is known of it.
struct TotalAnswer {
    /// What was explained.
    kind: &'static str,
    total: Total,
    changes: Vec<Change>,
    lost: Vec<LostMessages>,
}

impl Question<'_, '_> {
    pub(super) fn answer(&self, headline: Option<&str>) -> anyhow::Result<()> {
        let answer = self.added_up()?;
        if answer.total.victims.is_empty() {
            bail!("there is nothing to explain in this part of the trace");
        }
        let mut out = BufWriter::new(std::io::stdout().lock());
        match self.arguments.format {
            WhyFormat::Table => {
                if let Some(headline) = headline {
                    writeln!(out, "{}", Palette::for_stdout().alarm(headline))?;
                }
                self.write_table(&mut out, &answer)?;
            }
            WhyFormat::Json => {
                let whole = self.json(&answer);
                serde_json::to_writer_pretty(&mut out, &whole).map_err(std::io::Error::from)?;
                out.write_all(b"\n")?;
            }
            WhyFormat::Csv => {
                let mut csv = csv::Writer::from_writer(&mut out);
                for row in self.rows(&answer) {
                    csv.serialize(self.flat(&answer, row))?;
                }
                csv.flush()?;
            }
        }
        Ok(out.flush()?)
    }

    fn added_up(&self) -> anyhow::Result<TotalAnswer> {
        let (analysis, arguments) = (self.analysis, self.arguments);
        let (from, to) = self.ends;
        let has_ends = !from.names.is_empty() || !to.names.is_empty();
        let callbacks = callback::summaries(analysis);
        let pairs = || communication::pairs(analysis);
        if let (Some(architecture), Some(file)) = (self.architecture, &arguments.architecture) {
            let (names, architecture) = (&arguments.paths, (architecture, file.as_path()));
            let found = named_path::all(analysis, self.view, architecture, names, self.ends)?;
            return Ok(TotalAnswer::new("paths", self.declared(found), Vec::new()));
        }
        if has_ends {
            if arguments.callback.is_some() {
                wrong_usage!("--callback cannot be used together with the ends of a path");
            }
            return Ok(TotalAnswer::new("paths", self.paths(), Vec::new()));
        }
        let pattern = (arguments.callback.as_ref())
            .map(|pattern| subject::meant_callback(analysis, pattern))
            .transpose()?;
        let model = analysis.model;
        if pattern.is_none() && !arguments.filter.entities.topics.is_empty() {
            let messages = (0..model.deliveries.len()).map(DeliveryId::from_index);
            let messages = messages.filter(|id| {
                let publication = analysis.delivery(*id).publication;
                analysis.counts(analysis.publication(publication).publish)
                    && analysis.arrival(*id).is_some_and(|it| !it.historical)
                    && self.view.has_message(*id)
            });
            let messages: Vec<DeliveryId> = messages.collect();
            let total = Total::of_messages(analysis, &callbacks, &messages);
            return Ok(TotalAnswer::new("messages", total, self.lost(&pairs())));
        }
        let fits = |name: &str, node: &str| {
            (pattern.as_ref()).is_none_or(|it: &Pattern| it.matches(name) || it.matches(node))
        };
        let wanted = Wanted {
            callback: &|id| {
                let node = model.node_name(model.node_of_callback(id)).unwrap_or("");
                self.view.has_callback(id) && fits(analysis.names.callback(id), node)
            },
            unnamed: &|id| {
                let process = model.process_of(analysis.instance(id).thread);
                self.view.has_unnamed(process) && fits(&subject::execution_name(analysis, id), "")
            },
            message: &|id| pattern.is_none() && self.view.has_message(id),
        };
        let total = Total::of_executions(analysis, &callbacks, &wanted);
        let lost = match pattern {
            Some(_) => Vec::new(),
            None => self.lost(&pairs()),
        };
        Ok(TotalAnswer::new("executions", total, lost))
    }

    fn lost(&self, pairs: &[communication::Pair]) -> Vec<LostMessages> {
        let model = self.analysis.model;
        LostMessages::of(self.analysis, pairs, |id| {
            let callback = model.subscriptions[id.index()].callback;
            callback.is_some_and(|callback| self.view.has_callback(callback))
        })
    }

    /// The paths that messages were seen to take between two ends; else those on which nodes are taken to have used the newest input.
    fn paths(&self) -> Total {
        let (analysis, (from, to)) = (self.analysis, self.ends);
        let (is_from, is_to) = (|name: &str| from.has(name), |name: &str| to.has(name));
        let ends = PathEnds {
            from: (!from.names.is_empty()).then_some(&is_from as &dyn Fn(&str) -> bool),
            to: (!to.names.is_empty()).then_some(&is_to as &dyn Fn(&str) -> bool),
        };
        diagnostic::notes(&latency::shared_names(analysis, from, to));
        let paths = FlowPaths::of(analysis).paths(&ends);
        let mut victims = Vec::new();
        let mut messages = Vec::new();
        for path in &paths {
            if path.hops.iter().any(|hop| built_in::topic(&hop.topic)) {
                continue;
            }
            let flows = path.flows.iter().filter(|flow| self.view.has_flow(flow));
            let flows = flows.filter(|flow| {
                let times = FlowTimes::of(analysis, flow, Include::default());
                times.is_some_and(|times| analysis.counts(times.begin))
            });
            let flows: Vec<_> = flows.collect();
            if flows.is_empty() {
                continue;
            }
            let hops = path.hops.iter().map(|hop| Hop {
                title: format!("{} → {} → {}", hop.publishing_node, hop.topic, hop.node),
                topic: hop.topic.clone(),
                publishing_node: hop.publishing_node.clone(),
                node: hop.node.clone(),
                callback: Some(hop.callback.clone()),
            });
            let victim = PathVictim {
                title: path.title(),
                hops: hops.collect(),
            };
            victims.push((victim, path.unsynchronised_hosts(analysis).is_none()));
            messages.push(Messages::Observed(flows));
        }
        if victims.is_empty() {
            return self.declared(named_path::all_between(analysis, self.view, self.ends));
        }
        Total::of_paths(analysis, victims, &messages)
    }

    fn declared(
        &self,
        found: Vec<(
            NamedPath,
            Vec<rostrace_analyze::declared::path_instance::PathInstance>,
        )>,
    ) -> Total {
        let model = self.analysis.model;
        let (victims, messages): (Vec<_>, Vec<_>) = (found.into_iter())
            .filter(|(_, messages)| !messages.is_empty())
            .map(|(path, messages)| {
                let is_known = UnsynchronisedHosts::on_declared_path(model, &path).is_none();
                let victim = PathVictim {
                    title: title(&path),
                    hops: hops(&path),
                };
                ((victim, is_known), Messages::Declared(messages))
            })
            .unzip();
        Total::of_paths(self.analysis, victims, &messages)
    }

    /// With its victim's place.
    fn rows<'a>(&self, answer: &'a TotalAnswer) -> Vec<(usize, &'a CauseTotal)> {
        let victims = answer.total.victims.iter().enumerate();
        let rows = victims.flat_map(|(number, it)| it.rows.iter().map(move |row| (number, row)));
        let mut rows: Vec<(usize, &CauseTotal)> = rows.collect();
        rows.sort_by_key(|(_, row)| std::cmp::Reverse((row.weighted, row.duration)));
        let most = match self.arguments.format {
            WhyFormat::Table => Some(self.arguments.limit.unwrap_or(MOST_ROWS)),
            WhyFormat::Json | WhyFormat::Csv => self.arguments.limit,
        };
        rows.truncate(most.unwrap_or(usize::MAX));
        rows
    }

    /// `rostrace why TRACE --callback … --at …`
    fn command(&self, answer: &TotalAnswer, change: &Change) -> String {
        let mut command = "rostrace why".to_owned();
        let mut add = |word: &str| {
            command.push(' ');
            command.push_str(word);
        };
        for trace in &self.arguments.input.traces {
            add(&shell_word(&trace.to_string_lossy()));
        }
        let question = change.question(self.analysis, &answer.total);
        match &self.arguments.architecture {
            // The file names the path.
            Some(file) => {
                add(&format!(
                    "--architecture {}",
                    shell_word(&file.to_string_lossy())
                ));
            }
            None => {
                for (option, value) in &question.options {
                    add(&format!("{option} {}", shell_word(&Pattern::escape(value))));
                }
            }
        }
        let since = question.at.0.saturating_sub(self.begin.0).max(0);
        let (seconds, nanos) = (since / 1_000_000_000, since % 1_000_000_000);
        add(&format!("--at +{seconds}.{nanos:09}s"));
        command
    }

    fn write_table(&self, out: &mut impl Write, answer: &TotalAnswer) -> anyhow::Result<()> {
        let palette = Palette::for_stdout();
        let (analysis, total) = (self.analysis, &answer.total);
        let lateness = total.lateness();
        let noun = answer.kind.trim_end_matches('s');
        let noun = match noun {
            "path" => "message",
            noun => noun,
        };
        writeln!(
            out,
            "{}",
            palette.heading(&format!(
                "{}, {} late, by {} in all",
                units::counted(total.explained(), noun),
                match total.late() {
                    1 => "1 of them was".to_owned(),
                    late => format!("{} of them were", units::count(late)),
                },
                units::signed_duration(lateness),
            ))
        )?;
        if total.damaged() > 0 {
            let number = units::counted(total.damaged(), noun);
            let sentence =
                format!("events were lost during {number}: what ran then may be missing here");
            writeln!(out, "{}", palette.alarm(&sentence))?;
        }
        writeln!(
            out,
            "\n{}",
            palette.heading("What to change, the largest gain first")
        )?;
        if answer.changes.is_empty() && answer.lost.is_empty() {
            writeln!(out, "  nothing stands out")?;
        }
        let mut number = 0;
        let mut item = |out: &mut dyn Write, sentence: &str, note: &str| {
            number += 1;
            writeln!(out, "  {number}. {}", visible(sentence))?;
            writeln!(out, "     {}", palette.dim(&visible(note)))
        };
        for change in &answer.changes {
            let note = change.note(analysis, total);
            item(out, &change.sentence(analysis, total), &note)?;
            writeln!(
                out,
                "     {}",
                palette.dim(&visible(&self.command(answer, change)))
            )?;
        }
        for lost in &answer.lost {
            item(out, &lost.sentence(analysis), LostMessages::NOTE)?;
        }
        let unexplained = total.unexplained();
        if unexplained > 0 {
            let share = units::share(unexplained as f64 / lateness.max(1) as f64);
            let time = units::signed_duration(unexplained);
            writeln!(
                out,
                "  {}",
                palette.dim(&format!(
                    "of the lateness, the trace does not tell what {time} ({share}) is due to"
                ))
            )?;
        }
        self.write_rows(out, answer)
    }

    fn write_rows(&self, out: &mut impl Write, answer: &TotalAnswer) -> anyhow::Result<()> {
        let palette = Palette::for_stdout();
        let (analysis, total) = (self.analysis, &answer.total);
        let mut rows = self.rows(answer);
        let all: usize = total.victims.iter().map(|it| it.rows.len()).sum();
        let left_out = all - rows.len();
        // Those of one victim together, in the order of victims.
        rows.sort_by_key(|(victim, row)| (*victim, row.hop));
        let mut table = Table::new(&[
            ("", Align::Left),
            ("late", Align::Right),
            ("share", Align::Right),
            ("time", Align::Right),
            ("in", Align::Right),
        ]);
        let mut shown = None;
        for (number, row) in rows {
            let victim = &total.victims[number];
            if shown.is_none_or(|(shown, _)| shown != number) {
                table.row([
                    format!("  {}", victim.victim.name(analysis, total)),
                    late(victim.lateness),
                    String::new(),
                    units::signed_duration(victim.duration),
                    units::count(victim.explained),
                ]);
            }
            if let Some(hop) = victim.victim.hop(total, row.hop)
                && shown != Some((number, row.hop))
            {
                table.row([format!("    {}", hop.title)]);
            }
            shown = Some((number, row.hop));
            table.row([
                format!("    {}", row.describe(analysis)),
                late(row.weighted),
                share(row, victim)
                    .filter(|share| *share > 0.0)
                    .map_or_else(String::new, units::share),
                units::signed_duration(row.duration),
                units::count(row.count),
            ]);
        }
        writeln!(out, "\n{}", palette.heading("Where the time went"))?;
        write!(out, "{table}")?;
        if left_out > 0 {
            let more = units::counted(left_out as u64, "more cause");
            writeln!(
                out,
                "  {more}, each with less; --limit shows them, --format json has all"
            )?;
        }
        Ok(())
    }
}

impl TotalAnswer {
    fn new(kind: &'static str, total: Total, mut lost: Vec<LostMessages>) -> TotalAnswer {
        let changes = total.changes(MOST_CHANGES);
        lost.truncate(MOST_CHANGES - changes.len());
        TotalAnswer {
            kind,
            total,
            changes,
            lost,
        }
    }
}

fn late(time: i64) -> String {
    match time {
        0 => String::new(),
        time => units::signed_duration(time),
    }
}

/// The communications of a declared path, numbered as explanations number them.
fn hops(path: &NamedPath) -> Vec<Hop> {
    let pairs = path.steps.windows(2);
    let hops = pairs.filter_map(|pair| {
        let topic = &pair[1].subscription.as_ref()?.topic;
        Some(Hop {
            title: format!("{} → {topic} → {}", pair[0].node, pair[1].node),
            topic: topic.clone(),
            publishing_node: pair[0].node.clone(),
            node: pair[1].node.clone(),
            callback: None,
        })
    });
    hops.collect()
}
