//! `--sim-time`: each column of times gets another one on the simulated clock, behind all other columns.

use std::io;

use rostrace_analyze::sim_time::SimClock;
use rostrace_analyze::table::{Cell, ColumnKind, Role};
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;

use super::schema::{Field, Rows, Schema};

/// The columns of simulated times.
pub(crate) struct SimulatedTimes {
    /// Without one the columns are empty.
    clock: Option<SimClock>,
}

impl SimulatedTimes {
    /// Also tells whether there is a simulated clock.
    pub(crate) fn of(model: &Model) -> (SimulatedTimes, bool) {
        let clock = SimClock::of(model);
        let found = clock.is_some();
        (SimulatedTimes { clock }, found)
    }

    /// The schema with the columns of simulated times.
    pub(crate) fn extend(&self, schema: &Schema) -> Schema {
        let mut extended = schema.clone();
        for field in times(schema).map(|(_, field)| field) {
            let stem = field.name.strip_suffix("_ns").unwrap_or(&field.name);
            extended.fields.push(Field {
                name: format!("{stem}_sim_ns"),
                kind: ColumnKind::Time,
                role: Role::Nothing,
                optional: true,
                about: format!("`{}` on the simulated clock.", field.name),
            });
        }
        extended
    }

    /// The rows of `schema` with their simulated times.
    pub(crate) fn rows<'r>(
        &'r self,
        schema: &Schema,
        rows: &'r Rows<'r>,
    ) -> impl Fn(rostrace_analyze::table::Sink<'_>) -> io::Result<()> + Sync + 'r {
        let times: Vec<usize> = times(schema).map(|(number, _)| number).collect();
        move |take| {
            rows(&mut |row| {
                let simulated = times
                    .iter()
                    .map(|number| match (row.get(*number), &self.clock) {
                        (Some(Cell::Integer(time)), Some(clock)) => {
                            clock.at(Nanos(*time)).nanos.into()
                        }
                        _ => Cell::Nothing,
                    });
                let extended: Vec<Cell<'_>> = row.iter().copied().chain(simulated).collect();
                take(&extended)
            })
        }
    }
}

fn times(schema: &Schema) -> impl Iterator<Item = (usize, &Field)> {
    let fields = schema.fields.iter().enumerate();
    fields.filter(|(_, field)| field.kind == ColumnKind::Time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rostrace_analyze::table::TABLES;
    use rostrace_model::flow::SimTime;

    /// Twice as fast, 0 at 1 000.
    fn fast() -> Option<SimClock> {
        let sample = |time: i64, simulated: u64| SimTime {
            time: Nanos(time),
            simulated,
        };
        SimClock::new(&[sample(1_000, 0), sample(2_000, 2_000)])
    }

    #[test]
    fn every_time_has_a_simulated_one_behind_all_other_columns() {
        let simulated = SimulatedTimes { clock: fast() };
        let table = TABLES.iter().find(|it| it.name == "callback_instances");
        let schema = Schema::of_table(table.unwrap());
        let extended = simulated.extend(&schema);
        let names: Vec<&str> = extended.fields[schema.fields.len()..]
            .iter()
            .map(|field| field.name.as_str())
            .collect();
        assert_eq!(names, ["start_sim_ns", "end_sim_ns", "expected_sim_ns"]);

        let place = |name: &str| schema.fields.iter().position(|it| it.name == name);
        let (start, period) = (place("start_ns").unwrap(), place("period_ns").unwrap());
        let mut cells = vec![Cell::Nothing; schema.fields.len()];
        (cells[start], cells[period]) = (Cell::Integer(1_500), Cell::Integer(1_600));
        let rows: &Rows<'_> = &|take| take(&cells);
        let mut found = Vec::new();
        simulated.rows(&schema, rows)(&mut |row| {
            found = row[schema.fields.len()..]
                .iter()
                .map(|cell| format!("{cell:?}"))
                .collect();
            Ok(())
        })
        .unwrap();
        assert_eq!(found, ["Integer(1000)", "Nothing", "Nothing"]);
    }
}
