//! Samples of call stacks on their way to the disk: the events of the folder `samples`, in a buffer of their own.

use crate::events::sample;
use crate::keep::sched_buffer::{SchedBuffer, THREADS};

/// Code of a process: where it is, and what it comes from.
#[derive(Debug, Clone, Copy)]
pub struct CodeMapping<'m> {
    pub pid: u32,
    pub begin: u64,
    pub end: u64,
    pub offset: u64,
    /// What the linker called `begin`; 0 if nobody knows.
    pub linked_at: u64,
    pub path: &'m [u8],
    /// As hexadecimal digits.
    pub build_id: &'m str,
}

impl SchedBuffer {
    /// How samples are taken from now on.
    pub fn sample_source(&mut self, time: u64, period: u64, event: &str, stack_bytes: u64) {
        let period = period.cast_signed().to_ne_bytes();
        let stack_bytes = stack_bytes.to_ne_bytes();
        let payload: [&[u8]; 4] = [&period, event.as_bytes(), &[0], &stack_bytes];
        self.add(THREADS, time, sample::SOURCE, &payload);
    }

    /// A process has this code from now on.
    pub fn code_mapping(&mut self, time: u64, mapping: &CodeMapping<'_>) {
        let pid = i64::from(mapping.pid).to_ne_bytes();
        let numbers = [
            mapping.begin,
            mapping.end,
            mapping.offset,
            mapping.linked_at,
        ];
        let numbers = numbers.map(u64::to_ne_bytes);
        let end = mapping.path.iter().position(|byte| *byte == 0);
        let path = &mapping.path[..end.unwrap_or(mapping.path.len())];
        let payload: [&[u8]; 9] = [
            &pid,
            &numbers[0],
            &numbers[1],
            &numbers[2],
            &numbers[3],
            path,
            &[0],
            mapping.build_id.as_bytes(),
            &[0],
        ];
        self.add(THREADS, time, sample::MAPPING, &payload);
    }

    /// A thread was here: `frames` are the innermost address and those that its callers go on at.
    pub fn stack_sample(
        &mut self,
        cpu: u32,
        time: u64,
        (pid, tid): (u32, u32),
        is_complete: bool,
        frames: &[u64],
    ) {
        let [tid, pid] = [tid, pid].map(|id| i64::from(id).to_ne_bytes());
        let is_complete = i32::from(is_complete).to_ne_bytes();
        let number = (frames.len() as u64).to_ne_bytes();
        let frames: Vec<u8> = frames.iter().flat_map(|it| it.to_ne_bytes()).collect();
        let payload: [&[u8]; 5] = [&tid, &pid, &is_complete, &number, &frames];
        self.add(cpu.into(), time, sample::SAMPLE, &payload);
    }
}
