//! A counter of a process. The format has differences and adds them up.

use std::io::{self, Write};

use serde_json::json;

use super::super::json;
use super::super::sink::CounterUnit;
use super::milliseconds;

#[derive(Debug)]
pub(super) struct Counter {
    pub(super) name: String,
    pub(super) unit: CounterUnit,
    pub(super) pid: String,
    /// The thread that stands for the process.
    pub(super) thread: u32,
    times: Vec<u8>,
    differences: Vec<u8>,
    length: u64,
    sum: f64,
}

impl Counter {
    pub(super) fn new(name: &str, unit: CounterUnit, pid: String, thread: u32) -> Counter {
        Counter {
            name: name.to_owned(),
            unit,
            pid,
            thread,
            times: Vec::new(),
            differences: Vec::new(),
            length: 0,
            sum: 0.0,
        }
    }

    pub(super) fn push(&mut self, at: i64, value: f64) -> io::Result<()> {
        let difference = value - self.sum;
        if !difference.is_finite() {
            return Ok(());
        }
        if self.length > 0 {
            self.times.push(b',');
            self.differences.push(b',');
        }
        milliseconds(&mut self.times, at)?;
        json::real(&mut self.differences, difference)?;
        self.sum += difference;
        self.length += 1;
        Ok(())
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let (category, unit, format) = match self.unit {
            CounterUnit::Bytes => ("Memory", "bytes", "bytes"),
            CounterUnit::Unknown => ("counter", "", "number"),
        };
        let display = json!({
            "graphType": "line-accumulated",
            "unit": unit,
            "color": "orange",
            "markerSchemaLocation": null,
            "sortWeight": 20,
            "label": self.name,
            "tooltipRows": [
                {"type": "value", "source": "accumulated", "format": {"unit": format}, "label": self.name},
            ],
        });
        let head = json!({
            "name": self.name,
            "category": category,
            "description": self.name,
            "pid": self.pid,
            "mainThreadIndex": self.thread,
            "display": display,
        });
        let mut head = head.to_string();
        head.pop();
        write!(
            bytes,
            "{head},\"samples\":{{\"length\":{},\"time\":[",
            self.length
        )?;
        bytes.extend_from_slice(&self.times);
        bytes.extend_from_slice(b"],\"count\":[");
        bytes.extend_from_slice(&self.differences);
        bytes.extend_from_slice(b"]}}");
        Ok(())
    }
}
