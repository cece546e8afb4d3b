//! Rows become record batches: columns of some ten thousand rows each, from which Arrow and Parquet files are made.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, DurationNanosecondBuilder, Float64Builder, Int32Builder, Int64Builder,
    StringBuilder, TimestampNanosecondBuilder,
};
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{DataType, SchemaRef, TimeUnit};
use rostrace_analyze::table::{Cell, ColumnKind};

use crate::commands::export::schema::{Field, Rows, Schema};

const ROWS_PER_BATCH: usize = 16 << 10;

const UTC: &str = "UTC";

/// How texts are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// Each as it is.
    Plain,
    /// As numbers of an array of all different texts, which is the same for all batches. It is found by going through the rows
    /// once before.
    Dictionary,
}

/// Makes batches of all rows and hands them over, at least one; `begin` hears the schema before the first.
pub(super) fn batches<W>(
    schema: &Schema,
    rows: &Rows<'_>,
    texts: Texts,
    begin: impl FnOnce(SchemaRef) -> io::Result<W>,
    mut take: impl FnMut(&mut W, &RecordBatch) -> io::Result<()>,
) -> io::Result<W> {
    let fields = schema.fields.iter().map(|field| arrow_field(field, texts));
    let arrow = arrow_schema::Schema::new(fields.collect::<Vec<_>>());
    let arrow = Arc::new(arrow.with_metadata(description(&schema.about)));
    let mut columns: Vec<Values> = match texts {
        Texts::Plain => schema.fields.iter().map(Values::plain).collect(),
        Texts::Dictionary => with_dictionaries(schema, rows)?,
    };
    let mut writer = begin(arrow.clone())?;
    let (mut length, mut any) = (0, false);
    rows(&mut |row| {
        for (column, cell) in columns.iter_mut().zip(row) {
            column.push(*cell)?;
        }
        length += 1;
        if length == ROWS_PER_BATCH {
            take(&mut writer, &finish(&arrow, &mut columns, length)?)?;
            (length, any) = (0, true);
        }
        Ok(())
    })?;
    if length > 0 || !any {
        take(&mut writer, &finish(&arrow, &mut columns, length)?)?;
    }
    Ok(writer)
}

fn finish(schema: &SchemaRef, columns: &mut [Values], rows: usize) -> io::Result<RecordBatch> {
    let arrays = columns.iter_mut().map(Values::finish);
    let arrays = arrays.collect::<io::Result<Vec<_>>>()?;
    // A table without columns has rows all the same.
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), arrays, &options).map_err(io::Error::other)
}

fn arrow_field(field: &Field, texts: Texts) -> arrow_schema::Field {
    let kind = match field.kind {
        ColumnKind::Text | ColumnKind::Names if texts == Texts::Dictionary => {
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
        }
        ColumnKind::Text | ColumnKind::Names => DataType::Utf8,
        ColumnKind::Integer => DataType::Int64,
        ColumnKind::Number => DataType::Float64,
        ColumnKind::Flag => DataType::Boolean,
        ColumnKind::Time => DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into())),
        ColumnKind::Duration => DataType::Duration(TimeUnit::Nanosecond),
    };
    // A number that is not finite is written as nothing.
    let nullable = field.optional || field.kind == ColumnKind::Number;
    arrow_schema::Field::new(&field.name, kind, nullable).with_metadata(description(&field.about))
}

fn description(about: &str) -> HashMap<String, String> {
    let about = Some(about).filter(|about| !about.is_empty());
    let entry = about.map(|about| ("description".to_owned(), about.to_owned()));
    entry.into_iter().collect()
}

/// The values of one column of the batch that grows.
#[derive(Debug)]
enum Values {
    Text(StringBuilder),
    Name(Int32Builder, Dictionary),
    Integer(Int64Builder),
    Number(Float64Builder),
    Flag(BooleanBuilder),
    Time(TimestampNanosecondBuilder),
    Duration(DurationNanosecondBuilder),
}

impl Values {
    fn plain(field: &Field) -> Values {
        match field.kind {
            ColumnKind::Text | ColumnKind::Names => Values::Text(StringBuilder::new()),
            ColumnKind::Integer => Values::Integer(Int64Builder::new()),
            ColumnKind::Number => Values::Number(Float64Builder::new()),
            ColumnKind::Flag => Values::Flag(BooleanBuilder::new()),
            ColumnKind::Time => Values::Time(TimestampNanosecondBuilder::new().with_timezone(UTC)),
            ColumnKind::Duration => Values::Duration(DurationNanosecondBuilder::new()),
        }
    }

    /// What does not fit becomes nothing, and that is an error later where there must be something.
    fn push(&mut self, cell: Cell<'_>) -> io::Result<()> {
        let integer = match cell {
            Cell::Integer(integer) => Some(integer),
            _ => None,
        };
        let text = match cell {
            Cell::Text(text) => Some(text),
            _ => None,
        };
        match self {
            Values::Text(values) => values.append_option(text),
            Values::Name(keys, dictionary) => {
                keys.append_option(text.map(|text| dictionary.number(text)).transpose()?);
            }
            Values::Integer(values) => values.append_option(integer),
            Values::Time(values) => values.append_option(integer),
            Values::Duration(values) => values.append_option(integer),
            Values::Number(values) => values.append_option(match cell {
                Cell::Number(number) if number.is_finite() => Some(number),
                _ => None,
            }),
            Values::Flag(values) => values.append_option(match cell {
                Cell::Flag(flag) => Some(flag),
                _ => None,
            }),
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<ArrayRef> {
        Ok(match self {
            Values::Text(values) => Arc::new(values.finish()),
            Values::Name(keys, dictionary) => {
                let array = DictionaryArray::try_new(keys.finish(), dictionary.array());
                Arc::new(array.map_err(io::Error::other)?)
            }
            Values::Integer(values) => Arc::new(values.finish()),
            Values::Number(values) => Arc::new(values.finish()),
            Values::Flag(values) => Arc::new(values.finish()),
            Values::Time(values) => Arc::new(values.finish()),
            Values::Duration(values) => Arc::new(values.finish()),
        })
    }
}

/// Columns whose texts are known already.
fn with_dictionaries(schema: &Schema, rows: &Rows<'_>) -> io::Result<Vec<Values>> {
    let column = |field: &Field| match field.kind {
        ColumnKind::Text => Values::Name(Int32Builder::new(), Dictionary::default()),
        _ => Values::plain(field),
    };
    let mut columns: Vec<Values> = schema.fields.iter().map(column).collect();
    rows(&mut |row| {
        for (column, cell) in columns.iter_mut().zip(row) {
            if let (Values::Name(_, dictionary), Cell::Text(text)) = (column, cell) {
                dictionary.number(text)?;
            }
        }
        Ok(())
    })?;
    Ok(columns)
}

/// All different texts of a column, in the order in which they came. They are numbered until the array is asked for.
#[derive(Debug, Default)]
struct Dictionary {
    numbers: HashMap<Box<str>, i32>,
    values: StringBuilder,
    array: Option<Arc<StringArray>>,
    /// Rows with the same text follow each other more often than not.
    last: String,
    last_number: Option<i32>,
}

impl Dictionary {
    fn number(&mut self, text: &str) -> io::Result<i32> {
        if let Some(number) = self.last_number
            && self.last == text
        {
            return Ok(number);
        }
        let number = match self.numbers.get(text) {
            Some(number) => *number,
            None if self.array.is_some() => {
                return Err(io::Error::other("a text came up that was not there before"));
            }
            None => {
                let number = i32::try_from(self.numbers.len());
                let number = number.map_err(|_| io::Error::other("there are too many texts"))?;
                self.numbers.insert(text.into(), number);
                self.values.append_value(text);
                number
            }
        };
        self.last.clear();
        self.last.push_str(text);
        self.last_number = Some(number);
        Ok(number)
    }

    fn array(&mut self) -> Arc<StringArray> {
        let values = &mut self.values;
        self.array
            .get_or_insert_with(|| Arc::new(values.finish()))
            .clone()
    }
}
