//! Places for traces that are full, read-only, gone or slow. They are mounted for one run and need root.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::case::Storage;

/// What the slow disk writes in a second.
const SLOW_BYTES: u32 = 4 << 20;
const THROTTLE: &str = "/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device";

/// A place, and what must be undone.
#[derive(Debug)]
pub(crate) struct Mounted {
    pub(crate) folder: PathBuf,
    is_mounted: bool,
    /// The loop device, and its number.
    device: Option<(String, String)>,
}

/// Why such a place cannot be made here; None if it can.
pub(crate) fn reason_without(place: Storage) -> Option<&'static str> {
    let is_root = super::user::is_root();
    match place {
        Storage::Plain | Storage::Deleted => None,
        _ if !is_root => Some("file systems are mounted by root only"),
        Storage::Slow if !Path::new("/dev/loop-control").exists() => {
            Some("there are no loop devices")
        }
        Storage::Slow if !Path::new(THROTTLE).exists() => Some(
            "there is no blkio.throttle.write_bps_device (version 1 of control groups) to slow a disk down with",
        ),
        _ => None,
    }
}

fn succeed(command: &mut Command) -> Result<String> {
    let line = crate::step::command_line(command);
    let output = command
        .output()
        .with_context(|| format!("`{line}` could not be started"))?;
    if !output.status.success() {
        bail!(
            "`{line}`: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Mounted {
    /// The place where a run in `folder` writes its traces.
    pub(crate) fn new(place: Storage, folder: &Path) -> Result<Mounted> {
        let mut mounted = Mounted {
            folder: folder.join("place"),
            is_mounted: false,
            device: None,
        };
        std::fs::create_dir_all(&mounted.folder)?;
        match place {
            Storage::Plain | Storage::Deleted => {}
            Storage::Full => mounted.mount(&["-t", "tmpfs", "-o", "size=1M", "torture"])?,
            Storage::ReadOnly => mounted.mount(&["-t", "tmpfs", "-o", "ro,size=1M", "torture"])?,
            Storage::Slow => mounted.slow(&folder.join("disk.img"))?,
        }
        Ok(mounted)
    }

    fn mount(&mut self, arguments: &[&str]) -> Result<()> {
        succeed(Command::new("mount").args(arguments).arg(&self.folder))?;
        self.is_mounted = true;
        Ok(())
    }

    /// An ext4 of its own, with a journal, on a device that writes slowly.
    fn slow(&mut self, image: &Path) -> Result<()> {
        std::fs::File::create(image)?.set_len(256 << 20)?;
        succeed(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(image))?;
        let device = succeed(
            Command::new("losetup")
                .args(["--find", "--show"])
                .arg(image),
        )?;
        let number = succeed(Command::new("lsblk").args(["-dno", "MAJ:MIN", &device]))
            .map(|number| number.trim().to_owned());
        self.device = Some((device.clone(), number.as_deref().unwrap_or("").to_owned()));
        self.mount(&[&device])?;
        std::fs::write(THROTTLE, format!("{} {SLOW_BYTES}", number?))
            .with_context(|| format!("{THROTTLE} could not be written"))?;
        Ok(())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Some((_, number)) = &self.device {
            let _ = std::fs::write(THROTTLE, format!("{number} 0"));
        }
        if self.is_mounted
            && succeed(Command::new("umount").arg(&self.folder)).is_err()
            && let Err(error) = succeed(Command::new("umount").arg("--lazy").arg(&self.folder))
        {
            eprintln!("torture: {error:#}");
        }
        if let Some((device, _)) = &self.device
            && let Err(error) = succeed(Command::new("losetup").args(["--detach", device]))
        {
            eprintln!("torture: {error:#}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_place_needs_nothing() {
        assert_eq!(reason_without(Storage::Plain), None);
        assert_eq!(reason_without(Storage::Deleted), None);
    }
}
