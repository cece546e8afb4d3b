//! Rows and changes as sentences. A change says what to do, what that is known to gain, and what is not known.

use std::collections::BTreeMap;

use rostrace_base::units;
use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::names;
use rostrace_model::entity::ProcessId;

use super::blame::Culprit;
use super::change::{Change, LostMessages};
use super::remedy::{Remedy, RunsOn, Way};
use super::victim::Victim;
use super::{CauseTotal, Total, VictimTotal};
use crate::analysis::Analysis;
use crate::finding::Runner;
use crate::standstill::Scope;
use crate::thread::Ran;

/// Who did it, as far as the trace names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CulpritName {
    pub name: String,
    pub pid: Option<i64>,
    /// Of the longest part.
    pub tid: Option<i64>,
    pub node: Option<String>,
}

impl CauseTotal {
    /// What it was, for people: as single explanations say it, without what is different each time.
    pub fn describe(&self, analysis: &Analysis<'_>) -> String {
        match self.blame.culprit {
            Some(Culprit::Standstill(Scope::Machine(_))) => {
                "standstill: nothing happened in any process".to_owned()
            }
            Some(Culprit::Standstill(scope)) => {
                format!(
                    "standstill: nothing happened in {}",
                    everything(analysis, scope)
                )
            }
            _ => self.longest.describe(analysis),
        }
    }

    /// The row as a sentence of its own.
    pub fn sentence(&self, analysis: &Analysis<'_>, total: &Total, of: &VictimTotal) -> String {
        let name = of.victim.name(analysis, total);
        let hop = of.victim.hop(total, self.hop);
        let hop = hop.map_or(String::new(), |hop| format!(", {}", hop.title));
        let what = self.describe(analysis);
        let times = times(self.count, of.explained, of.victim.noun());
        let time = units::short_duration(self.duration as f64);
        let weighted = match self.weighted {
            0 => "none of it counts as lateness".to_owned(),
            weighted => format!(
                "{} of it is lateness",
                units::short_duration(weighted as f64)
            ),
        };
        format!("{name}{hop}: {time} in {times}: {what}; {weighted}")
    }

    pub fn culprit(&self, analysis: &Analysis<'_>) -> Option<CulpritName> {
        let model = analysis.model;
        let pid = |process: ProcessId| model.processes[process.index()].pid;
        Some(match self.blame.culprit? {
            Culprit::Runner(runner) => {
                let cause = self.longest.cause;
                let thread = match cause {
                    crate::why::Cause::ClientCallback(id, _) => {
                        Some(analysis.client_callback(id).thread)
                    }
                    _ => cause.instance().map(|id| analysis.instance(id).thread),
                };
                let node = match runner.ran {
                    Ran::Callback(callback) => model.node_of_callback(callback),
                    Ran::Client(client) => model.clients[client.index()].node,
                    Ran::Unnamed(_) => None,
                };
                CulpritName {
                    name: runner.name(&analysis.names),
                    pid: Some(pid(runner.process)),
                    tid: thread.map(|thread| model.threads[thread.index()].tid),
                    node: model.node_name(node).map(str::to_owned),
                }
            }
            Culprit::Task(task) => {
                let task = analysis.scheduling.as_ref()?.task(task);
                let own = self.longest.thread.map(|thread| model.process_of(thread));
                let threads = model.threads.iter();
                let thread = threads
                    .filter(|it| it.tid == task.tid)
                    .find(|it| own.is_some_and(|own| model.have_one_clock(own, it.process)));
                CulpritName {
                    name: task.name.clone(),
                    pid: thread.map(|thread| pid(thread.process)),
                    tid: task.is_recorded().then_some(task.tid),
                    node: None,
                }
            }
            Culprit::Standstill(scope) => CulpritName {
                name: everything(analysis, scope),
                pid: match scope {
                    Scope::Machine(_) => None,
                    Scope::Process(process) => Some(pid(process)),
                },
                tid: None,
                node: None,
            },
        })
    }
}

impl Change {
    /// What to do, in the imperative.
    pub fn action(&self, analysis: &Analysis<'_>, total: &Total) -> String {
        let late = || self.late(analysis, total);
        let name = |runner: Runner| runner.name(&analysis.names);
        match self.remedy {
            Remedy::Separate { culprit, from } => {
                let culprit = name(culprit);
                let from = match from {
                    RunsOn::Executor(_) => "executor",
                    RunsOn::Thread(_) => "thread",
                };
                format!("move {culprit} off the {from} of {}", late())
            }
            Remedy::Widen(_) => format!("give the executor of {} more threads", late()),
            Remedy::Regroup { culprit } => {
                format!(
                    "move {} out of the callback group of {}",
                    name(culprit),
                    late()
                )
            }
            Remedy::Shorten(runner) => format!("make {} shorter", name(runner)),
            Remedy::MakeRoom { task, of: None } => {
                let task = analysis.scheduling.as_ref().map(|it| it.task(task));
                let task = task.map_or(String::new(), |it| format!("{} {}", it.name, it.tid));
                format!("keep {task} off the CPUs of {}", late())
            }
            Remedy::MakeRoom { of: Some(_), .. } => {
                format!("give {} a higher priority, or CPUs of its own", late())
            }
            Remedy::Prefer(_) => format!("give {} a CPU sooner", late()),
            Remedy::Unblock(runner) => {
                format!("find out what {} waits for while it runs", name(runner))
            }
            Remedy::Release(holder) => {
                format!("let {} hold its lock for a shorter time", name(holder))
            }
            Remedy::WakeUp(_) => format!("have the thread of {} woken up on time", late()),
            Remedy::Resume(scope) => {
                format!("find out what stopped {}", everything(analysis, scope))
            }
            Remedy::SpeedUp(way) => {
                let (topic, node) = ends(analysis, total, way);
                format!("bring {topic} to {node} faster")
            }
            Remedy::Publish(way) => {
                let (topic, _) = ends(analysis, total, way);
                format!("let publish() on {topic} return sooner")
            }
            Remedy::Lighten(_) => format!("relieve the executor of {}", late()),
            Remedy::UseSooner(reader) => {
                format!("let {} use its input sooner", name(reader))
            }
        }
    }

    /// What that is known to gain: `43 % of its lateness (212 ms of 498 ms in 37 of 200 executions)`.
    pub fn evidence(&self, total: &Total) -> String {
        let victims = self.victims.iter().map(|number| &total.victims[*number]);
        let nouns: Vec<&str> = victims.map(|it| it.victim.noun()).collect();
        let noun = nouns.first().copied().unwrap_or("execution");
        let whose = match self.victims.len() {
            1 => "its",
            _ => "their",
        };
        let (gain, lateness) = (self.gain as f64, self.lateness as f64);
        let times = times(self.times, self.of, noun);
        let (saved, whole) = (units::short_duration(gain), units::short_duration(lateness));
        if self.gain >= self.lateness {
            return format!("all of {whose} lateness ({saved} in {times})");
        }
        let share = match gain / lateness.max(1.0) {
            share if share >= 0.995 => "nearly all".to_owned(),
            share => percent(share),
        };
        format!("{share} of {whose} lateness ({saved} of {whole} in {times})")
    }

    /// Action and evidence in one.
    pub fn sentence(&self, analysis: &Analysis<'_>, total: &Total) -> String {
        format!("{}: {}", self.action(analysis, total), self.evidence(total))
    }

    /// How, what else would help, and what the recording does not tell.
    pub fn note(&self, analysis: &Analysis<'_>, total: &Total) -> String {
        let note = self.explanation(analysis, total);
        match self.is_in_phase() {
            true => {
                let share = percent(self.in_phase as f64 / self.gain.max(1) as f64);
                format!("{share} of this while the system started or ended; {note}")
            }
            false => note,
        }
    }

    fn explanation(&self, analysis: &Analysis<'_>, total: &Total) -> String {
        let longest = units::short_duration(self.longest.duration() as f64);
        let share_group = |culprit: Runner| self.share_a_group(analysis, total, culprit);
        match self.remedy {
            Remedy::Widen(_) => format!(
                "the thread that came to it was busy with {}, up to {longest} at once; that helps only if all of its threads were busy, which is not known, and shorter callbacks help in any case",
                self.busy_with(analysis, total)
            ),
            Remedy::Separate { culprit, .. } => {
                let own = match share_group(culprit) {
                    true => "a callback group and an executor of its own",
                    false => "an executor of its own",
                };
                format!(
                    "it was in the way for up to {longest} at once; give it {own}, or make it shorter"
                )
            }
            Remedy::Regroup { .. } => format!(
                "both are in one mutually exclusive group, so they never run at once; it was in the way for up to {longest} at once"
            ),
            Remedy::Shorten(_) => {
                let own = units::short_duration(self.own as f64);
                let before = units::short_duration((self.gain - self.own) as f64);
                let beyond = match self.usual {
                    Some((0, _)) | None => "longer than usual".to_owned(),
                    Some((period, true)) => {
                        let period = units::short_duration(period as f64);
                        format!("longer than its period of {period}")
                    }
                    Some((usual, false)) => {
                        let usual = units::short_duration(usual as f64);
                        format!("longer than the usual {usual}")
                    }
                };
                match (self.own, self.gain - self.own) {
                    (_, 0) => format!("it ran {beyond}, up to {longest} at once"),
                    (0, _) => "an earlier execution of it still ran when the next one was due: what it handles comes faster than it can handle it".to_owned(),
                    _ => format!("{own} of that because it ran {beyond}, and {before} because an earlier execution of it still ran"),
                }
            }
            Remedy::MakeRoom { of: None, .. } => format!(
                "it had the CPU for up to {longest} at once; pin one of the two to other CPUs, or change their priorities"
            ),
            Remedy::MakeRoom { of: Some(_), .. } => format!(
                "something that is not recorded had the CPU, for up to {longest} at once; what it was is not known"
            ),
            Remedy::Prefer(_) => format!(
                "its thread had been woken and waited for a CPU, for up to {longest} at once: a higher priority, CPUs of its own, or less load"
            ),
            Remedy::Unblock(_) => format!(
                "it slept longer than usual, for up to {longest} at once: a lock, a file, a service or a sleep; the recording does not tell which"
            ),
            Remedy::Release(_) => {
                format!("it held a lock that was waited for, for up to {longest} at once")
            }
            Remedy::WakeUp(_) => format!(
                "the timer was due and its thread had nothing to do, but it woke up to {longest} late; why is not known. A real-time priority and no power saving often help"
            ),
            Remedy::Resume(_) => format!(
                "nothing that was recorded went on, for up to {longest} at once; whose doing it was is known only with scheduling events of the kernel"
            ),
            Remedy::SpeedUp(_) => format!(
                "it was longer under way than usual, for up to {longest}, while its receiver had nothing to do: whether in the middleware, in the network or because the receiver woke up late is not known"
            ),
            Remedy::Publish(_) => {
                format!("the call took longer than usual, up to {longest}")
            }
            Remedy::Lighten(_) => format!(
                "it was longer than usual busy with looking for work, taking and dispatching, up to {longest} at once: it goes through all that it serves"
            ),
            Remedy::UseSooner(_) => format!(
                "what it needs was there up to {longest} before it ran: publish where the message comes in, or run it more often"
            ),
        }
    }

    /// What was in the way most, and how many others there are.
    fn busy_with(&self, analysis: &Analysis<'_>, total: &Total) -> String {
        let mut times: BTreeMap<Runner, i64> = BTreeMap::new();
        for victim in self.victims.iter().map(|number| &total.victims[*number]) {
            for row in &victim.rows {
                let remedy = Remedy::of(analysis, victim.victim, &row.blame, &row.longest);
                if let (Some(Culprit::Runner(runner)), true) =
                    (row.blame.culprit, remedy == Some(self.remedy))
                {
                    *times.entry(runner).or_default() += row.weighted;
                }
            }
        }
        let others = times.len().saturating_sub(1);
        let most = times.into_iter().max_by_key(|(_, time)| *time);
        let Some((runner, time)) = most else {
            return "other callbacks".to_owned();
        };
        let time = units::short_duration(time as f64);
        let most = format!("{} ({time})", runner.name(&analysis.names));
        match others {
            0 => most,
            others => format!(
                "{most} and {}",
                units::counted(others as u64, "other callback")
            ),
        }
    }

    /// The victim that would gain most.
    pub fn first<'t>(&self, total: &'t Total) -> &'t VictimTotal {
        &total.victims[self.victims[0]]
    }

    /// `/filter ← /points`, `/filter ← /points and 2 others`
    fn late(&self, analysis: &Analysis<'_>, total: &Total) -> String {
        let victim = self.first(total).victim;
        let first = match victim {
            Victim::Path(_) => victim
                .hop(total, self.longest.hop)
                .map_or_else(String::new, |hop| hop.node.clone()),
            Victim::Messages { .. } => match victim.callback(analysis.model) {
                Some(callback) => analysis.names.callback(callback).to_owned(),
                None => victim.name(analysis, total).into_owned(),
            },
            Victim::Callback(_) => victim.name(analysis, total).into_owned(),
        };
        match self.victims.len() - 1 {
            0 => first,
            more => format!("{first} and {}", units::counted(more as u64, "other")),
        }
    }

    fn share_a_group(&self, analysis: &Analysis<'_>, total: &Total, culprit: Runner) -> bool {
        let group = |callback| analysis.group_of(callback);
        let culprit = match culprit.ran {
            Ran::Callback(callback) => group(callback),
            Ran::Client(client) => analysis.model.clients[client.index()].group,
            Ran::Unnamed(_) => None,
        };
        culprit.is_some()
            && self.victims.iter().any(|number| {
                let callback = total.victims[*number].victim.callback(analysis.model);
                callback.and_then(group) == culprit
            })
    }

    /// What shows the worst of it: options of `rostrace why`, each with its value, and the instant for `--at`.
    pub fn question(&self, analysis: &Analysis<'_>, total: &Total) -> Question {
        let model = analysis.model;
        let victim = self.first(total).victim;
        let node = |id| model.node_name(id).map(str::to_owned);
        let options = match victim {
            Victim::Callback(_) => {
                vec![("--callback", victim.name(analysis, total).into_owned())]
            }
            Victim::Messages { subscription, .. } => {
                let subscription = subscription.map(|id| &model.subscriptions[id.index()]);
                let topic = subscription.map(|it| ("--topic", it.topic.clone()));
                let node = subscription
                    .and_then(|it| node(it.node))
                    .map(|it| ("--node", it));
                topic.into_iter().chain(node).collect()
            }
            Victim::Path(number) => {
                let hops = &total.paths[number].hops;
                let ends = hops.first().zip(hops.last());
                ends.map_or_else(Vec::new, |(first, last)| {
                    vec![
                        ("--from", first.publishing_node.clone()),
                        ("--to", last.node.clone()),
                    ]
                })
            }
        };
        Question {
            options,
            at: self.worst,
        }
    }
}

/// What to ask `rostrace why` to see something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Values are names, not yet patterns.
    pub options: Vec<(&'static str, String)>,
    pub at: Nanos,
}

impl LostMessages {
    pub fn sentence(&self, analysis: &Analysis<'_>) -> String {
        let model = analysis.model;
        let subscription = &model.subscriptions[self.subscription.index()];
        let node = names::of_node(model, subscription.node);
        let (lost, sent) = (
            units::count(self.lost),
            units::counted(self.sent, "message"),
        );
        format!(
            "give {} in {node} a deeper queue than {}: {lost} of {sent} were pushed out of it by newer ones",
            subscription.topic, self.depth
        )
    }
}

impl LostMessages {
    /// What is not known of it.
    pub const NOTE: &'static str = "what this gains is messages, not time: each of them waits its turn, so it helps against bursts, and against constant overload only shorter callbacks do";
}

/// `37 of 200 executions`
fn times(times: u64, of: u64, noun: &str) -> String {
    format!("{} of {}", units::count(times), units::counted(of, noun))
}

/// `43 %`, `0.4 %`
fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 9.5 => format!("{percent:.0} %"),
        _ => units::share(share),
    }
}

fn everything(analysis: &Analysis<'_>, scope: Scope) -> String {
    match scope {
        Scope::Machine(_) => "all recorded processes".to_owned(),
        Scope::Process(process) => {
            let process = &analysis.model.processes[process.index()];
            format!("process {} {}", process.name, process.pid)
        }
    }
}

/// Topic and receiving node.
fn ends(analysis: &Analysis<'_>, total: &Total, way: Way) -> (String, String) {
    match way {
        Way::To(id) => {
            let model = analysis.model;
            let subscription = &model.subscriptions[id.index()];
            let node = names::of_node(model, subscription.node);
            (subscription.topic.clone(), node.to_owned())
        }
        Way::Hop { path, hop } => match total.paths[path].hops.get(hop) {
            Some(hop) => (hop.topic.clone(), hop.node.clone()),
            None => (String::new(), total.paths[path].title.clone()),
        },
    }
}
