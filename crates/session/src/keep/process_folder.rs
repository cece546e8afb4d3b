//! The folder of a process in a recording: made when there is something to write, removed if there never was.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use crate::clock;
use crate::keep::folder::Folder;
use crate::keep::kept::{Kept, MEMORY_LINK};
use crate::keep::metadata;
use crate::statedump::entry::entries;

impl Kept {
    /// Removes a folder in which nothing was written.
    pub fn remove_if_empty(&mut self) {
        if self.events() + self.discarded() > 0 {
            return;
        }
        if let Some((folder, path)) = self.folder.take() {
            for name in [c"metadata", c"init_0", c".memory"] {
                folder.remove(name);
            }
            let _ = std::fs::remove_dir(&path);
            if let Some(directory) = path.parent().filter(|_| self.made_directory) {
                let _ = std::fs::remove_dir(directory);
            }
        }
    }

    /// Makes the folder of the process, `NAME-PID-STARTED`, with its metadata, if that was not done yet.
    pub(super) fn make_folder(&mut self) -> Result<(), i32> {
        if self.folder.is_some() {
            return Ok(());
        }
        if self.error != 0 {
            return Err(self.error);
        }
        let made = self.new_folder();
        match made {
            Ok((folder, path)) => {
                // Initialisation may have happened in a parent, before there was this memory.
                let memory = self.mapped.memory();
                let first = entries(memory, |all| all.next().map(|entry| entry.time));
                let made = memory.header().made.load(Ordering::Relaxed);
                let begin = first.flatten().unwrap_or(made).min(made);
                match self.init.open(&folder, begin) {
                    Ok(bytes) => self.space.bytes += bytes,
                    Err(error) => self.mapped.note_error(error),
                }
                self.folder = Some((folder, path));
                Ok(())
            }
            Err(error) => {
                self.error = error;
                Err(error)
            }
        }
    }

    fn new_folder(&mut self) -> Result<(Folder, PathBuf), i32> {
        let directory = PathBuf::from(OsStr::from_bytes(&self.command.directory));
        // The recorder has made it; a process that records by itself has not.
        if !directory.is_dir() {
            std::fs::create_dir_all(&directory)
                .map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
            self.made_directory = true;
        }
        let parent = Folder::open(&directory)?;
        let header = self.mapped.memory().header();
        let identity = header.identity();
        let name = format!(
            "{}-{}-{}",
            file_name(&identity.name),
            identity.pid,
            identity.start_time
        );
        // Under a hidden name first, which is the same for whoever has to do it again: readers find all of it or nothing.
        let hidden = CString::new(format!(".{name}")).map_err(|_| libc::EINVAL)?;
        let folder = parent.make(&hidden)?;
        if let Err(error) = self.describe(&folder) {
            parent.remove_folder(&hidden);
            return Err(error);
        }
        for attempt in 0..10_000 {
            let name = match attempt {
                0 => name.clone(),
                more => format!("{name}-{more}"),
            };
            let text = CString::new(name.as_str()).map_err(|_| libc::EINVAL)?;
            match parent.rename(&hidden, &text) {
                Ok(()) => return Ok((folder, directory.join(name))),
                // The process has recorded here before.
                Err(libc::EEXIST) => {}
                Err(error) => return Err(error),
            }
        }
        Err(libc::EEXIST)
    }

    /// Writes what readers need before the first stream exists.
    fn describe(&self, folder: &Folder) -> Result<(), i32> {
        let clock_offset = self.command.clock_offset.unwrap_or_else(clock::offset);
        let header = self.mapped.memory().header();
        let text = metadata::text(header, self.uuid, clock_offset);
        folder.write_at_once(c"metadata", c".metadata", text.as_bytes())?;
        // Empty where there is no file: it still says that the trace is not complete.
        let path = self.mapped.path().map(|path| path.as_os_str().as_bytes());
        let link = CString::new(MEMORY_LINK).unwrap_or_default();
        folder.write_at_once(&link, c".memory-new", path.unwrap_or_default())
    }
}

/// The name of a program, fit for the name of a folder.
fn file_name(name: &[u8; 16]) -> String {
    let name: String = name
        .iter()
        .take_while(|byte| **byte != 0)
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'+' => *byte as char,
            _ => '_',
        })
        .collect();
    match name.trim_start_matches('.') {
        "" => "process".to_owned(),
        name => name.to_owned(),
    }
}
