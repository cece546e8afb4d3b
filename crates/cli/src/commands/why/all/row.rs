//! What is added up, as JSON and as lines of a CSV. Field names are a contract.

use rostrace_analyze::why::total::{CauseTotal, LostMessages, VictimTotal};
use serde::Serialize;

use super::{Question, TotalAnswer};

impl Question<'_, '_> {
    pub(super) fn flat(
        &self,
        answer: &TotalAnswer,
        (number, row): (usize, &CauseTotal),
    ) -> FlatRow {
        let (analysis, total) = (self.analysis, &answer.total);
        let of = &total.victims[number];
        let model = analysis.model;
        let process = of.victim.process(analysis);
        let culprit = row.culprit(analysis);
        FlatRow {
            victim: of.victim.name(analysis, total).into_owned(),
            victim_kind: of.victim.kind(),
            victim_node: model.node_name(of.victim.node(model)).map(str::to_owned),
            victim_pid: process.map(|process| model.processes[process.index()].pid),
            hop: (of.victim.kind() == "path").then_some(row.hop),
            cause: row.blame.cause,
            relation: row.blame.relation.map(|it| it.name()),
            culprit: culprit.as_ref().map(|it| it.name.clone()),
            culprit_node: culprit.as_ref().and_then(|it| it.node.clone()),
            culprit_pid: culprit.as_ref().and_then(|it| it.pid),
            culprit_tid: culprit.as_ref().and_then(|it| it.tid),
            duration_ns: row.duration,
            weighted_ns: row.weighted,
            share: share(row, of),
            count: row.count,
            late: row.late,
            of: of.explained,
            sentence: row.sentence(analysis, total, of),
        }
    }

    pub(super) fn json(&self, answer: &TotalAnswer) -> Whole {
        let (analysis, total) = (self.analysis, &answer.total);
        let model = analysis.model;
        let changes = answer.changes.iter().map(|change| ChangeRow {
            sentence: change.sentence(analysis, total),
            action: change.action(analysis, total),
            evidence: change.evidence(total),
            note: change.note(analysis, total),
            gain_ns: change.gain,
            lateness_ns: change.lateness,
            share: change.gain as f64 / change.lateness.max(1) as f64,
            starting_or_ending_ns: change.in_phase,
            late: change.times,
            of: change.of,
            victims: (change.victims.iter())
                .map(|number| {
                    total.victims[*number]
                        .victim
                        .name(analysis, total)
                        .into_owned()
                })
                .collect(),
            command: self.command(answer, change),
        });
        let lost = answer.lost.iter().map(|lost| {
            let subscription = &model.subscriptions[lost.subscription.index()];
            LostRow {
                sentence: lost.sentence(analysis),
                note: LostMessages::NOTE,
                topic: subscription.topic.clone(),
                node: model.node_name(subscription.node).map(str::to_owned),
                depth: lost.depth,
                lost: lost.lost,
                messages: lost.sent,
            }
        });
        let rows = self.rows(answer).into_iter().map(|row| {
            let flat = self.flat(answer, row);
            let culprit = flat.culprit.map(|name| CulpritRow {
                name,
                node: flat.culprit_node,
                pid: flat.culprit_pid,
                tid: flat.culprit_tid,
            });
            CauseRow {
                victim: flat.victim,
                victim_kind: flat.victim_kind,
                victim_node: flat.victim_node,
                victim_pid: flat.victim_pid,
                hop: flat.hop,
                cause: flat.cause,
                relation: flat.relation,
                culprit,
                duration_ns: flat.duration_ns,
                weighted_ns: flat.weighted_ns,
                share: flat.share,
                count: flat.count,
                late: flat.late,
                of: flat.of,
                sentence: flat.sentence,
            }
        });
        Whole {
            kind: answer.kind,
            explained: total.explained(),
            late: total.late(),
            damaged: total.damaged(),
            duration_ns: total.duration(),
            lateness_ns: total.lateness(),
            unexplained_lateness_ns: total.unexplained(),
            changes: changes.collect(),
            lost: lost.collect(),
            rows: rows.collect(),
        }
    }
}

/// The part of its victim's lateness, if that was ever late.
pub(super) fn share(row: &CauseTotal, of: &VictimTotal) -> Option<f64> {
    (of.lateness > 0).then(|| row.weighted as f64 / of.lateness as f64)
}

/// As `--format json` shows it.
#[derive(Debug, Serialize)]
pub(super) struct Whole {
    kind: &'static str,
    explained: u64,
    late: u64,
    /// During which events were lost.
    damaged: u64,
    duration_ns: i64,
    lateness_ns: i64,
    unexplained_lateness_ns: i64,
    changes: Vec<ChangeRow>,
    lost: Vec<LostRow>,
    rows: Vec<CauseRow>,
}

#[derive(Debug, Serialize)]
struct ChangeRow {
    sentence: String,
    action: String,
    evidence: String,
    note: String,
    gain_ns: i64,
    /// Of its victims.
    lateness_ns: i64,
    share: f64,
    /// Of the gain, what happened while the system started or ended.
    starting_or_ending_ns: i64,
    late: u64,
    of: u64,
    victims: Vec<String>,
    command: String,
}

#[derive(Debug, Serialize)]
struct LostRow {
    sentence: String,
    note: &'static str,
    topic: String,
    node: Option<String>,
    depth: u64,
    lost: u64,
    messages: u64,
}

#[derive(Debug, Serialize)]
struct CauseRow {
    victim: String,
    victim_kind: &'static str,
    victim_node: Option<String>,
    victim_pid: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hop: Option<usize>,
    cause: &'static str,
    relation: Option<&'static str>,
    culprit: Option<CulpritRow>,
    duration_ns: i64,
    weighted_ns: i64,
    share: Option<f64>,
    count: u64,
    late: u64,
    of: u64,
    sentence: String,
}

#[derive(Debug, Serialize)]
struct CulpritRow {
    name: String,
    node: Option<String>,
    pid: Option<i64>,
    tid: Option<i64>,
}

/// A line of the CSV.
#[derive(Debug, Serialize)]
pub(super) struct FlatRow {
    victim: String,
    victim_kind: &'static str,
    victim_node: Option<String>,
    victim_pid: Option<i64>,
    hop: Option<usize>,
    cause: &'static str,
    relation: Option<&'static str>,
    culprit: Option<String>,
    culprit_node: Option<String>,
    culprit_pid: Option<i64>,
    culprit_tid: Option<i64>,
    duration_ns: i64,
    weighted_ns: i64,
    share: Option<f64>,
    count: u64,
    late: u64,
    of: u64,
    sentence: String,
}
