//! Named paths: add and remove.

use crate::error::{Error, Item};
use crate::model::{Architecture, NamedPath};
use crate::verify::{PathFaultKind, verify};

impl Architecture {
    /// Adds a path that exists in this architecture. Whether its nodes have contexts is another question: see
    /// [`crate::verify()`].
    pub fn add_path(&mut self, path: NamedPath) -> Result<(), Error> {
        if self.path(&path.name).is_ok() {
            return Err(Error::exists(Item::Path, &path.name));
        }
        self.expect_whole(&path)?;
        self.paths.push(path);
        Ok(())
    }

    pub fn remove_path(&mut self, name: &str) -> Result<NamedPath, Error> {
        let index = self.path_index(name)?;
        Ok(self.paths.remove(index))
    }

    pub(super) fn path_index(&self, name: &str) -> Result<usize, Error> {
        let found = self.paths.iter().position(|path| path.name == name);
        found.ok_or_else(|| Error::unknown(Item::Path, name, self.path_names()))
    }

    fn expect_whole(&self, path: &NamedPath) -> Result<(), Error> {
        let faults = verify(self, path);
        let broken = (faults.into_iter()).find(|fault| fault.kind == PathFaultKind::Broken);
        match broken {
            Some(fault) => Err(Error::Path(format!(
                "path `{}`: {}",
                path.name, fault.message
            ))),
            None => Ok(()),
        }
    }
}
