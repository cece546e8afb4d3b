//! A trace as the page sees it: lanes whose tracks are built when they are first looked at, and answers to what the page asks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use rostrace_analyze::timer::{self, Firing};
use rostrace_analyze::{Analysis, Selection};
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{CallbackOwner, DeliveryId, InstanceId, TimerId};

use super::lane::{Lanes, shown_on};
use super::subject::Subjects;
use super::track::{Content, Track};

/// What is to be shown of a trace.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What the page is called.
    pub title: String,
    /// The instant that the page opens at.
    pub at: Option<Nanos>,
    /// When events were lost.
    pub losses: Vec<(Nanos, Nanos)>,
    /// Whose callbacks are shown; the others are as if they had never run.
    pub selection: Selection,
}

/// A trace that a page can ask for any part of. Times count from `origin`, so that they fit into the numbers of a browser.
#[derive(Debug)]
pub struct ServedTimeline<'a> {
    pub(super) analysis: &'a Analysis<'a>,
    pub(super) subjects: Subjects,
    pub(super) lanes: Lanes,
    pub(super) options: Options,
    /// The begin of the recording, whatever of it is shown.
    pub(super) origin: i64,
    /// What is shown.
    pub(super) begin: i64,
    pub(super) end: i64,
    tracks: Vec<OnceLock<Track>>,
    firings: Mutex<HashMap<TimerId, Arc<Vec<Firing>>>>,
    /// The request that an execution of a service answered, as a row of the model.
    pub(super) requests: HashMap<InstanceId, usize>,
    pub(super) overview: OnceLock<Vec<u8>>,
}

impl<'a> ServedTimeline<'a> {
    pub fn new(analysis: &'a Analysis<'a>, options: Options) -> ServedTimeline<'a> {
        let subjects = Subjects::of(analysis, &options.selection);
        let lanes = Lanes::of(analysis, &subjects);
        let model = analysis.model;
        let origin = model.begin.unwrap_or_default();
        let begin = origin.max(*analysis.window.start());
        let end = model.end.unwrap_or_default().min(*analysis.window.end());
        ServedTimeline {
            tracks: lanes.contents.iter().map(|_| OnceLock::new()).collect(),
            analysis,
            subjects,
            lanes,
            options,
            origin: origin.0,
            begin: begin.0,
            // A trace of a single instant is a nanosecond long: nothing is divided by zero.
            end: end.0.max(begin.0.saturating_add(1)),
            firings: Mutex::default(),
            requests: (model.requests.iter().enumerate())
                .filter_map(|(row, request)| Some((request.instance?, row)))
                .collect(),
            overview: OnceLock::new(),
        }
    }

    /// Works out what the first look and the first click would have to wait for.
    pub fn warm_up(&self) {
        for lane in self.lanes.threads.iter().flat_map(|group| &group.lanes) {
            self.track(lane.track);
        }
        self.analysis.activities();
        if !self.analysis.model.deliveries.is_empty() {
            // One asked for is all found.
            self.analysis.arrival(DeliveryId(0));
        }
    }

    pub fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    pub fn subjects(&self) -> &Subjects {
        &self.subjects
    }

    /// When the recording began, in nanoseconds.
    pub fn origin(&self) -> i64 {
        self.origin
    }

    /// First and last instant, in nanoseconds.
    pub fn span(&self) -> (i64, i64) {
        (self.begin, self.end)
    }

    /// The rows of a track, nothing if there is no such track.
    pub fn track(&self, number: u32) -> Option<(&Content, &Track)> {
        let content = self.lanes.contents.get(number as usize)?;
        let track = self.tracks[number as usize].get_or_init(|| self.build(content));
        Some((content, track))
    }

    fn build(&self, content: &Content) -> Track {
        let analysis = self.analysis;
        match content {
            Content::Thread(thread) => {
                let shown = shown_on(analysis, &self.subjects, *thread);
                Track::of_instances(analysis, &self.subjects, shown)
            }
            Content::Subject(number) => {
                let instances = self.subjects.instances(analysis, *number);
                Track::of_instances(analysis, &self.subjects, instances.iter().copied())
            }
            Content::Executor(thread) => Track::of_executor(analysis, *thread),
            Content::Scheduling(thread) => {
                Track::of_scheduling(analysis, *thread, Nanos(self.begin), Nanos(self.end))
            }
            Content::Drops(drops) => Track::of_drops(analysis, drops),
        }
    }

    /// A time as the page counts it.
    pub(super) fn since(&self, time: i64) -> i64 {
        time.saturating_sub(self.origin)
    }

    /// Of a timer's execution, when it was due.
    pub(super) fn firing(&self, id: InstanceId) -> Option<Firing> {
        let analysis = self.analysis;
        let callback = analysis.instance(id).callback?;
        let CallbackOwner::Timer(timer) = analysis.model.callbacks[callback.index()].owner else {
            return None;
        };
        let place = analysis.instances_of(callback).binary_search(&id).ok()?;
        self.firings_of(timer).get(place).copied()
    }

    fn firings_of(&self, timer: TimerId) -> Arc<Vec<Firing>> {
        // A thread that panicked has left the map as it was.
        let known = |firings: &Mutex<HashMap<TimerId, Arc<Vec<Firing>>>>| {
            let guard = firings.lock().unwrap_or_else(|it| it.into_inner());
            guard.get(&timer).cloned()
        };
        if let Some(firings) = known(&self.firings) {
            return firings;
        }
        let firings = Arc::new(timer::firings(self.analysis, timer));
        let mut guard = self.firings.lock().unwrap_or_else(|it| it.into_inner());
        guard.entry(timer).or_insert(firings).clone()
    }

    /// How much later than it should have an execution began: a timer since it was due, a subscription since the message was published.
    pub(super) fn lateness(&self, id: InstanceId) -> Option<i64> {
        if let Some(firing) = self.firing(id) {
            return Some(firing.lateness);
        }
        let arrival = self.analysis.arrival(self.analysis.received_by(id)?)?;
        (!arrival.historical).then(|| arrival.stages.latency())
    }

    /// What ran at an instant, the one that began last if several did; else the next one that begins.
    pub fn instance_at(&self, time: Nanos) -> Option<InstanceId> {
        let analysis = self.analysis;
        let mut running: Option<(Nanos, InstanceId)> = None;
        let mut next: Option<(Nanos, InstanceId)> = None;
        for lane in self.lanes.threads.iter().flat_map(|group| &group.lanes) {
            let rows = self.track(lane.track).map(|(_, track)| &track.rows);
            for row in rows.into_iter().flatten() {
                let place = row.first_ending(time.0);
                let found = |place: usize| {
                    let id = InstanceId(row.items[place]);
                    (analysis.instance(id).start, id)
                };
                let is_running = place < row.len() && row.starts[place] <= time.0;
                if is_running && analysis.instance(found(place).1).end.is_some() {
                    running = running.max(Some(found(place)));
                }
                let after = row.starts.partition_point(|start| *start <= time.0);
                if after < row.len() {
                    next = Some(next.map_or(found(after), |next| next.min(found(after))));
                }
            }
        }
        running.or(next).map(|(_, id)| id)
    }
}
