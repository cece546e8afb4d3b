//! LTTng as it is measured beside us: its daemon, and sessions that end whatever happens.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Large enough that LTTng has a chance at the highest rate; ros2_tracing's own are 2 of 32 KiB.
const BUFFERS: [&str; 2] = ["--subbuf-size=4M", "--num-subbuf=8"];
/// What our tracer writes with every event too.
const CONTEXTS: [&str; 6] = ["-t", "vpid", "-t", "vtid", "-t", "procname"];

fn lttng(arguments: &[&str]) -> Result<()> {
    let output = Command::new("lttng")
        .arg("--no-sessiond")
        .args(arguments)
        .output()
        .context("`lttng` could not be started")?;
    if !output.status.success() {
        bail!(
            "`lttng {}` failed: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}

/// A recording of all events of ROS 2, with the contexts vpid, vtid and procname. Dropped, it is destroyed.
#[derive(Debug)]
pub(crate) struct Session(Option<String>);

impl Session {
    /// Names have to differ from those of other sessions of the same daemon.
    pub(crate) fn start(name: &str, output: &Path) -> Result<Session> {
        lttng(&["create", name, &format!("--output={}", output.display())])?;
        let running = Session(Some(name.to_owned()));
        let session = format!("--session={name}");
        let mut channel = vec!["enable-channel", "--userspace", &session, "ros2"];
        channel.extend(BUFFERS);
        lttng(&channel)?;
        lttng(&[
            "enable-event",
            "--userspace",
            &session,
            "--channel=ros2",
            "ros2:*",
        ])?;
        let mut add = vec!["add-context", "--userspace", &session, "--channel=ros2"];
        add.extend(CONTEXTS);
        lttng(&add)?;
        lttng(&["start", name])?;
        Ok(running)
    }

    /// Returns when the trace is complete.
    pub(crate) fn finish(mut self) -> Result<()> {
        let Some(name) = self.0.take() else {
            return Ok(());
        };
        let stopped = lttng(&["stop", &name]);
        lttng(&["destroy", &name])?;
        stopped
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(name) = &self.0 {
            let _ = lttng(&["destroy", name]);
        }
    }
}

/// The one that runs, or one of ours that ends with the benchmark.
#[derive(Debug)]
pub(crate) struct SessionDaemon(Option<Child>);

impl SessionDaemon {
    pub(crate) fn ensure() -> Result<SessionDaemon> {
        if lttng(&["list"]).is_ok() {
            return Ok(SessionDaemon(None));
        }
        let child = Command::new("lttng-sessiond")
            .arg("--no-kernel")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("`lttng-sessiond` could not be started")?;
        let daemon = SessionDaemon(Some(child));
        let begin = Instant::now();
        while lttng(&["list"]).is_err() {
            if begin.elapsed() > Duration::from_secs(10) {
                bail!("`lttng-sessiond` does not answer.");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(daemon)
    }
}

impl Drop for SessionDaemon {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
