//! Which ROS 2 is installed and sourced, with which middleware, and what its libtracetools can do.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Check, Verdict, program};
use crate::elf::Elf;

const GROUP: &str = "ros";

pub(super) fn checks() -> Vec<Check> {
    let installed = installed();
    let prefixes = prefixes();
    let mut checks = vec![environment(&installed, &prefixes)];
    let mut seen = BTreeSet::new();
    for prefix in prefixes.iter().chain(&installed) {
        let library = prefix.join("lib/libtracetools.so");
        let real = std::fs::canonicalize(&library).unwrap_or(library.clone());
        if library.exists() && seen.insert(real) {
            checks.push(tracetools(&library, prefix));
        }
    }
    if seen.is_empty() && !(prefixes.is_empty() && installed.is_empty()) {
        checks.push(
            Check::new(
                GROUP,
                "libtracetools.so",
                Verdict::Warning,
                "was not found in any prefix: programs that were built without it have no tracepoints",
            )
            .fix("link the tracer in its place: tracer/README.md, section In the place of libtracetools"),
        );
    }
    checks.push(middleware(prefixes.iter().chain(&installed)));
    checks
}

/// Where a library of ROS 2 is that programs load here: the first of those that are sourced, else that of each one that is installed.
pub(super) fn libraries(name: &str) -> Vec<PathBuf> {
    let search = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let sourced = std::env::split_paths(&search)
        .filter(|folder| folder.is_absolute())
        .chain(prefixes().into_iter().map(|prefix| prefix.join("lib")));
    let found = |folder: PathBuf| Some(folder.join(name)).filter(|file| file.is_file());
    match sourced.into_iter().find_map(found) {
        Some(library) => vec![library],
        None => {
            let installed = installed().into_iter().map(|prefix| prefix.join("lib"));
            installed.filter_map(found).collect()
        }
    }
}

/// `/opt/ros/*`
fn installed() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/opt/ros")
        .into_iter()
        .flatten()
        .flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

fn prefixes() -> Vec<PathBuf> {
    let value = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    std::env::split_paths(&value)
        .filter(|path| !path.as_os_str().is_empty())
        .collect()
}

fn environment(installed: &[PathBuf], prefixes: &[PathBuf]) -> Check {
    let names: Vec<String> = installed
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    let distribution = std::env::var("ROS_DISTRO").ok().filter(|it| !it.is_empty());
    match (distribution, prefixes.is_empty()) {
        (Some(name), false) => Check::new(
            GROUP,
            "environment",
            Verdict::Ok,
            format!("{name} is sourced ({} prefixes)", prefixes.len()),
        ),
        _ if !names.is_empty() => Check::new(
            GROUP,
            "environment",
            Verdict::Warning,
            format!("{} in /opt/ros, but none is sourced", names.join(", ")),
        )
        .fix(format!("source {}/setup.bash", installed[0].display())),
        _ => Check::new(
            GROUP,
            "environment",
            Verdict::Missing,
            "no ROS 2 in /opt/ros and none sourced; recordings of elsewhere can be read, and `rostrace demo` works",
        )
        .fix("source the setup.bash of your workspace, or install ROS 2: https://docs.ros.org"),
    }
}

fn tracetools(library: &Path, prefix: &Path) -> Check {
    let version = package_version(prefix).map_or(String::new(), |version| format!(" {version}"));
    let name = format!("{}", library.display());
    match Elf::read(library) {
        Some(elf) if elf.needs("liblttng-ust") => Check::new(
            GROUP,
            name,
            Verdict::Ok,
            format!("tracetools{version}, built with LTTng: both our tracer and LTTng record it"),
        ),
        Some(_) => Check::new(
            GROUP,
            name,
            Verdict::Ok,
            format!(
                "tracetools{version}, built without LTTng: our tracer records it, LTTng cannot"
            ),
        ),
        None => Check::new(
            GROUP,
            name,
            Verdict::Warning,
            "is not a library that could be read",
        ),
    }
}

fn package_version(prefix: &Path) -> Option<String> {
    let text = std::fs::read_to_string(prefix.join("share/tracetools/package.xml")).ok()?;
    let (_, after) = text.split_once("<version>")?;
    let (version, _) = after.split_once("</version>")?;
    Some(version.trim().to_owned())
}

fn middleware<'a>(prefixes: impl Iterator<Item = &'a PathBuf>) -> Check {
    let mut found = BTreeSet::new();
    for prefix in prefixes {
        for entry in std::fs::read_dir(prefix.join("lib"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            let short = name
                .strip_prefix("lib")
                .and_then(|name| name.strip_suffix(".so"));
            if let Some(short) = short
                && short.starts_with("rmw_")
                && short.ends_with("_cpp")
                && !short.contains("shared")
                // Messages of a package that is no middleware.
                && !short.contains("__")
            {
                found.insert(short.to_owned());
            }
        }
    }
    let found: Vec<String> = found.into_iter().collect();
    let chosen = std::env::var("RMW_IMPLEMENTATION")
        .ok()
        .filter(|it| !it.is_empty());
    match chosen {
        Some(chosen) if !found.is_empty() && !found.contains(&chosen) => Check::new(
            GROUP,
            "middleware",
            Verdict::Warning,
            format!(
                "RMW_IMPLEMENTATION={chosen}, but installed are {}",
                found.join(", ")
            ),
        )
        .fix(format!("export RMW_IMPLEMENTATION={}", found[0])),
        Some(chosen) => Check::new(
            GROUP,
            "middleware",
            Verdict::Ok,
            format!("{chosen} is chosen"),
        ),
        None if found.is_empty() => Check::new(
            GROUP,
            "middleware",
            Verdict::Missing,
            "no rmw implementation was found",
        )
        .fix("source the setup.bash of your workspace"),
        None => {
            let python = if program("python3").is_some() {
                ""
            } else {
                "; python3 is not there"
            };
            Check::new(
                GROUP,
                "middleware",
                Verdict::Ok,
                format!("{}{python}", found.join(", ")),
            )
        }
    }
}
