//! Batches of Arrow as texts, each cell as CSV has it: only types that tables are meant to have.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    DurationNanosecondType, Float64Type, Int32Type, Int64Type, TimestampNanosecondType,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};

pub fn cells(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            found.push(batch.columns().iter().map(|it| cell(it, row)).collect());
        }
    }
    found
}

pub fn cell(array: &dyn Array, row: usize) -> String {
    if array.is_null(row) {
        return String::new();
    }
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        DataType::Dictionary(..) => {
            let texts = array.as_dictionary::<Int32Type>();
            cell(texts.values(), texts.keys().value(row) as usize)
        }
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::Boolean => u8::from(array.as_boolean().value(row)).to_string(),
        DataType::Timestamp(TimeUnit::Nanosecond, Some(zone)) if &**zone == "UTC" => {
            let times = array.as_primitive::<TimestampNanosecondType>();
            times.value(row).to_string()
        }
        DataType::Duration(TimeUnit::Nanosecond) => {
            let durations = array.as_primitive::<DurationNanosecondType>();
            durations.value(row).to_string()
        }
        other => panic!("{other}"),
    }
}
