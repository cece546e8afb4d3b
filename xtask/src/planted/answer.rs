//! What `rostrace why --format json` answers, read.

use anyhow::{Context, Result};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AnswerPart {
    pub(super) cause: String,
    pub(super) callback: String,
    pub(super) relation: String,
    /// The thread that ran instead, where it is named.
    pub(super) ran_instead: Option<i64>,
    /// Something ran instead, named or not.
    pub(super) has_ran_instead: bool,
    /// The thread that held a lock, where it is named.
    pub(super) held_by: Option<i64>,
    pub(super) begin: i64,
    pub(super) duration: i64,
}

impl AnswerPart {
    pub(super) fn end(&self) -> i64 {
        self.begin + self.duration
    }

    /// How much of it lies in a span of time.
    pub(super) fn within(&self, begin: i64, end: i64) -> i64 {
        (self.end().min(end) - self.begin.max(begin)).max(0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) begin: i64,
    pub(super) end: i64,
    pub(super) total: i64,
    pub(super) parts: Vec<AnswerPart>,
    /// What it says of a message that did not arrive: the reason by its name, and every text outside of the parts.
    pub(super) drop_cause: Option<String>,
    pub(super) said: Vec<String>,
}

impl Answer {
    pub(super) fn read(text: &str) -> Result<Answer> {
        let value: Value = serde_json::from_str(text).context("the answer is no JSON")?;
        let parts = value["parts"].as_array().map_or(&[][..], Vec::as_slice);
        let mut said = Vec::new();
        for (name, member) in value.as_object().into_iter().flatten() {
            let text = member.as_str().filter(|_| name != "subject");
            said.extend(text.map(str::to_owned));
        }
        if value["arrived"] == Value::Bool(false) {
            said.push("lost".to_owned());
        }
        // Of a lost message there may be a part as well, or nothing but words.
        for part in parts {
            said.extend(part["cause"].as_str().map(str::to_owned));
        }
        Ok(Answer {
            begin: value["begin_ns"].as_i64().unwrap_or(0),
            end: value["end_ns"].as_i64().unwrap_or(0),
            total: value["total_ns"].as_i64().unwrap_or(0),
            parts: parts.iter().map(part).collect::<Result<_>>()?,
            drop_cause: value["drop_cause"].as_str().map(str::to_owned),
            said,
        })
    }

    /// Why its parts are not the whole, to the nanosecond.
    pub(super) fn gap(&self) -> Option<String> {
        if self.total != self.end - self.begin {
            return Some(format!(
                "{} ns is not the time from begin to end, {} ns",
                self.total,
                self.end - self.begin
            ));
        }
        let mut at = self.begin;
        for part in &self.parts {
            if part.begin != at || part.duration < 0 {
                return Some(format!(
                    "the part `{}` does not begin where the one before it ends",
                    part.cause
                ));
            }
            at = part.end();
        }
        (at != self.end && !self.parts.is_empty())
            .then(|| format!("the parts end {} ns too early", self.end - at))
    }
}

fn part(value: &Value) -> Result<AnswerPart> {
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let number = |name: &str| {
        value[name]
            .as_i64()
            .with_context(|| format!("a part has no `{name}`"))
    };
    let instead = ["preempted_by_tid", "ran_instead_tid"];
    let instead = instead.iter().find_map(|name| value[*name].as_i64());
    Ok(AnswerPart {
        cause: text("cause"),
        callback: text("callback"),
        relation: text("relation"),
        ran_instead: instead,
        has_ran_instead: instead.is_some() || value["ran_instead"].is_string(),
        held_by: value["lock"]["by_tid"].as_i64(),
        begin: number("begin_ns")?,
        duration: number("duration_ns")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"subject": "/a", "kind": "callback", "begin_ns": 10, "end_ns": 30, "total_ns": 20, "parts": [
        {"hop": 0, "cause": "execution", "callback": "/a", "begin_ns": 10, "duration_ns": 5},
        {"hop": 0, "cause": "preempted", "preempted_by": "hog", "preempted_by_tid": 7, "begin_ns": 15, "duration_ns": 15}]}"#;

    #[test]
    fn parts_are_read_with_who_is_blamed() {
        let answer = Answer::read(TEXT).unwrap();
        assert_eq!(answer.gap(), None);
        assert_eq!(answer.parts[1].ran_instead, Some(7));
        assert_eq!(answer.parts[0].within(12, 40), 3);
    }

    #[test]
    fn parts_that_do_not_add_up_are_noticed() {
        let mut answer = Answer::read(TEXT).unwrap();
        answer.parts[1].duration -= 1;
        assert!(answer.gap().is_some());
        let mut answer = Answer::read(TEXT).unwrap();
        answer.parts[1].begin += 1;
        assert!(answer.gap().is_some());
        let mut answer = Answer::read(TEXT).unwrap();
        answer.total += 1;
        assert!(answer.gap().is_some());
    }
}
