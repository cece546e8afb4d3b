//! Which file is mapped at an address of a process, at some time.

use rostrace_ctf::schema::Nanos;

/// Code of a file in a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    pub begin: u64,
    pub end: u64,
    /// Where in the file it begins.
    pub offset: u64,
    /// What the linker called `begin`; 0 if nobody knew.
    pub linked_at: u64,
    pub path: String,
    /// As hexadecimal digits; empty if the file has none or could not be read.
    pub build_id: String,
}

/// An index into the codes of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodeId(u32);

impl CodeId {
    pub(super) fn of(index: usize) -> CodeId {
        CodeId(index as u32)
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What one process had mapped, in the order in which it was reported.
#[derive(Debug, Default)]
pub(super) struct CodeMap(Vec<(Nanos, CodeId)>);

impl CodeMap {
    pub(super) fn add(&mut self, time: Nanos, id: CodeId) {
        self.0.push((time, id));
    }

    /// The newest that was there then; one that was reported only later, where nothing else ever was there.
    pub(super) fn find(&self, codes: &[Code], address: u64, at: Nanos) -> Option<CodeId> {
        let holds = |(_, id): &&(Nanos, CodeId)| {
            let code = &codes[id.index()];
            (code.begin..code.end).contains(&address)
        };
        let before = (self.0.iter().rev()).find(|entry| entry.0 <= at && holds(entry));
        let found = before.or_else(|| self.0.iter().find(holds));
        found.map(|(_, id)| *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_mapped_last_is_there() {
        let code = |begin: u64, path: &str| Code {
            begin,
            end: begin + 10,
            offset: 0,
            linked_at: 0,
            path: path.to_owned(),
            build_id: String::new(),
        };
        let codes = [code(10, "a"), code(10, "b"), code(50, "c")];
        let mut map = CodeMap::default();
        map.add(Nanos(1), CodeId(0));
        map.add(Nanos(5), CodeId(1));
        map.add(Nanos(6), CodeId(2));
        let path = |address, at| {
            Some(
                codes[map.find(&codes, address, Nanos(at))?.index()]
                    .path
                    .as_str(),
            )
        };
        assert_eq!(path(12, 3), Some("a"));
        assert_eq!(path(12, 5), Some("b"));
        assert_eq!(path(55, 2), Some("c"));
        assert_eq!(path(20, 9), None);
    }
}
