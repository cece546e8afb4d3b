//! Messages that did not arrive, and messages that did not come.

use std::collections::{BTreeMap, BTreeSet};

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;
use rostrace_model::entity::{NodeId, ProcessId, PublisherId, SubscriptionId};
use rostrace_model::flow::LifecycleState;

use super::reason::Reason;
use super::{
    ENOUGH, Evidence, Finding, FindingKind, NOTICEABLE, SECOND, Silence, WORTH_A_LOOK, damped,
    is_regular, life, reason, recorded,
};
use crate::analysis::Analysis;
use crate::communication::{DropCause, Pair};
use crate::endpoint::EndpointSummary;
use crate::statistics::Statistics;

pub(super) fn find(analysis: &Analysis<'_>, evidence: Evidence<'_>, found: &mut Vec<Finding>) {
    let overflowing = overflowing(analysis, evidence.pairs);
    let pairs = evidence.pairs.iter();
    let pairs = pairs.filter(|pair| !overflowing.contains_key(&pair.subscription));
    found.extend(pairs.filter_map(|pair| of_pair(analysis, pair)));
    found.extend(overflowing.into_values());
    for (index, summary) in evidence.publishers.iter().enumerate() {
        let id = PublisherId::from_index(index);
        found.extend(of_publisher(analysis, id, summary));
    }
    silent(analysis, evidence.publishers, found);
}

/// How many messages of a pair were lost for a cause. What was still under way when the recording ended, or what the trace does not tell, is not lost.
fn lost(pair: &Pair, cause: DropCause) -> u64 {
    match cause {
        DropCause::RecordingEnd | DropCause::Unknown => 0,
        _ => pair.dropped[cause as usize],
    }
}

fn of_pair(analysis: &Analysis<'_>, pair: &Pair) -> Option<Finding> {
    let topic = &analysis.model.subscriptions[pair.subscription.index()].topic;
    // A later status of an action says all that an earlier one did.
    if built_in::topic(topic) || topic.ends_with("/_action/status") {
        return None;
    }
    let total: u64 = DropCause::EVERY.iter().map(|it| lost(pair, *it)).sum();
    let cause = *DropCause::EVERY.iter().max_by_key(|it| lost(pair, **it))?;
    let severity = damped(10.0 * total as f64 / pair.messages.max(1) as f64);
    let kind = FindingKind::LostMessages {
        publisher: pair.publisher,
        subscription: pair.subscription,
        lost: total,
        sent: pair.messages,
        cause,
    };
    let is_of_pair = |publisher: Option<PublisherId>| publisher == Some(pair.publisher);
    (total > 0).then(|| {
        Finding::new(
            kind,
            severity,
            first_lost(analysis, pair.subscription, is_of_pair),
        )
    })
}

/// When the first message was sent that did not reach a subscription.
fn first_lost(
    analysis: &Analysis<'_>,
    subscription: SubscriptionId,
    is_sender: impl Fn(Option<PublisherId>) -> bool,
) -> Option<Nanos> {
    let deliveries = analysis.deliveries_to(subscription).iter();
    let lost = deliveries.filter(|id| {
        let cause = analysis.drop_cause(**id);
        cause.is_some_and(|it| !matches!(it, DropCause::RecordingEnd | DropCause::Unknown))
    });
    let sent = lost.map(|id| analysis.publication(analysis.delivery(*id).publication));
    let sent = sent.filter(|it| is_sender(it.publisher) && analysis.counts(it.publish));
    sent.map(|it| it.publish).min()
}

/// Subscriptions whose queue pushes out most of what is sent, whoever sends it.
fn overflowing(analysis: &Analysis<'_>, pairs: &[Pair]) -> BTreeMap<SubscriptionId, Finding> {
    let mut sums: BTreeMap<SubscriptionId, (u64, u64)> = BTreeMap::new();
    for pair in pairs {
        let (overwritten, sent) = sums.entry(pair.subscription).or_default();
        *overwritten += lost(pair, DropCause::RingBufferFull) + lost(pair, DropCause::HistoryFull);
        *sent += pair.messages;
    }
    let most = |(id, (overwritten, sent)): (SubscriptionId, (u64, u64))| {
        let subscription = &analysis.model.subscriptions[id.index()];
        let is_most = sent >= ENOUGH && 2 * overwritten > sent;
        (is_most && !built_in::topic(&subscription.topic)).then(|| {
            let kind = FindingKind::OverflowingQueue {
                subscription: id,
                overwritten,
                sent,
                depth: subscription.depth,
            };
            let severity = damped(10.0 * overwritten as f64 / sent as f64);
            (
                id,
                Finding::new(kind, severity, first_lost(analysis, id, |_| true)),
            )
        })
    };
    sums.into_iter().filter_map(most).collect()
}

fn of_publisher(
    analysis: &Analysis<'_>,
    publisher: PublisherId,
    summary: &EndpointSummary,
) -> Option<Finding> {
    let period = summary.period.filter(is_regular)?;
    let period = without_inactive(analysis, publisher, period)?;
    let is_own = built_in::topic(&analysis.model.publishers[publisher.index()].topic);
    (!is_own && period.max >= 2 * period.p50.max(NOTICEABLE)).then(|| {
        let kind = FindingKind::Pause {
            publisher,
            longest: period.max,
            usual: period.p50,
        };
        let severity = (period.max as f64 / period.p50 as f64).log2() / 2.0;
        Finding::new(kind, severity, Some(period.worst))
    })
}

/// The periods of a publisher, but for those in which its node was not active: a node with a lifecycle is meant to be silent then.
fn without_inactive(
    analysis: &Analysis<'_>,
    publisher: PublisherId,
    all: Statistics,
) -> Option<Statistics> {
    let model = analysis.model;
    let node = model.publishers[publisher.index()].node;
    let machine =
        |it: &&LifecycleState| model.state_machines[it.state_machine.index()].node == node;
    let states = model.lifecycle_states.iter().filter(machine);
    let inactive: Vec<&LifecycleState> = states.filter(|it| it.state != "active").collect();
    if node.is_none() || inactive.is_empty() {
        return Some(all);
    }
    let published = analysis.publications_of(publisher).iter();
    let mut published: Vec<Nanos> = published
        .map(|id| analysis.publication(*id).publish)
        .collect();
    published.sort();
    let is_meant = |from: Nanos, to: Nanos| {
        let mut states = inactive.iter();
        states.any(|it| it.begin < to && it.end.is_none_or(|end| end > from))
    };
    let mut periods: Vec<(i64, Nanos)> = (published.windows(2))
        .filter(|pair| analysis.counts(pair[1]) && !analysis.is_damaged(pair[0], pair[1]))
        .filter(|pair| !is_meant(pair[0], pair[1]))
        .map(|pair| (pair[1].0 - pair[0].0, pair[1]))
        .collect();
    Statistics::of(&mut periods)
}

/// Both ends must have been there for so long that something could have come.
const LONG_ENOUGH: i64 = SECOND;
/// So many periods without a message mean that it stopped.
const PERIODS: i64 = 10;
const ONCE: f64 = 0.2;

/// A topic that an application's nodes publish and subscribe to.
#[derive(Debug, Default)]
struct Ends {
    publishers: Vec<PublisherId>,
    subscriptions: Vec<SubscriptionId>,
}

fn silent(analysis: &Analysis<'_>, publishers: &[EndpointSummary], found: &mut Vec<Finding>) {
    let model = analysis.model;
    let (begin, end, _) = recorded(analysis);
    // Messages that nobody is known to have sent may have been on any topic, and lost ones too.
    let unnamed = model
        .publications
        .iter()
        .filter(|it| it.publisher.is_none());
    let unnamed: BTreeSet<ProcessId> = unnamed.map(|it| model.process_of(it.thread)).collect();
    if analysis.is_lossy(begin, end) {
        return;
    }
    let sending: BTreeSet<ProcessId> = (model.publications.iter())
        .map(|it| model.process_of(it.thread))
        .collect();
    let ended: BTreeSet<ProcessId> = life::ended_early(analysis)
        .map(|(process, ..)| process)
        .collect();
    let last = |id: &PublisherId| -> Option<Nanos> {
        let published = analysis.publications_of(*id).iter();
        published.map(|id| analysis.publication(*id).publish).max()
    };
    let rhythms: Vec<(PublisherId, i64, Nanos)> = (publishers.iter().enumerate())
        .filter_map(|(index, summary)| {
            let id = PublisherId::from_index(index);
            let period = summary.period.filter(is_regular)?;
            let is_own = built_in::topic(&model.publishers[index].topic);
            Some((id, period.p50, last(&id)?)).filter(|_| !is_own)
        })
        .collect();
    let mut silences: BTreeMap<&'static str, Silent<'_>> = BTreeMap::new();
    let topics = topics(analysis);
    let number = topics.len();
    for (topic, ends) in &topics {
        let topic = *topic;
        let is_doubtful = |id: &PublisherId| {
            let process = model.publishers[id.index()].process;
            let node = model.node_name(model.publishers[id.index()].node);
            let is_left_out = model.left_out.has_topic(topic, node);
            unnamed.contains(&process) || !sending.contains(&process) || is_left_out
        };
        if ends.publishers.iter().any(is_doubtful) || is_heard_elsewhere(analysis, ends) {
            continue;
        }
        let number = |id: &PublisherId| analysis.publications_of(*id).len();
        let sent: usize = ends.publishers.iter().map(number).sum();
        let silence = match sent {
            0 if overlap(analysis, ends, end) >= LONG_ENOUGH => {
                Some((Silence::Never, WORTH_A_LOOK, None, None))
            }
            1 if is_once(analysis, ends, end) => Some((Silence::Once, ONCE, None, None)),
            _ => {
                stopped(analysis, ends, &rhythms, &ended, end).map(|(id, period, at, severity)| {
                    let reason = reason::stopped(analysis, id, at, period);
                    (Silence::Stopped, severity, Some(at), reason)
                })
            }
        };
        if let Some((silence, severity, at, reason)) = silence {
            let row = silences.entry(silence.name()).or_insert_with(|| Silent {
                silence,
                topics: BTreeSet::new(),
                at: Nanos(i64::MAX),
                severity: 0.0,
                reasons: Vec::new(),
            });
            row.topics.insert(topic);
            row.at = row.at.min(at.unwrap_or(row.at));
            row.severity = row.severity.max(severity);
            row.reasons.extend(reason);
        }
    }
    for mut row in silences.into_values() {
        if row.silence == Silence::Never {
            let publishers = row.topics.iter().map(|topic| &topics[topic].publishers);
            let reasons = publishers.filter_map(|it| reason::never(analysis, it, &row.topics));
            row.reasons = reasons.collect();
        }
        let Silent {
            silence,
            topics,
            at,
            severity,
            reasons,
        } = row;
        // A few may be meant to be silent; when it is most of all, something did not come up.
        let (few, share) = (topics.len() as f64, topics.len() as f64 / number as f64);
        let severity = match silence {
            Silence::Never => severity * damped(1.0 + few * share),
            Silence::Once | Silence::Stopped => severity,
        };
        let kind = FindingKind::SilentTopics {
            silence,
            topics: topics.into_iter().map(str::to_owned).collect(),
            reasons: reason::counted(reasons.into_iter()),
            of: number as u64,
        };
        let at = Some(at).filter(|at| *at != Nanos(i64::MAX));
        found.push(Finding::new(kind, severity, at));
    }
}

/// Topics on which nothing comes in the same way.
#[derive(Debug)]
struct Silent<'t> {
    silence: Silence,
    topics: BTreeSet<&'t str>,
    /// When the first of them stopped.
    at: Nanos,
    severity: f64,
    reasons: Vec<Reason>,
}

/// Topics with both ends in the application, by name. Those of actions speak when somebody has a goal; those of transforms that do not change, once.
fn topics<'m>(analysis: &Analysis<'m>) -> BTreeMap<&'m str, Ends> {
    let model = analysis.model;
    let is_ours = |node: Option<NodeId>, topic: &str| {
        let node = model.node_name(node);
        node.is_some_and(|node| !built_in::node(node))
            && !built_in::topic(topic)
            && topic.rsplit('/').next() != Some("tf_static")
            && !topic.contains("/_action/")
    };
    let mut topics: BTreeMap<&str, Ends> = BTreeMap::new();
    for (index, publisher) in model.publishers.iter().enumerate() {
        if is_ours(publisher.node, &publisher.topic) {
            let ends = topics.entry(&publisher.topic).or_default();
            ends.publishers.push(PublisherId::from_index(index));
        }
    }
    for (index, subscription) in model.subscriptions.iter().enumerate() {
        if is_ours(subscription.node, &subscription.topic) {
            let ends = topics.entry(&subscription.topic).or_default();
            ends.subscriptions.push(SubscriptionId::from_index(index));
        }
    }
    topics.retain(|_, ends| !ends.publishers.is_empty() && !ends.subscriptions.is_empty());
    topics
}

/// Whether something came from a sender that was not recorded.
fn is_heard_elsewhere(analysis: &Analysis<'_>, ends: &Ends) -> bool {
    let number = |id: &PublisherId| analysis.publications_of(*id).len();
    let sent: usize = ends.publishers.iter().map(number).sum();
    ends.subscriptions.iter().any(|id| {
        let callback = analysis.model.subscriptions[id.index()].callback;
        callback.is_some_and(|callback| analysis.instances_of(callback).len() > sent)
    })
}

/// For how long there were a publisher and a subscription at once, at most.
fn overlap(analysis: &Analysis<'_>, ends: &Ends, end: Nanos) -> i64 {
    let model = analysis.model;
    let lengths = ends.publishers.iter().flat_map(|publisher| {
        let from = &model.publishers[publisher.index()];
        ends.subscriptions.iter().map(move |subscription| {
            let to = &model.subscriptions[subscription.index()];
            let begin = from.created.max(to.created);
            let last = |ended: Option<Nanos>| ended.unwrap_or(end);
            let end = last(from.ended).min(last(to.ended));
            end.0.saturating_sub(begin.0)
        })
    });
    lengths.max().unwrap_or(0)
}

/// Whether the only message of a topic is followed by none though its node went on: nothing if it was kept for those who came later, or may have been, since a queue of one
/// is what such topics have.
fn is_once(analysis: &Analysis<'_>, ends: &Ends, end: Nanos) -> bool {
    let model = analysis.model;
    let mut sent = ends.publishers.iter();
    let Some(id) = sent.find(|id| !analysis.publications_of(**id).is_empty()) else {
        return false;
    };
    let publisher = &model.publishers[id.index()];
    let only = analysis.publications_of(*id)[0];
    let is_kept = analysis.deliveries_of(only).iter().any(|delivery| {
        let arrival = analysis.arrival(*delivery);
        arrival.is_some_and(|arrival| arrival.historical)
    });
    let others = model.publishers.iter().enumerate().filter(|(_, other)| {
        other.node == publisher.node
            && other.topic != publisher.topic
            && !built_in::topic(&other.topic)
    });
    let goes_on = others
        .map(|(index, _)| {
            analysis
                .publications_of(PublisherId::from_index(index))
                .len() as u64
        })
        .any(|number| number >= ENOUGH);
    let since = end.0 - analysis.publication(only).publish.0;
    publisher.depth > 1 && !is_kept && goes_on && since >= PERIODS * LONG_ENOUGH
}

/// When a topic that had a rhythm stopped, and how bad that is. Where most others stopped too, the system did; where its process ended, that is the finding.
fn stopped(
    analysis: &Analysis<'_>,
    ends: &Ends,
    rhythms: &[(PublisherId, i64, Nanos)],
    ended: &BTreeSet<ProcessId>,
    end: Nanos,
) -> Option<(PublisherId, i64, Nanos, f64)> {
    let own = |id: PublisherId| ends.publishers.contains(&id);
    // All of its publishers must have had one: what one has left off another may go on with.
    let of_topic: Vec<_> = rhythms.iter().filter(|(id, ..)| own(*id)).collect();
    if of_topic.len() < ends.publishers.len() {
        return None;
    }
    let (id, period, last) = of_topic.into_iter().max_by_key(|(.., last)| *last)?;
    let silence = end.0.saturating_sub(last.0);
    let threshold = (PERIODS * period).max(LONG_ENOUGH);
    let others = || rhythms.iter().filter(|(id, ..)| !own(*id));
    let went_on = others().filter(|(.., other)| other.0 >= last.0.saturating_add(threshold));
    let is_alone = 2 * went_on.count() > others().count();
    let publisher = &analysis.model.publishers[id.index()];
    let is_gone = publisher.ended.is_some() || ended.contains(&publisher.process);
    let is_paused = analysis.is_damaged(*last, Nanos(last.0 + threshold));
    let severity = (silence as f64 / *period as f64).log2() / 2.0;
    let is_stopped = silence >= threshold && is_alone && !is_gone && !is_paused;
    is_stopped.then_some((*id, *period, *last, severity))
}
