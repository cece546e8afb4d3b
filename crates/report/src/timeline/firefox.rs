//! placeholder
use std::io;

use rostrace_analyze::Analysis;

use super::{Selection, Written};

pub fn write(
    _analysis: &Analysis<'_>,
    _selection: &Selection,
    _out: &mut impl io::Write,
) -> io::Result<Written> {
    Err(io::Error::other("not yet"))
}
