//! The thread that starts the command. What the kernel tells of it is asked for beforehand ([`Starter::tid`]), and its children inherit that.
//!
//! It does nothing else, so that nothing else is followed, and stays as long as this process: for the kernel the parent of a program is the
//! thread that started it, and one that asked to be ended with its parent (`PR_SET_PDEATHSIG`) would be ended with the thread.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::error::Error;
use crate::launch::{Launch, Running};

#[derive(Debug)]
pub(crate) struct Starter {
    tid: u32,
    launches: SyncSender<Launch>,
    started: Receiver<Result<Running, Error>>,
}

impl Starter {
    pub(crate) fn new() -> io::Result<Starter> {
        let (say_tid, tids) = sync_channel(1);
        let (launches, launch) = sync_channel::<Launch>(1);
        let (say_started, started) = sync_channel(1);
        let work = move || {
            // SAFETY: a question without arguments.
            let tid = unsafe { libc::gettid() };
            let is_heard = say_tid.send(tid.cast_unsigned()).is_ok();
            let Some(launch) = launch.recv().ok().filter(|_| is_heard) else {
                return;
            };
            if say_started.send(launch.start()).is_ok() {
                loop {
                    std::thread::park();
                }
            }
        };
        std::thread::Builder::new()
            .name("starter".to_owned())
            .spawn(work)?;
        Ok(Starter {
            tid: tids.recv().map_err(io::Error::other)?,
            launches,
            started,
        })
    }

    /// Its number, by which it can be followed before it starts anything.
    pub(crate) fn tid(&self) -> u32 {
        self.tid
    }

    pub(crate) fn start(self, launch: &Launch) -> Result<Running, Error> {
        let gone = |error| Error::Waiting(io::Error::other(error));
        if self.launches.send(launch.clone()).is_err() {
            return Err(gone("the thread that starts the command has ended"));
        }
        (self.started.recv()).map_err(|_| gone("the thread that starts the command has ended"))?
    }
}
