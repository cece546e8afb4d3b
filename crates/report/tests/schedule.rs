//! The schedule of a report against the exported executions and timers.

use crate::recordings::{everything, model};
use crate::support::table;
use rostrace_testkit::opened_page::OpenedPage;

/// Start, thread, end, lateness.
type Execution = (i64, i64, Option<i64>, Option<i64>);

#[test]
fn every_execution_is_in_the_schedule_and_timers_are_as_late_as_the_table_says() {
    for name in [
        "jazzy/chain_caret",
        "jazzy/executors",
        "jazzy/lossy",
        "jazzy/timers",
        "jazzy/multi_caret",
        "humble/timers_caret",
    ] {
        let Some(model) = model(name) else { return };
        let analysis = everything(&model);
        let page = OpenedPage::of(&analysis);
        let begin = page.part("overview").data["begin_ns"].clone();
        let begin: i64 = begin.as_str().unwrap().parse().unwrap();
        let schedule = page.part("schedule");
        let mut ours: Vec<Execution> = Vec::new();
        for callback in schedule.data["callbacks"].as_array().unwrap() {
            let starts = schedule.column(&callback["start"]);
            let durations = schedule.column(&callback["duration"]);
            let threads = schedule.column(&callback["thread"]);
            let lateness = match &callback["lateness"] {
                serde_json::Value::Null => vec![0; starts.len()],
                column => schedule.column(column),
            };
            for (((start, duration), thread), late) in
                starts.iter().zip(durations).zip(threads).zip(lateness)
            {
                let tid = schedule.data["threads"][thread as usize]["tid"].as_i64();
                let end = (duration >= 0).then_some(begin + start + duration);
                let late = (late != 0).then_some(late - i64::from(late > 0));
                ours.push((begin + start, tid.unwrap(), end, late));
            }
        }
        let rows = table(&analysis, "callback_instances");
        let mut theirs: Vec<Execution> = rows
            .iter()
            .map(|row| {
                let number = |column: &str| row[column].as_i64();
                (
                    number("start_ns").unwrap(),
                    number("tid").unwrap(),
                    number("end_ns"),
                    number("lateness_ns"),
                )
            })
            .collect();
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours, theirs, "{name}");
        assert_eq!(
            schedule.data["shown"], schedule.data["executions"],
            "{name}"
        );
    }
}
