//! A folder that is made for results, with those that it lies in: what is still empty in the end goes again, so that a command that
//! fails leaves nothing behind.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

#[derive(Debug)]
pub(crate) struct ResultFolder {
    /// Those that did not exist, the innermost first.
    made: Vec<PathBuf>,
}

impl ResultFolder {
    pub(crate) fn make(folder: &Path) -> anyhow::Result<ResultFolder> {
        let named = folder.ancestors().filter(|it| !it.as_os_str().is_empty());
        let made = named.take_while(|it| !it.exists());
        let made = ResultFolder {
            made: made.map(Path::to_owned).collect(),
        };
        fs::create_dir_all(folder)
            .with_context(|| format!("{}: cannot be created", folder.display()))?;
        Ok(made)
    }
}

impl Drop for ResultFolder {
    fn drop(&mut self) {
        for folder in &self.made {
            // Refused where there is something in it.
            let _ = fs::remove_dir(folder);
        }
    }
}
