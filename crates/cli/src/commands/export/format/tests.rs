//! All formats keep all values, also those that no recording has.

use std::fs::{self, File};
use std::io;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_ipc::reader::FileReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rostrace_analyze::table::{Cell, ColumnKind, Role, Sink};

use crate::commands::export::ExportFormat;
use crate::commands::export::schema::{Field, Rows, Schema};
use rostrace_testkit::arrow_cells::{cell, cells};

fn field(name: &str, kind: ColumnKind, optional: bool) -> Field {
    Field {
        name: name.to_owned(),
        kind,
        role: Role::Nothing,
        optional,
        about: format!("What {name} means."),
    }
}

fn schema() -> Schema {
    Schema {
        about: "A row.".to_owned(),
        fields: vec![
            field("name, \"quoted\"", ColumnKind::Text, false),
            field("alias", ColumnKind::Text, true),
            field("integer", ColumnKind::Integer, false),
            field("number", ColumnKind::Number, false),
            field("flag", ColumnKind::Flag, false),
            field("time_ns", ColumnKind::Time, true),
            field("duration_ns", ColumnKind::Duration, true),
        ],
    }
}

/// Names that make trouble, one for each row.
fn hostile() -> Vec<String> {
    let short = [
        "",
        "plain",
        "a,b",
        "say \"hi\"",
        "\"",
        "two\nlines",
        "dos\r\n",
        "\r",
        " spaces ",
        "שלום/مرحبا\u{202e}",
        "tab\t\u{1}\u{7f}",
        "=1+1",
        "null",
        "🤖",
        "\u{feff}",
        "a\\b/c",
    ];
    let long = ["x".repeat(5_000), "\",\n".repeat(1_700)];
    short.map(str::to_owned).into_iter().chain(long).collect()
}

const NUMBERS: [f64; 6] = [0.1, -0.0, f64::NAN, f64::INFINITY, 1e300, f64::MIN_POSITIVE];
const INTEGERS: [i64; 4] = [0, -1, i64::MIN, i64::MAX];

fn rows(take: Sink<'_>) -> io::Result<()> {
    for (number, name) in hostile().iter().enumerate() {
        let integer = INTEGERS[number % INTEGERS.len()];
        let every_third = (number % 3 == 0).then_some(integer);
        take(&[
            name.into(),
            (number % 2 == 0).then_some(name).into(),
            integer.into(),
            NUMBERS[number % NUMBERS.len()].into(),
            (number % 2 == 1).into(),
            every_third.into(),
            every_third.into(),
        ])?;
    }
    Ok(())
}

fn written(format: ExportFormat, schema: &Schema, rows: &Rows<'_>) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    format.write(schema, rows, file.as_file()).unwrap();
    file
}

/// Each row as CSV would have its cells.
fn expected() -> Vec<Vec<String>> {
    let mut expected = Vec::new();
    rows(&mut |row| {
        let text = |cell: &Cell<'_>| match cell {
            Cell::Nothing => String::new(),
            Cell::Text(text) => (*text).to_owned(),
            Cell::Integer(integer) => integer.to_string(),
            Cell::Number(number) if number.is_finite() => number.to_string(),
            Cell::Number(_) => String::new(),
            Cell::Flag(flag) => u8::from(*flag).to_string(),
        };
        expected.push(row.iter().map(text).collect());
        Ok(())
    })
    .unwrap();
    expected
}

fn read_arrow(file: &File) -> Vec<RecordBatch> {
    let reader = FileReader::try_new(file, None).unwrap();
    reader.map(Result::unwrap).collect()
}

fn read_parquet(file: &File) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(file.try_clone().unwrap()).unwrap();
    reader.build().unwrap().map(Result::unwrap).collect()
}

#[test]
fn csv_quotes_what_needs_it_and_nothing_else() {
    let file = written(ExportFormat::Csv, &schema(), &rows);
    let mut reader = csv::Reader::from_path(file.path()).unwrap();
    assert_eq!(&reader.headers().unwrap()[0], "name, \"quoted\"");
    let found: Vec<Vec<String>> = reader
        .records()
        .map(|row| row.unwrap().iter().map(str::to_owned).collect())
        .collect();
    assert_eq!(found, expected());

    // Byte for byte as the crate writes it.
    let mut writer = csv::Writer::from_writer(Vec::new());
    let schema = schema();
    writer
        .write_record(schema.fields.iter().map(|field| &field.name))
        .unwrap();
    for row in expected() {
        writer.write_record(row).unwrap();
    }
    let bytes = fs::read(file.path()).unwrap();
    assert!(bytes == writer.into_inner().unwrap());
}

#[test]
fn the_only_cell_of_a_row_of_csv_makes_no_empty_line() {
    let schema = Schema {
        about: String::new(),
        fields: vec![field("only", ColumnKind::Integer, true)],
    };
    let rows = |take: Sink<'_>| {
        take(&[Cell::Nothing])?;
        take(&[Cell::Integer(1)])
    };
    let file = written(ExportFormat::Csv, &schema, &rows);
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "only\n\"\"\n1\n");
}

#[test]
fn json_is_one_array_with_an_object_on_each_line() {
    let file = written(ExportFormat::Json, &schema(), &rows);
    let text = fs::read_to_string(file.path()).unwrap();
    let found: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(text.lines().count(), found.len() + 2);
    let schema = schema();
    let cells: Vec<Vec<String>> = found
        .iter()
        .map(|row| {
            assert_eq!(row.as_object().unwrap().len(), schema.fields.len());
            let values = schema.fields.iter().map(|field| &row[&field.name]);
            let text = |value: &serde_json::Value| match value {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Bool(flag) => u8::from(*flag).to_string(),
                number if number.is_f64() => number.as_f64().unwrap().to_string(),
                number => number.to_string(),
            };
            values.map(text).collect()
        })
        .collect();
    assert_eq!(cells, expected());
}

#[test]
fn arrow_and_parquet_have_the_values_the_types_and_the_descriptions() {
    let arrow = read_arrow(written(ExportFormat::Arrow, &schema(), &rows).as_file());
    assert_eq!(cells(&arrow), expected());
    let parquet = read_parquet(written(ExportFormat::Parquet, &schema(), &rows).as_file());
    assert_eq!(cells(&parquet), expected());
    for batch in [&arrow[0], &parquet[0]] {
        let schema = batch.schema();
        let nullable = schema.fields().iter().map(|field| field.is_nullable());
        let nullable: Vec<bool> = nullable.collect();
        assert_eq!(nullable, [false, true, false, true, false, true, true]);
        assert_eq!(
            schema.field(4).metadata()["description"],
            "What flag means."
        );
    }
}

#[test]
fn a_table_of_many_batches_has_one_dictionary() {
    let many = |take: Sink<'_>| {
        for number in 0..150_000i64 {
            let name = format!("name {}", number / 1_000);
            let time = Cell::Integer(number);
            take(&[
                Cell::Text(&name),
                Cell::Nothing,
                time,
                Cell::Number(0.5),
                Cell::Flag(true),
                time,
                time,
            ])?;
        }
        Ok(())
    };
    let batches = read_arrow(written(ExportFormat::Arrow, &schema(), &many).as_file());
    let lengths: Vec<usize> = batches.iter().map(RecordBatch::num_rows).collect();
    assert!(lengths.len() > 2, "{lengths:?}");
    assert_eq!(lengths.iter().sum::<usize>(), 150_000);
    let names = batches[0].column(0).as_dictionary::<Int32Type>().values();
    assert_eq!(names.len(), 150);
    let last = batches.last().unwrap();
    assert_eq!(cell(last.column(0), last.num_rows() - 1), "name 149");
    let parquet = read_parquet(written(ExportFormat::Parquet, &schema(), &many).as_file());
    assert_eq!(
        parquet.iter().map(RecordBatch::num_rows).sum::<usize>(),
        150_000
    );
}

#[test]
fn tables_without_rows_or_columns_can_be_read() {
    let nothing = Schema {
        about: String::new(),
        fields: Vec::new(),
    };
    let none = |_: Sink<'_>| Ok(());
    for schema in [&schema(), &nothing] {
        for format in [ExportFormat::Arrow, ExportFormat::Parquet] {
            let file = written(format, schema, &none);
            let batches = match format {
                ExportFormat::Arrow => read_arrow(file.as_file()),
                _ => read_parquet(file.as_file()),
            };
            assert!(cells(&batches).is_empty());
        }
        let json = fs::read_to_string(written(ExportFormat::Json, schema, &none).path()).unwrap();
        assert_eq!(json, "[\n]\n");
    }
    let csv = written(ExportFormat::Csv, &nothing, &none);
    assert_eq!(fs::read_to_string(csv.path()).unwrap(), "\n");
}

#[test]
fn an_error_of_the_disk_keeps_its_words() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let many = |take: Sink<'_>| {
        for _ in 0..30_000 {
            rows(take)?;
        }
        Ok(())
    };
    // Little data, so that Arrow and Parquet notice at the end; and too much for any buffer.
    for format in [
        ExportFormat::Arrow,
        ExportFormat::Parquet,
        ExportFormat::Csv,
        ExportFormat::Json,
    ] {
        let error = format.write(&schema(), &rows, &full).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(28), "{format:?}: {error}");
    }
    for format in [ExportFormat::Csv, ExportFormat::Json] {
        let error = format.write(&schema(), &many, &full).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(28), "{format:?}: {error}");
    }
}
