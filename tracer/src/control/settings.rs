//! What the environment said when the library was loaded, copied without allocation: programs may change their environment later.

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

use rostrace_session::{
    CONTROL_VARIABLE, LTTNG_VARIABLE, OUTPUT_VARIABLE, PYTHON_VARIABLE, SWITCH_VARIABLE,
};

use crate::control::path::PathBuffer;

#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) is_off: bool,
    pub(crate) leaves_python: bool,
    /// Empty if there is none.
    pub(crate) control: PathBuffer,
    pub(crate) output: PathBuffer,
    pub(crate) lttng: Option<bool>,
}

impl Settings {
    /// Whether anything can ever be recorded.
    pub(crate) fn may_record(&self) -> bool {
        !self.is_off && (!self.control.is_empty() || !self.output.is_empty())
    }
}

pub(crate) fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let is_off = |name| matches!(variable(name), Some(b"off" | b"0"));
        let path = |name| {
            let mut path = PathBuffer::new();
            path.push(variable(name).unwrap_or_default());
            path
        };
        Settings {
            is_off: is_off(SWITCH_VARIABLE),
            leaves_python: is_off(PYTHON_VARIABLE),
            control: path(CONTROL_VARIABLE),
            output: path(OUTPUT_VARIABLE),
            lttng: variable(LTTNG_VARIABLE).map(|value| value != b"0"),
        }
    })
}

/// None where it is empty, and in programs that run with more rights than whoever started them: the environment is that person's.
fn variable(name: &str) -> Option<&'static [u8]> {
    unsafe extern "C" {
        fn secure_getenv(name: *const c_char) -> *const c_char;
    }
    let mut terminated = PathBuffer::new();
    terminated.push(name.as_bytes());
    // SAFETY: the name ends with a zero. The value lives until the program changes its environment; it is copied before that.
    unsafe {
        let value = secure_getenv(terminated.as_c_str().as_ptr());
        (!value.is_null())
            .then(|| CStr::from_ptr(value).to_bytes())
            .filter(|value| !value.is_empty())
    }
}
