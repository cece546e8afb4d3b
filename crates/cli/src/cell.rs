//! One value of a list: written to CSV and JSON as it is, shown to people with its unit, and compared where lists are sorted.

use std::cmp::Ordering;

use rostrace_analyze::table::{Cell, Unit};
use rostrace_ctf::schema::Nanos;
use serde_json::{Value, json};

use crate::render::time;
use rostrace_base::units;

pub(crate) fn csv(cell: Cell<'_>) -> String {
    match cell {
        Cell::Nothing => String::new(),
        Cell::Text(text) => text.to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) => number.to_string(),
        Cell::Flag(yes) => u8::from(yes).to_string(),
    }
}

pub(crate) fn json(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Nothing => Value::Null,
        Cell::Text(text) => json!(text),
        Cell::Integer(number) => json!(number),
        Cell::Number(number) => json!(number),
        Cell::Flag(yes) => json!(yes),
    }
}

/// For people.
pub(crate) fn shown(cell: Cell<'_>, unit: Unit) -> String {
    match (cell, unit) {
        (Cell::Flag(yes), _) => if yes { "yes" } else { "no" }.to_owned(),
        (Cell::Integer(number), Unit::Duration) => units::signed_duration(number),
        (Cell::Number(number), Unit::Duration) => units::signed_duration(number.round() as i64),
        (Cell::Integer(number), Unit::Instant) => time::time_of_day(Nanos(number)),
        (Cell::Number(number), Unit::Share) => units::share(number),
        (Cell::Number(number), Unit::Hertz) => units::hertz(number),
        (Cell::Integer(number @ 0..), Unit::Count) => units::count(number.unsigned_abs()),
        _ => csv(cell),
    }
}

/// In the order of a list. What has no value comes last, whichever way it is sorted.
pub(crate) fn compare(a: Cell<'_>, b: Cell<'_>, descending: bool) -> Ordering {
    let order = match (a, b) {
        (Cell::Nothing, _) | (_, Cell::Nothing) => {
            return (a == Cell::Nothing).cmp(&(b == Cell::Nothing));
        }
        (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
        (Cell::Integer(a), Cell::Integer(b)) => a.cmp(&b),
        _ => number(a).total_cmp(&number(b)),
    };
    if descending { order.reverse() } else { order }
}

fn number(cell: Cell<'_>) -> f64 {
    match cell {
        Cell::Integer(number) => number as f64,
        Cell::Number(number) => number,
        Cell::Flag(yes) => f64::from(u8::from(yes)),
        Cell::Nothing | Cell::Text(_) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cells() -> impl Strategy<Value = Cell<'static>> {
        prop_oneof![
            Just(Cell::Nothing),
            any::<i32>().prop_map(|it| Cell::Integer(it.into())),
            any::<f32>().prop_map(|it| Cell::Number(it.into())),
        ]
    }

    proptest! {
        #[test]
        fn what_has_no_value_is_last_and_the_rest_is_in_order(mut cells in prop::collection::vec(cells(), 0..40), descending: bool) {
            cells.sort_by(|a, b| compare(*a, *b, descending));
            let known = cells.iter().take_while(|it| **it != Cell::Nothing);
            let known: Vec<f64> = known.map(|it| number(*it)).collect();
            prop_assert!(cells[known.len()..].iter().all(|it| *it == Cell::Nothing));
            for pair in known.windows(2) {
                let order = pair[0].total_cmp(&pair[1]);
                let is_right = if descending { order.is_ge() } else { order.is_le() };
                prop_assert!(is_right);
            }
        }
    }

    #[test]
    fn people_see_units() {
        assert_eq!(shown(Cell::Integer(1_500_000), Unit::Duration), "1.500 ms");
        assert_eq!(shown(Cell::Integer(12_345), Unit::Count), "12,345");
        assert_eq!(shown(Cell::Integer(12_345), Unit::Plain), "12345");
        assert_eq!(shown(Cell::Flag(true), Unit::YesOrNo), "yes");
        assert_eq!(csv(Cell::Flag(true)), "1");
        assert_eq!(shown(Cell::Nothing, Unit::Duration), "");
    }
}
