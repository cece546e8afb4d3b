//! The demo's application: starts its processes and waits for them.

use std::process::Command;

use anyhow::Context;

use super::ApplicationArguments;
use super::process::ROLES;
use crate::outcome::Outcome;

pub(crate) fn application(arguments: &ApplicationArguments) -> anyhow::Result<Outcome> {
    let program = std::env::current_exe().context("this program cannot be found")?;
    let mut children = Vec::new();
    for role in ROLES {
        let child = Command::new(&program)
            .arg("demo-process")
            .args(["--seconds", &arguments.seconds.to_string()])
            .arg("--folder")
            .arg(&arguments.folder)
            .arg(role)
            .spawn()
            .with_context(|| format!("the process {role} of the demo could not be started"))?;
        children.push(child);
    }
    let mut is_fine = true;
    for child in &mut children {
        is_fine &= child.wait()?.success();
    }
    Ok(match is_fine {
        true => Outcome::Fine,
        false => Outcome::Refused,
    })
}
