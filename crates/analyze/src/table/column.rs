//! A column: what it is called, what is in it, how people see it, and what it means. Said once, for every table and list, in every format.

use serde::Serialize;

#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// In files, JSON, `--columns` and `--sort`.
    pub name: &'static str,
    pub kind: ColumnKind,
    pub unit: Unit,
    pub role: Role,
    /// Whether a row may have nothing here.
    pub optional: bool,
    /// A sentence.
    pub about: &'static str,
    /// In the JSON of a list: the object that it is a part of, and its name there.
    pub member: Option<(&'static str, &'static str)>,
}

/// How it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    Text,
    /// Names without spaces, with a space between them; an array in the JSON of a list.
    Names,
    Integer,
    /// A real number.
    Number,
    Flag,
    /// Nanoseconds since 1970.
    Time,
    /// Nanoseconds.
    Duration,
}

/// What a value counts, and so how people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Text,
    /// A number that names something, such as a pid, or that has no unit.
    Plain,
    Count,
    /// Nanoseconds.
    Duration,
    /// Nanoseconds since 1970.
    Instant,
    /// Of 1.
    Share,
    Hertz,
    YesOrNo,
}

/// What of a [`Selection`](crate::Selection) a row is chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Nothing,
    Node,
    Topic,
    /// A topic, unless the row's [`Role::Kind`] is a service or a client.
    TopicOrService,
    Kind,
    Pid,
    /// The number of an observed path.
    Path,
    /// The name of a path of an architecture file.
    NamedPath,
}

impl Column {
    const fn new(name: &'static str, kind: ColumnKind, unit: Unit, about: &'static str) -> Column {
        Column {
            name,
            kind,
            unit,
            role: Role::Nothing,
            optional: false,
            about,
            member: None,
        }
    }

    pub const fn text(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Text, Unit::Text, about)
    }

    pub const fn names(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Names, Unit::Text, about)
    }

    pub const fn integer(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Integer, Unit::Plain, about)
    }

    pub const fn count(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Integer, Unit::Count, about)
    }

    pub const fn number(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Number, Unit::Plain, about)
    }

    pub const fn share(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Number, Unit::Share, about)
    }

    pub const fn hertz(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Number, Unit::Hertz, about)
    }

    pub const fn node(name: &'static str, about: &'static str) -> Column {
        Column::text(name, about).role(Role::Node)
    }

    pub const fn topic(name: &'static str, about: &'static str) -> Column {
        Column::text(name, about).role(Role::Topic)
    }

    pub const fn pid(name: &'static str, about: &'static str) -> Column {
        Column::integer(name, about).role(Role::Pid)
    }

    /// Nanoseconds with a fraction, such as a mean.
    pub const fn mean(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Number, Unit::Duration, about)
    }

    pub const fn flag(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Flag, Unit::YesOrNo, about)
    }

    pub const fn time(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Time, Unit::Instant, about)
    }

    pub const fn duration(name: &'static str, about: &'static str) -> Column {
        Column::new(name, ColumnKind::Duration, Unit::Duration, about)
    }

    pub const fn optional(mut self) -> Column {
        self.optional = true;
        self
    }

    pub const fn role(mut self, role: Role) -> Column {
        self.role = role;
        self
    }

    pub(crate) const fn member(mut self, object: &'static str, name: &'static str) -> Column {
        self.member = Some((object, name));
        self
    }
}

impl Unit {
    /// What a value is in CSV and JSON.
    pub fn described(self) -> &'static str {
        match self {
            Unit::Text => "text",
            Unit::Plain => "a number",
            Unit::Count => "a count",
            Unit::Duration => "nanoseconds",
            Unit::Instant => "nanoseconds since 1970",
            Unit::Share => "a share, 1 is all",
            Unit::Hertz => "per second",
            Unit::YesOrNo => "1 or 0 in CSV, true or false in JSON",
        }
    }
}

/// The columns of a table, one on a line: what it is (a function of [`Column`]; `?` if a row may have nothing there), its name, and
/// what it means. Columns that several tables have stand by their constants; `statistics` and `frequency` are many columns each.
macro_rules! columns {
    (@parts [$($parts:tt)*]) => {{
        const COLUMN_PARTS: &[&[$crate::table::Column]] = &[$($parts)*];
        const COLUMNS: [$crate::table::Column; $crate::table::length(COLUMN_PARTS)] =
            $crate::table::concatenated(COLUMN_PARTS);
        &COLUMNS
    }};
    (@parts [$($parts:tt)*] statistics $prefix:literal $about:literal $($object:literal)?, $($rest:tt)*) => {
        $crate::table::columns!(@parts [$($parts)* &$crate::table::statistics_columns!($prefix, $about $(, $object)?),] $($rest)*)
    };
    (@parts [$($parts:tt)*] frequency $prefix:literal $about:literal, $($rest:tt)*) => {
        $crate::table::columns!(@parts [$($parts)* &$crate::table::frequency_columns!($prefix, $about),] $($rest)*)
    };
    (@parts [$($parts:tt)*] = $column:expr, $($rest:tt)*) => {
        $crate::table::columns!(@parts [$($parts)* &[$column],] $($rest)*)
    };
    (@parts [$($parts:tt)*] $kind:ident ? $name:literal $about:expr, $($rest:tt)*) => {
        $crate::table::columns!(@parts [$($parts)* &[$crate::table::Column::$kind($name, $about).optional()],] $($rest)*)
    };
    (@parts [$($parts:tt)*] $kind:ident $name:literal $about:expr, $($rest:tt)*) => {
        $crate::table::columns!(@parts [$($parts)* &[$crate::table::Column::$kind($name, $about)],] $($rest)*)
    };
    (@parts [$($parts:tt)*] $constant:ident, $($rest:tt)*) => {
        $crate::table::columns!(@parts [$($parts)* &[$constant],] $($rest)*)
    };
    ($($entries:tt)*) => {
        $crate::table::columns!(@parts [] $($entries)*)
    };
}

pub(crate) use columns;

pub(crate) const fn length(parts: &[&[Column]]) -> usize {
    let mut length = 0;
    let mut part = 0;
    while part < parts.len() {
        length += parts[part].len();
        part += 1;
    }
    length
}

/// `N` has to be the [`length`]; the compiler checks it.
pub(crate) const fn concatenated<const N: usize>(parts: &[&[Column]]) -> [Column; N] {
    assert!(N == length(parts));
    let mut columns = [Column::text("", ""); N];
    let (mut part, mut place, mut at) = (0, 0, 0);
    while part < parts.len() {
        while place < parts[part].len() {
            columns[at] = parts[part][place];
            place += 1;
            at += 1;
        }
        place = 0;
        part += 1;
    }
    columns
}
