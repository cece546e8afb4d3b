//! What the trace lacks, before anything else: a note that nobody can overlook, and the windows in which events were lost.

use std::io;

use rostrace_ctf::Damage;
use rostrace_ctf::schema::Nanos;

use super::super::label::{Common, Labels};
use super::super::lanes::Lanes;
use super::super::sink::{Argument, Sink, TrackKind};
use super::{TimelineModel, labelled};

impl<S: Sink> TimelineModel<'_, S> {
    pub(super) fn damage(&mut self, damage: &[Damage]) -> io::Result<()> {
        let mut rows: Vec<&Damage> = damage.iter().collect();
        let losses = rows.iter().filter(|row| row.kind.is_loss()).count();
        let model = self.analysis.model;
        let hosts: Vec<&str> = model.hosts.iter().map(|host| host.name.as_str()).collect();
        let said = match losses {
            0 => "nothing was lost".to_owned(),
            1 => "1 loss: see the track `damage`".to_owned(),
            more => format!("{more} losses: see the track `damage`"),
        };
        self.sink.notes(&[
            ("rostrace.version", env!("CARGO_PKG_VERSION").to_owned()),
            (
                "rostrace.begin_ns",
                super::beginning(self.analysis).0.to_string(),
            ),
            ("rostrace.end_ns", self.end.0.to_string()),
            ("rostrace.hosts", hosts.join(", ")),
            ("rostrace.damage", said),
        ])?;
        if rows.is_empty() {
            return Ok(());
        }
        let span = |row: &Damage| {
            let begin = row.begin.or(row.end).unwrap_or(self.begin);
            let end = row.end.unwrap_or(begin).max(begin);
            let inside = |at: Nanos| at.clamp(self.begin, self.end);
            (inside(begin), inside(end))
        };
        rows.sort_by_key(|row| {
            let (begin, end) = span(row);
            (begin, std::cmp::Reverse(end))
        });
        let spans: Vec<(Nanos, Nanos)> = rows.iter().map(|row| span(row)).collect();
        let mut lanes = Lanes::default();
        let mut tracks = Vec::new();
        for (row, (begin, end)) in rows.into_iter().zip(spans) {
            let is_timed = row.begin.or(row.end).is_some();
            let lane = lanes.place(begin, end);
            while tracks.len() <= lane {
                tracks.push(self.track(None, TrackKind::Named("damage"))?);
            }
            let mut arguments = vec![
                ("what", Argument::Text(&row.message)),
                ("trace", Argument::Text(&row.trace)),
                ("when_is_known", Argument::Flag(is_timed)),
            ];
            if let Some(count) = row.count {
                arguments.push(("count", Argument::Integer(count as i64)));
            }
            let mut event = labelled(
                &self.labels,
                tracks[lane],
                begin,
                Labels::common(Common::Damage),
            );
            event.end = (end > begin).then_some(end);
            event.name = Some(row.kind.name());
            event.arguments = &arguments;
            self.sink.event(&event)?;
        }
        for track in tracks {
            self.sink.close(track)?;
        }
        Ok(())
    }
}
