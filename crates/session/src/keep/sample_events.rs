//! Samples of call stacks on their way to the disk: the events of the folder `samples`, in a buffer of their own.

use crate::events::sample;
use crate::keep::sched_buffer::{SchedBuffer, SchedValue, THREADS};

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
        let payload = [
            SchedValue::Number(period.cast_signed()),
            SchedValue::Text(event.as_bytes()),
            SchedValue::Number(stack_bytes.cast_signed()),
        ];
        self.add(THREADS, time, sample::SOURCE, &payload);
    }

    /// A process has this code from now on.
    pub fn code_mapping(&mut self, time: u64, mapping: &CodeMapping<'_>) {
        let end = mapping.path.iter().position(|byte| *byte == 0);
        let path = &mapping.path[..end.unwrap_or(mapping.path.len())];
        let payload = [
            SchedValue::Number(mapping.pid.into()),
            SchedValue::Number(mapping.begin.cast_signed()),
            SchedValue::Number(mapping.end.cast_signed()),
            SchedValue::Number(mapping.offset.cast_signed()),
            SchedValue::Number(mapping.linked_at.cast_signed()),
            SchedValue::Text(path),
            SchedValue::Text(mapping.build_id.as_bytes()),
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
        let payload = [
            SchedValue::Number(tid.into()),
            SchedValue::Number(pid.into()),
            SchedValue::Flag(is_complete),
            SchedValue::Addresses(frames),
        ];
        self.add(cpu.into(), time, sample::SAMPLE, &payload);
    }
}
