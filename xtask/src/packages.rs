//! The Debian packages that the tests need, declared once, and their installation.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::step::succeed;

#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: &'static str,
    /// The program that shows that the package is there, wherever it came from.
    pub(crate) program: &'static str,
    pub(crate) purpose: &'static str,
}

pub(crate) const PACKAGES: &[Package] = &[
    Package {
        name: "babeltrace2",
        program: "babeltrace2",
        purpose: "the reader that ours is compared with (2.0.4, the version of Debian 12)",
    },
    Package {
        name: "zstd",
        program: "zstd",
        purpose: "unpacks the large recordings",
    },
    Package {
        name: "python3",
        program: "python3",
        purpose: "runs the score tool",
    },
    Package {
        name: "python3-pip",
        program: "pip3",
        purpose: "brings Perfetto's definitions of its format",
    },
    Package {
        name: "g++",
        program: "c++",
        purpose: "compiles the small programs that the tests record",
    },
    Package {
        name: "lttng-tools",
        program: "lttng",
        purpose: "records the same processes at the same time",
    },
    Package {
        name: "liblttng-ust-dev",
        program: "lttng-gen-tp",
        purpose: "the tracer that calls are passed on to",
    },
    Package {
        name: "chromium",
        program: "chromium",
        purpose: "opens reports and timelines",
    },
    Package {
        name: "chromium-driver",
        program: "chromedriver",
        purpose: "lets the tests drive it",
    },
];

/// What `cargo xtask bench` needs beyond.
pub(crate) const FOR_BENCHMARKS: &[Package] = &[
    Package {
        name: "babeltrace2",
        program: "babeltrace2",
        purpose: "the reader that ours is compared with",
    },
    Package {
        name: "lttng-tools",
        program: "lttng",
        purpose: "the recorder that ours is compared with",
    },
    Package {
        name: "liblttng-ust-dev",
        program: "lttng-gen-tp",
        purpose: "the tracer that ours is compared with",
    },
    Package {
        name: "gcc",
        program: "cc",
        purpose: "compiles the program whose events are recorded",
    },
];

/// Installs what the tests need.
pub(crate) fn ensure_installed() -> Result<()> {
    ensure(PACKAGES)
}

/// Programs and definitions from PyPI that single tests use: a file of requirements, and the folder that they are put into.
#[derive(Debug)]
pub(crate) struct FromPyPi {
    requirements: &'static str,
    folder: &'static str,
    /// What is not tested without it.
    pub(crate) without: &'static str,
}

pub(crate) const FROM_PYPI: [FromPyPi; 2] = [
    FromPyPi {
        requirements: "crates/report/tests/timeline/requirements.txt",
        folder: "target/perfetto-schema",
        without: "Perfetto's definitions cannot be had, so its files were read by our own reader only",
    },
    FromPyPi {
        requirements: "crates/cli/tests/export/requirements.txt",
        folder: "target/table-programs",
        without: "DuckDB and Polars cannot be had, so the questions of the documents were not asked",
    },
];

impl FromPyPi {
    /// Puts it where the tests look for it. Without a network there is none, and the tests say so.
    pub(crate) fn install(&self, root: &Path) -> Result<()> {
        let (requirements, folder) = (root.join(self.requirements), root.join(self.folder));
        let wanted = std::fs::read(&requirements)?;
        let stamp = folder.join("requirements.txt");
        if std::fs::read(&stamp).is_ok_and(|there| there == wanted) {
            return Ok(());
        }
        succeed(
            Command::new("pip3")
                .args(["install", "--quiet", "--no-deps", "--upgrade", "--target"])
                .arg(&folder)
                .arg("--requirement")
                .arg(&requirements),
        )?;
        std::fs::write(&stamp, wanted)?;
        Ok(())
    }
}

/// Installs what is missing when we are root; otherwise says what to type, and fails.
pub(crate) fn ensure(packages: &[Package]) -> Result<()> {
    let search = env::var_os("PATH").unwrap_or_default();
    let there =
        |program: &str| env::split_paths(&search).any(|folder| is_program(&folder.join(program)));
    let missing = missing(packages, there);
    for package in packages {
        let state = if missing.iter().any(|other| other.name == package.name) {
            "missing"
        } else {
            "there"
        };
        println!("    {}: {state}; {}", package.name, package.purpose);
    }
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root() || !there("apt-get") {
        bail!("packages are missing. Type: {}", install_line(&missing));
    }
    succeed(Command::new("apt-get").args(["update", "-qq"]))?;
    succeed(
        Command::new("apt-get")
            .args(["install", "--yes", "-qq", "--no-install-recommends"])
            .args(missing.iter().map(|package| package.name))
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

fn missing(packages: &[Package], there: impl Fn(&str) -> bool) -> Vec<&Package> {
    packages
        .iter()
        .filter(|package| !there(package.program))
        .collect()
}

fn install_line(missing: &[&Package]) -> String {
    let names: Vec<_> = missing.iter().map(|package| package.name).collect();
    format!(
        "sudo apt-get update && sudo apt-get install --yes {}",
        names.join(" ")
    )
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn is_root() -> bool {
    // SAFETY: geteuid takes nothing, cannot fail and touches no memory of ours.
    unsafe { libc::geteuid() == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_declared_once_and_says_what_it_is_for() {
        for list in [PACKAGES, FOR_BENCHMARKS] {
            for (at, package) in list.iter().enumerate() {
                assert!(!package.purpose.is_empty(), "{}", package.name);
                let mut before = list[..at].iter();
                let is_new = before.all(|other| other.name != package.name);
                assert!(is_new, "{}", package.name);
            }
        }
    }

    #[test]
    fn what_is_missing_is_named_in_one_line_to_type() {
        let missing = missing(PACKAGES, |program| program == "zstd");
        assert_eq!(
            install_line(&missing),
            "sudo apt-get update && sudo apt-get install --yes babeltrace2 python3 python3-pip g++ lttng-tools liblttng-ust-dev chromium chromium-driver"
        );
    }

    #[test]
    fn a_folder_or_a_plain_file_is_not_a_program() {
        assert!(is_program(Path::new("/bin/sh")));
        assert!(!is_program(Path::new("/bin")));
        assert!(!is_program(Path::new("/etc/passwd")));
    }
}
