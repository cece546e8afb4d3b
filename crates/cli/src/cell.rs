//! One value of a list: written to CSV and JSON as it is, shown to people with its unit, and compared where lists are sorted.

use std::cmp::Ordering;

use rostrace_analyze::table::{self, Unit};
use rostrace_ctf::schema::Nanos;
use serde::{Serialize, Serializer};

use crate::render::time;
use rostrace_base::units;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// What is not known, or does not exist.
    Nothing,
    Text(String),
    Integer(i64),
    Number(f64),
    YesOrNo(bool),
}

impl Cell {
    pub(crate) fn csv(&self) -> String {
        match self {
            Cell::Nothing => String::new(),
            Cell::Text(text) => text.clone(),
            Cell::Integer(number) => number.to_string(),
            Cell::Number(number) => number.to_string(),
            Cell::YesOrNo(yes) => u8::from(*yes).to_string(),
        }
    }

    /// For people.
    pub(crate) fn shown(&self, unit: Unit) -> String {
        match (self, unit) {
            (Cell::Nothing, _) => String::new(),
            (Cell::Text(text), _) => text.clone(),
            (Cell::YesOrNo(yes), _) => if *yes { "yes" } else { "no" }.to_owned(),
            (Cell::Integer(number), Unit::Duration) => units::signed_duration(*number),
            (Cell::Number(number), Unit::Duration) => units::signed_duration(number.round() as i64),
            (Cell::Integer(number), Unit::Instant) => time::time_of_day(Nanos(*number)),
            (Cell::Number(number), Unit::Share) => units::share(*number),
            (Cell::Number(number), Unit::Hertz) => units::hertz(*number),
            (Cell::Integer(number), Unit::Count) => match u64::try_from(*number) {
                Ok(number) => units::count(number),
                Err(_) => number.to_string(),
            },
            (Cell::Integer(number), _) => number.to_string(),
            (Cell::Number(number), _) => number.to_string(),
        }
    }

    fn is_nothing(&self) -> bool {
        matches!(self, Cell::Nothing)
    }

    /// In the order of a list. What has no value comes last, whichever way it is sorted.
    pub(crate) fn compare(&self, other: &Cell, descending: bool) -> Ordering {
        match (self.is_nothing(), other.is_nothing()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return Ordering::Greater,
            (false, true) => return Ordering::Less,
            (false, false) => {}
        }
        let order = match (self, other) {
            (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
            (Cell::Integer(a), Cell::Integer(b)) => a.cmp(b),
            (Cell::YesOrNo(a), Cell::YesOrNo(b)) => a.cmp(b),
            (a, b) => a.number().total_cmp(&b.number()),
        };
        if descending { order.reverse() } else { order }
    }

    fn number(&self) -> f64 {
        match self {
            Cell::Integer(number) => *number as f64,
            Cell::Number(number) => *number,
            Cell::YesOrNo(yes) => f64::from(u8::from(*yes)),
            Cell::Nothing | Cell::Text(_) => 0.0,
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Nothing => serializer.serialize_none(),
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Integer(number) => serializer.serialize_i64(*number),
            Cell::Number(number) => serializer.serialize_f64(*number),
            Cell::YesOrNo(yes) => serializer.serialize_bool(*yes),
        }
    }
}

impl From<table::Cell<'_>> for Cell {
    fn from(cell: table::Cell<'_>) -> Cell {
        match cell {
            table::Cell::Nothing => Cell::Nothing,
            table::Cell::Text(text) => Cell::Text(text.to_owned()),
            table::Cell::Integer(number) => Cell::Integer(number),
            table::Cell::Number(number) => Cell::Number(number),
            table::Cell::Flag(yes) => Cell::YesOrNo(yes),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        Cell::Integer(number)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Cell {
        i64::try_from(number).map_or(Cell::Number(number as f64), Cell::Integer)
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Cell {
        (number as u64).into()
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(number)
    }
}

impl From<bool> for Cell {
    fn from(yes: bool) -> Cell {
        Cell::YesOrNo(yes)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Nothing, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cells() -> impl Strategy<Value = Cell> {
        prop_oneof![
            Just(Cell::Nothing),
            any::<i32>().prop_map(|it| Cell::Integer(it.into())),
            any::<f32>().prop_map(|it| Cell::Number(it.into())),
        ]
    }

    proptest! {
        #[test]
        fn what_has_no_value_is_last_and_the_rest_is_in_order(mut cells in prop::collection::vec(cells(), 0..40), descending: bool) {
            cells.sort_by(|a, b| a.compare(b, descending));
            let known: Vec<f64> = (cells.iter())
                .take_while(|it| !it.is_nothing())
                .map(Cell::number)
                .collect();
            prop_assert!(cells[known.len()..].iter().all(Cell::is_nothing));
            for pair in known.windows(2) {
                let order = pair[0].total_cmp(&pair[1]);
                let is_right = if descending { order.is_ge() } else { order.is_le() };
                prop_assert!(is_right);
            }
        }
    }

    #[test]
    fn people_see_units() {
        assert_eq!(Cell::Integer(1_500_000).shown(Unit::Duration), "1.500 ms");
        assert_eq!(Cell::Integer(12_345).shown(Unit::Count), "12,345");
        assert_eq!(Cell::Integer(12_345).shown(Unit::Plain), "12345");
        assert_eq!(Cell::YesOrNo(true).shown(Unit::YesOrNo), "yes");
        assert_eq!(Cell::YesOrNo(true).csv(), "1");
        assert_eq!(Cell::Nothing.shown(Unit::Duration), "");
    }
}
