//! A report as a browser sees it: its parts, unpacked from the file.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use rostrace_analyze::Analysis;
use rostrace_report::page::{Options, Page};
use serde_json::Value;

/// What the page tells of the values of a metric: `p99` must be what the column of the metric that ends with `_p99_ns` says.
pub const STATISTICS: &[&str] = &[
    "min",
    "mean",
    "p50",
    "p90",
    "p95",
    "p99",
    "p99_9",
    "max",
    "standard_deviation",
];

pub struct OpenedPage {
    pub html: String,
}

/// One part: what it says, and the columns beside it.
pub struct OpenedPart {
    pub data: Value,
    columns: Vec<u8>,
}

impl OpenedPage {
    pub fn of(analysis: &Analysis<'_>) -> OpenedPage {
        OpenedPage::with(analysis, &Options::default())
    }

    pub fn with(analysis: &Analysis<'_>, options: &Options<'_>) -> OpenedPage {
        let mut html = Vec::new();
        Page::new(analysis, options)
            .unwrap()
            .write(&mut html)
            .unwrap();
        OpenedPage {
            html: String::from_utf8(html).unwrap(),
        }
    }

    pub fn part(&self, name: &str) -> OpenedPart {
        let data = self.block(&format!("{name}-data"));
        let mut data: Value = serde_json::from_slice(&data).unwrap();
        let values = data.as_object_mut().unwrap().values_mut();
        for table in values.filter(|it| it.get("details").is_some()) {
            *table = unpacked(table);
        }
        OpenedPart {
            data,
            columns: self.block(&format!("{name}-columns")),
        }
    }

    fn block(&self, id: &str) -> Vec<u8> {
        let (_, after) = self.html.split_once(&format!("id=\"{id}\">")).unwrap();
        let (text, _) = after.split_once('<').unwrap();
        let packed = STANDARD.decode(text.trim()).unwrap();
        let mut content = Vec::new();
        GzDecoder::new(&packed[..])
            .read_to_end(&mut content)
            .unwrap();
        content
    }
}

/// The rows of a table as objects, as `assets/page/base/data.js` makes them.
fn unpacked(table: &Value) -> Value {
    let array = |key: &str| table[key].as_array().unwrap();
    let rows = array("rows").iter().zip(array("details"));
    let rows = rows.map(|(cells, details)| {
        let mut row = details.clone();
        for (column, cell) in array("columns").iter().zip(cells.as_array().unwrap()) {
            row[column["name"].as_str().unwrap()] = cell.clone();
            if let Some(object) = column["member"][0].as_str() {
                row[object][column["member"][1].as_str().unwrap()] = cell.clone();
            }
        }
        row
    });
    rows.collect()
}

impl OpenedPart {
    /// The numbers that a reference refers to.
    pub fn column(&self, reference: &Value) -> Vec<i64> {
        let at = reference["at"].as_u64().unwrap() as usize;
        let mut bytes = self.columns[at..].iter();
        let mut before = 0i64;
        let mut next = || {
            let mut number = 0u64;
            for shift in (0..).step_by(7) {
                let byte = *bytes.next().unwrap();
                number |= u64::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            before = before.wrapping_add((number >> 1) as i64 ^ -((number & 1) as i64));
            before
        };
        let length = reference["n"].as_u64().unwrap();
        (0..length).map(|_| next()).collect()
    }

    /// The points of a series; none if there is none.
    pub fn series(&self, series: &Value) -> Vec<(i64, i64)> {
        if series.is_null() {
            return Vec::new();
        }
        let (t, v) = (self.column(&series["t"]), self.column(&series["v"]));
        assert_eq!(t.len(), v.len());
        t.into_iter().zip(v).collect()
    }

    pub fn rows(&self, key: &str) -> &[Value] {
        self.data[key].as_array().unwrap()
    }
}
