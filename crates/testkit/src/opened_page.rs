//! A report as a browser sees it: its parts, unpacked from the file.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use rostrace_analyze::Analysis;
use rostrace_report::page::{Options, Page};
use serde_json::Value;

/// What the page tells of the values of a metric, and what follows the metric in the name of the column that must say the same.
pub const STATISTICS: &[(&str, &str)] = &[
    ("min", "min_ns"),
    ("mean", "mean_ns"),
    ("p50", "p50_ns"),
    ("p90", "p90_ns"),
    ("p95", "p95_ns"),
    ("p99", "p99_ns"),
    ("p99_9", "p99_9_ns"),
    ("max", "max_ns"),
    ("deviation", "standard_deviation_ns"),
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
        OpenedPart {
            data: serde_json::from_slice(&self.block(&format!("{name}-data"))).unwrap(),
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
