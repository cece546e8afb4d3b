//! Recordings of real programs, which are not part of the repository, and what is in a report of them.
//!
//! They lie in a folder `shared/traces` beside the repository or further up; `ROSTRACE_SHARED` names another place. Where
//! they are absent the tests that need them say so and pass.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod opened_page;
pub mod recordings;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use rostrace_analyze::Analysis;
use rostrace_analyze::table::{Cell, TABLES};
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_report::page::{Options, Page};
use rostrace_trace::Model;
use serde_json::{Value, json};

/// A folder below `shared`, such as `traces/jazzy/chain`, if there is one.
pub fn shared(name: &str) -> Option<PathBuf> {
    let from_environment = std::env::var_os("ROSTRACE_SHARED").map(PathBuf::from);
    let shared = from_environment.or_else(|| {
        let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let mut beside = above.map(|folder| folder.join("shared"));
        beside.find(|folder| folder.join("traces").is_dir())
    });
    let found = shared
        .map(|shared| shared.join(name))
        .filter(|path| path.exists());
    if found.is_none() {
        eprintln!("NOT TESTED: there is no shared/{name}; set ROSTRACE_SHARED to its folder");
    }
    found
}

pub fn load(name: &str) -> Option<Model> {
    let folder = shared(&format!("traces/{name}"))?;
    let set = TraceSet::open(&[&folder]).unwrap();
    Some(Model::load(&set, &mut |_| true))
}

pub fn everything(model: &Model) -> Analysis<'_> {
    Analysis::new(model, Nanos(i64::MIN)..=Nanos(i64::MAX))
}

/// A part of a report, unpacked.
pub struct Unpacked {
    pub data: Value,
    columns: Vec<u8>,
}

/// The report as it is written.
pub fn written(analysis: &Analysis<'_>, options: &Options<'_>) -> String {
    let mut page = Vec::new();
    Page::new(analysis, options)
        .unwrap()
        .write(&mut page)
        .unwrap();
    String::from_utf8(page).unwrap()
}

impl Unpacked {
    pub fn of(page: &str, part: &str) -> Unpacked {
        Unpacked {
            data: serde_json::from_slice(&block(page, &format!("{part}-data"))).unwrap(),
            columns: block(page, &format!("{part}-columns")),
        }
    }

    /// The numbers that a reference means.
    pub fn column(&self, reference: &Value) -> Vec<i64> {
        let at = reference["at"].as_u64().unwrap() as usize;
        let mut bytes = self.columns[at..].iter();
        let mut before = 0i64;
        let number = reference["n"].as_u64().unwrap();
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
        (0..number).map(|_| next()).collect()
    }
}

fn block(page: &str, id: &str) -> Vec<u8> {
    let begin = format!("id=\"{id}\">");
    let at = page.find(&begin).unwrap() + begin.len();
    let packed = &page[at..at + page[at..].find('<').unwrap()];
    let mut content = Vec::new();
    let packed = STANDARD.decode(packed.trim()).unwrap();
    GzDecoder::new(packed.as_slice())
        .read_to_end(&mut content)
        .unwrap();
    content
}

/// The rows of an exported table, by the names of its columns.
pub fn table(analysis: &Analysis<'_>, name: &str) -> Vec<BTreeMap<&'static str, Value>> {
    let table = TABLES.iter().find(|table| table.name == name).unwrap();
    let mut rows = Vec::new();
    (table.rows)(analysis, &mut |cells| {
        let cells = cells.iter().map(|cell| match cell {
            Cell::Nothing => Value::Null,
            Cell::Text(text) => json!(text),
            Cell::Integer(integer) => json!(integer),
            Cell::Number(number) => json!(number),
            Cell::Flag(flag) => json!(flag),
        });
        let names = table.columns.iter().map(|column| column.name);
        rows.push(names.zip(cells).collect());
        Ok(())
    })
    .unwrap();
    rows
}
