//! The details of a path as the page has them: long columns beside JSON, and no more of them than can be looked at.

use rostrace_analyze::declared::histogram::Histogram;
use rostrace_analyze::declared::records::{Cell, Records};
use rostrace_analyze::declared::response_time::Case;
use rostrace_analyze::statistics::Statistics;
use rostrace_ctf::schema::Nanos;
use serde::Serialize;

use super::material::{Instant, Link, Material, Response, Stage};
use super::sample::{Candidate, sample};
use super::{CAME_THROUGH, NOT_PASSED_ON};
use crate::explained::Explained;
use crate::page::Subject;
use crate::page::columns::{ColumnReference, Columns};
use crate::page::downsample::downsampled;
use crate::page::numbers::numbers;

/// How much one path may have, so that all of them stay small.
#[derive(Debug)]
pub(super) struct Budget {
    /// Instants of messages.
    instants: usize,
    /// Parts of bars, by case.
    parts: usize,
    /// Places of a series, by case.
    places: usize,
}

impl Budget {
    pub(super) fn for_details(details: usize) -> Budget {
        let each = |all: usize| all / details.max(1);
        Budget {
            instants: each(400_000),
            parts: each(100_000),
            places: each(20_000).clamp(100, 1_500),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Detail {
    id: String,
    nodes: Vec<String>,
    stages: Vec<Stage>,
    latency: Option<Statistics>,
    chain: Vec<Link>,
    /// What happens to a message, in the order of time.
    instants: Vec<Instant>,
    flow: Flow,
    responses: Vec<Responses>,
    worst: Vec<Explained>,
}

/// Each message a line through the instants.
#[derive(Debug, Serialize)]
struct Flow {
    measured: (usize, usize),
    /// The first instant of each message, relative to the report's begin.
    begin: ColumnReference,
    /// By instant: how much later than the one before that happened, plus one if it is not earlier; 0 if it did not happen.
    after: Vec<ColumnReference>,
    /// For what is missing: the same after the first instant, where a message that was lost counts as one that came with the next.
    delayed: Vec<ColumnReference>,
    /// How each ended.
    ends: ColumnReference,
    /// How many messages there were.
    of: usize,
}

/// The response times of a case.
#[derive(Debug, Serialize)]
struct Responses {
    statistics: Option<Statistics>,
    begin: ColumnReference,
    time: ColumnReference,
    histogram: Option<Bins>,
    bars: Bars,
}

#[derive(Debug, Serialize)]
struct Bins {
    from: i64,
    width: i64,
    counts: Vec<u64>,
}

/// Of neighbours that share a place the largest is shown.
#[derive(Debug, Serialize)]
struct Bars {
    begin: ColumnReference,
    /// Where the next one begins.
    width: ColumnReference,
    parts: Vec<ColumnReference>,
    of: usize,
}

impl Detail {
    pub(super) fn of(
        subject: Subject<'_>,
        id: String,
        material: Material<'_>,
        budget: &Budget,
        columns: &mut Columns,
    ) -> Detail {
        let width = bin_width(&material.responses);
        let responses = Case::EVERY
            .map(|case| responses(subject, &material, case, width, budget, columns))
            .into();
        let flow = flow(subject, &material, budget, columns);
        Detail {
            id,
            nodes: material.nodes,
            stages: material.stages,
            latency: material.latency,
            chain: material.chain,
            instants: material.instants,
            flow,
            responses,
            worst: material.worst,
        }
    }
}

fn flow(
    subject: Subject<'_>,
    material: &Material<'_>,
    budget: &Budget,
    columns: &mut Columns,
) -> Flow {
    let messages = &material.messages;
    let (from, to) = material.measured;
    let candidates: Vec<Candidate> = messages
        .rows
        .iter()
        .zip(&material.ends)
        .map(|(row, end)| Candidate {
            latency: row[to].zip(row[from]).map(|(to, from)| to - from),
            lost: *end != CAME_THROUGH && *end != NOT_PASSED_ON,
        })
        .collect();
    let instants = messages.columns.len();
    let shown = sample(&candidates, (budget.instants / (instants + 1)).max(200));
    let begin = |place: usize| messages.rows[place].iter().flatten().next().copied();
    let begins: Vec<i64> = shown
        .iter()
        .map(|place| begin(*place).unwrap_or(subject.begin))
        .collect();
    // Only among all messages is it known which one came next.
    let is_all = messages.rows.len() == material.of;
    let delayed = if is_all {
        delayed(messages)
    } else {
        Vec::new()
    };
    let after = |cell: Cell, before: i64| match cell.map(|cell| cell.saturating_sub(before)) {
        None => 0,
        Some(after) if after >= 0 => after + 1,
        Some(earlier) => earlier,
    };
    // Steps are small and resemble each other.
    let mut reached = begins.clone();
    let mut of_instants = Vec::with_capacity(instants);
    for instant in 0..instants {
        let cells = shown.iter().zip(&mut reached);
        of_instants.push(columns.add(cells.map(|(place, reached)| {
            let cell = messages.rows[*place][instant];
            let step = after(cell, *reached);
            *reached = cell.unwrap_or(*reached);
            step
        })));
    }
    let of_delayed = (0..if is_all { instants } else { 0 })
        .map(|instant| {
            let cells = shown.iter().zip(&begins);
            columns.add(cells.map(|(place, begin)| {
                let missing = messages.rows[*place][instant].is_none();
                after(delayed[*place][instant].filter(|_| missing), *begin)
            }))
        })
        .collect();
    Flow {
        measured: material.measured,
        begin: columns.add(begins.iter().map(|begin| subject.time(Nanos(*begin)))),
        after: of_instants,
        delayed: of_delayed,
        ends: columns.add(shown.iter().map(|place| i64::from(material.ends[*place]))),
        of: material.of,
    }
}

/// By row: its values where a message that was lost counts as one that came with the next. A last column keeps their order.
fn delayed(messages: &Records) -> Vec<Vec<Cell>> {
    let mut numbered = messages.clone();
    numbered.columns.push("row".to_owned());
    for (number, row) in numbered.rows.iter_mut().enumerate() {
        row.push(Some(number as i64));
    }
    numbered.bind_drop_as_delay();
    let mut delayed = vec![Vec::new(); messages.rows.len()];
    for row in numbered.rows {
        if let Some(Some(number)) = row.last().copied() {
            delayed[number as usize] = row;
        }
    }
    delayed
}

fn responses(
    subject: Subject<'_>,
    material: &Material<'_>,
    case: Case,
    bin_width: i64,
    budget: &Budget,
    columns: &mut Columns,
) -> Responses {
    let responses = &material.responses[case as usize];
    let mut values: Vec<(i64, Nanos)> = responses
        .iter()
        .map(|response| (response.time, Nanos(response.from)))
        .collect();
    let statistics = Statistics::of(&mut values);
    let times: Vec<i64> = responses.iter().map(|response| response.time).collect();
    let histogram = Histogram::of_width(&times, bin_width);
    let points: Vec<(i64, i64)> = responses
        .iter()
        .map(|response| (subject.time(Nanos(response.from)), response.time))
        .collect();
    let points = downsampled(&points, budget.places);
    Responses {
        statistics: numbers(subject, statistics.as_ref()),
        begin: columns.add(points.iter().map(|point| point.0)),
        time: columns.add(points.iter().map(|point| point.1)),
        histogram: histogram.map(|histogram| Bins {
            from: histogram.from,
            width: bin_width,
            counts: histogram.counts,
        }),
        bars: bars(subject, material, case, budget, columns),
    }
}

fn bars(
    subject: Subject<'_>,
    material: &Material<'_>,
    case: Case,
    budget: &Budget,
    columns: &mut Columns,
) -> Bars {
    let responses = &material.responses[case as usize];
    let first = responses
        .iter()
        .find_map(|response| material.parts.of(case, response));
    let parts = first.map_or(0, |parts| parts.len());
    let most = (budget.parts / (parts + 2)).clamp(60, 600);
    let together = responses.len().div_ceil(most).max(1);
    let shown: Vec<(i64, Vec<i64>)> = responses
        .chunks(together)
        .filter_map(|chunk| {
            let worst = chunk.iter().max_by_key(|response| response.time)?;
            Some((chunk[0].from, material.parts.of(case, worst)?))
        })
        .collect();
    let begins = shown.iter().map(|(begin, _)| *begin);
    let mut widths: Vec<i64> = shown.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    // The last one is as wide as the one before.
    widths.extend(
        widths
            .last()
            .copied()
            .or((!shown.is_empty()).then_some(1_000_000)),
    );
    Bars {
        begin: columns.add(begins.map(|begin| subject.time(Nanos(begin)))),
        width: columns.add(widths),
        parts: (0..parts)
            .map(|part| columns.add(shown.iter().map(|(_, parts)| parts[part])))
            .collect(),
        of: responses.len(),
    }
}

/// So that the cases have bins of one width, about fifty over all of them: 1, 2 or 5 times a power of ten.
fn bin_width(cases: &[Vec<Response>; 4]) -> i64 {
    let times = || cases.iter().flatten().map(|response| response.time);
    let (Some(least), Some(largest)) = (times().min(), times().max()) else {
        return 1;
    };
    let wanted = largest.saturating_sub(least) / 50;
    let mut width = 1i64;
    while width < wanted {
        let step = if width.to_string().starts_with('2') {
            5
        } else {
            2
        };
        width = if step == 5 { width / 2 * 5 } else { width * 2 };
    }
    width
}

#[cfg(test)]
mod tests {
    use super::*;

    fn responses(times: &[i64]) -> [Vec<Response>; 4] {
        let of = |time: &i64| Response {
            from: 0,
            time: *time,
            row: 0,
        };
        [times.iter().map(of).collect(), vec![], vec![], vec![]]
    }

    #[test]
    fn bins_have_round_widths() {
        assert_eq!(bin_width(&responses(&[])), 1);
        assert_eq!(bin_width(&responses(&[5, 5])), 1);
        assert_eq!(bin_width(&responses(&[0, 500])), 10);
        assert_eq!(bin_width(&responses(&[0, 600])), 20);
        assert_eq!(bin_width(&responses(&[0, 50_000_000])), 1_000_000);
        assert_eq!(bin_width(&responses(&[0, 120_000_000])), 5_000_000);
    }

    #[test]
    fn what_was_lost_counts_as_what_came_next() {
        let messages = Records {
            columns: vec!["a".into(), "b".into()],
            rows: vec![
                vec![Some(1), None],
                vec![Some(2), Some(5)],
                vec![Some(6), None],
            ],
        };
        let found = delayed(&messages);
        assert_eq!(found[0][1], Some(5));
        assert_eq!(found[2][1], None);
    }
}
