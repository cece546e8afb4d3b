//! A file that leads a browser to the timeline.
//!
//! The arguments of a program can be read by every user of a machine, and the address of the timeline has a token in it. So the browser is
//! started with a file that only its owner can read, and goes on from there. The file is deleted as soon as the token was used.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

#[derive(Debug)]
pub(super) struct RedirectPage {
    folder: TempDir,
    file: PathBuf,
    deleted: OnceLock<()>,
}

impl RedirectPage {
    /// Writes a page that leads to an address.
    pub(super) fn write(address: &str) -> io::Result<RedirectPage> {
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let place = runtime.filter(|path| path.is_dir());
        let place = place.unwrap_or_else(std::env::temp_dir);
        // Nobody else can look into such a folder.
        let folder = tempfile::Builder::new()
            .prefix("rostrace-timeline-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(place)?;
        let page = RedirectPage {
            file: folder.path().join("timeline.html"),
            folder,
            deleted: OnceLock::new(),
        };
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&page.file)?;
        writeln!(
            file,
            "<!doctype html><meta charset=utf-8><title>rostrace</title>\
             <meta name=referrer content=no-referrer><meta http-equiv=refresh content=\"0; url={address}\">"
        )?;
        Ok(page)
    }

    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    /// Before it goes by itself, when it is no longer needed.
    pub(super) fn delete(&self) {
        self.deleted.get_or_init(|| {
            let _ = std::fs::remove_file(&self.file);
            let _ = std::fs::remove_dir(self.folder.path());
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_owner_can_read_the_page_and_it_goes_when_it_was_used() {
        let page = RedirectPage::write("http://127.0.0.1:1/?token=abc").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(page.path()), 0o600);
        assert_eq!(mode(page.folder.path()), 0o700);
        let text = std::fs::read_to_string(page.path()).unwrap();
        assert!(
            text.contains("url=http://127.0.0.1:1/?token=abc\""),
            "{text}"
        );
        page.delete();
        assert!(!page.folder.path().exists());
    }
}
