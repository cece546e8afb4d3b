//! `rostrace snapshot`: a copy of what is recorded, while the processes go on.

use rostrace_record::snapshot as copy;

use super::record::arguments::SnapshotArguments;
use super::record::{find, new_folder, shown};
use crate::outcome::Outcome;
use crate::render::diagnostic;
use rostrace_base::units;

pub(crate) fn snapshot(arguments: &SnapshotArguments) -> anyhow::Result<Outcome> {
    let session = find(&arguments.session)?;
    let to = new_folder(arguments.output.as_deref())?;
    let (folder, processes) = copy::take(&session, &to)?;
    diagnostic::note(&format!(
        "{} copied: {}",
        units::counted(processes, "process"),
        shown(&folder)
    ));
    Ok(Outcome::Fine)
}
