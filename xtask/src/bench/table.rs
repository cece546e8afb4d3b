//! The table of a contest, in Markdown, ready for BENCHMARKS.md.

use std::fmt::Write as _;
use std::time::Duration;

use super::measure::{Outcome, Program};

const HEAD: &str = "\
| program | wall s | CPU s | peak MB | MB/s | M events/s | wall, base = 1 | CPU, base = 1 |
|---|---:|---:|---:|---:|---:|---:|---:|
";

/// One row per program. The first is the base: `wall, base = 1` of 4.0 means four times as fast as the base.
pub(super) fn render(
    programs: &[Program],
    outcomes: &[Outcome],
    bytes: u64,
    events: Option<u64>,
) -> String {
    let mut text = String::from(HEAD);
    let base = outcomes.first().and_then(|outcome| outcome.as_ref().ok());
    for (program, outcome) in programs.iter().zip(outcomes) {
        let name = program.name;
        let Ok(measured) = outcome else {
            let _ = writeln!(text, "| {name} | failed | – | – | – | – | – | – |");
            continue;
        };
        let million_per_second =
            |amount: u64| format!("{:.1}", amount as f64 / 1e6 / seconds(measured.wall));
        let ratio = |of: Duration, to: Option<Duration>| {
            to.map_or("–".to_owned(), |to| {
                format!("{:.2}", seconds(to) / seconds(of))
            })
        };
        let _ = writeln!(
            text,
            "| {name} | {:.3} | {:.3} | {:.1} | {} | {} | {} | {} |",
            seconds(measured.wall),
            seconds(measured.cpu),
            measured.peak as f64 / 1e6,
            million_per_second(bytes),
            events.map_or("–".to_owned(), million_per_second),
            ratio(measured.wall, base.map(|base| base.wall)),
            ratio(measured.cpu, base.map(|base| base.cpu)),
        );
    }
    text
}

/// Never 0, so that a ratio is always a number.
fn seconds(time: Duration) -> f64 {
    time.as_secs_f64().max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::super::measure::Measurement;
    use super::*;

    fn program(name: &'static str) -> Program {
        Program::new(name, name, vec![])
    }

    fn measured(wall: u64, cpu: u64) -> Outcome {
        Ok(Measurement {
            wall: Duration::from_millis(wall),
            cpu: Duration::from_millis(cpu),
            peak: 12_340_000,
        })
    }

    #[test]
    fn the_base_is_one_and_a_faster_program_is_above_it() {
        let programs = [program("old"), program("new")];
        let outcomes = [measured(8000, 8000), measured(2000, 3200)];
        let text = render(&programs, &outcomes, 500_000_000, Some(12_000_000));
        let rows: Vec<_> = text.lines().skip(2).collect();
        assert_eq!(
            rows[0],
            "| old | 8.000 | 8.000 | 12.3 | 62.5 | 1.5 | 1.00 | 1.00 |"
        );
        assert_eq!(
            rows[1],
            "| new | 2.000 | 3.200 | 12.3 | 250.0 | 6.0 | 4.00 | 2.50 |"
        );
    }

    #[test]
    fn a_failed_base_leaves_the_ratios_open() {
        let programs = [program("old"), program("new")];
        let outcomes = [Err("exit status: 1".to_owned()), measured(2000, 3200)];
        let text = render(&programs, &outcomes, 500_000_000, None);
        let rows: Vec<_> = text.lines().skip(2).collect();
        assert_eq!(rows[0], "| old | failed | – | – | – | – | – | – |");
        assert_eq!(
            rows[1],
            "| new | 2.000 | 3.200 | 12.3 | 250.0 | – | – | – |"
        );
    }

    #[test]
    fn every_row_has_as_many_cells_as_the_head() {
        let text = render(
            &[program("a"), program("b")],
            &[measured(1, 0), Err(String::new())],
            1,
            None,
        );
        let cells: Vec<_> = text.lines().map(|line| line.matches('|').count()).collect();
        assert!(cells.iter().all(|count| *count == cells[0]), "{text}");
    }
}
