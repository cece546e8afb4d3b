//! Callbacks of Python nodes: rclpy has no tracepoints, and its executors are written in Python.
//!
//! When rclpy makes its first context, the thread that does it is a thread of Python that holds the interpreter's lock, so Python can be
//! run: `rclpy.py` beside this file looks on when executors take something and run its callback, and calls the functions of
//! libtracetools as rclcpp would. Nothing of Python is linked: its functions, all but one of its stable interface, are found when they are there.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Called, Hook, State};
use crate::abi::tracetools;
use crate::control::{gate, process};
use crate::dl::loaded;
use crate::ring::thread;

/// Named as what it watches; there is no function that it would call.
static EXECUTORS: Hook = Hook::new("rclpy.executors\0", &[], Called::Across);
pub(super) static HOOKS: [&Hook; 1] = [&EXECUTORS];

const SOURCE: &str = include_str!("rclpy.py");
/// `Py_file_input`
const FILE_INPUT: c_int = 257;

type Object = *mut c_void;

/// Functions of CPython.
struct Python {
    is_initialized: extern "C" fn() -> c_int,
    own_state: extern "C" fn() -> Object,
    running_state: extern "C" fn() -> Object,
    error: extern "C" fn() -> Object,
    clear_error: extern "C" fn(),
    modules: extern "C" fn() -> Object,
    item: unsafe extern "C" fn(Object, *const c_char) -> Object,
    compile: unsafe extern "C" fn(*const c_char, *const c_char, c_int) -> Object,
    execute: unsafe extern "C" fn(*const c_char, Object) -> Object,
    release: unsafe extern "C" fn(Object),
}

/// A function of the process, whoever brought it.
///
/// # Safety
/// A function of that name is an `F`.
unsafe fn function<F: Copy>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
    let address = loaded::first(name)?;
    // SAFETY: as the caller promises.
    Some(unsafe { std::mem::transmute_copy(&address) })
}

impl Python {
    /// None in processes without Python.
    fn find() -> Option<Python> {
        // SAFETY: functions of these names have had these arguments in every version since 3.5.
        unsafe {
            Some(Python {
                is_initialized: function(c"Py_IsInitialized")?,
                own_state: function(c"PyGILState_GetThisThreadState")?,
                // From 3.13 on with the name of a public function.
                running_state: function(c"PyThreadState_GetUnchecked")
                    .or_else(|| function(c"_PyThreadState_UncheckedGet"))?,
                error: function(c"PyErr_Occurred")?,
                clear_error: function(c"PyErr_Clear")?,
                modules: function(c"PyImport_GetModuleDict")?,
                item: function(c"PyDict_GetItemString")?,
                compile: function(c"Py_CompileString")?,
                execute: function(c"PyImport_ExecCodeModule")?,
                release: function(c"Py_DecRef")?,
            })
        }
    }

    /// Whether this thread holds the interpreter's lock, and Python is in the middle of an ordinary call.
    fn may_run(&self) -> bool {
        if (self.is_initialized)() == 0 {
            return false;
        }
        let own = (self.own_state)();
        !own.is_null() && own == (self.running_state)() && (self.error)().is_null()
    }

    /// # Safety
    /// Python may run on this thread.
    unsafe fn has_module(&self, name: &CStr) -> bool {
        let modules = (self.modules)();
        // SAFETY: a dictionary that lives as long as the interpreter, and a text with a zero at its end.
        !modules.is_null() && unsafe { !(self.item)(modules, name.as_ptr()).is_null() }
    }

    /// Runs a program as a module of that name; false if it ended with an error.
    ///
    /// # Safety
    /// Python may run on this thread.
    unsafe fn run(&self, name: &CStr, program: &CStr) -> bool {
        // SAFETY: texts with zeroes at their ends; objects are given back once.
        unsafe {
            let code = (self.compile)(program.as_ptr(), c"<rostrace>".as_ptr(), FILE_INPUT);
            if code.is_null() {
                (self.clear_error)();
                return false;
            }
            let module = (self.execute)(name.as_ptr(), code);
            (self.release)(code);
            if module.is_null() {
                (self.clear_error)();
                return false;
            }
            (self.release)(module);
            true
        }
    }
}

/// A context of ROS was made on this thread; if rclpy did it, its executors are watched from now on.
pub(crate) fn context_made() {
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    if gate::is_closed() || process::leaves_python() || IS_DONE.load(Ordering::Relaxed) {
        return;
    }
    let Some(python) = thread::undisturbed(Python::find) else {
        return;
    };
    // SAFETY: each is asked only after the first has said that Python may run.
    if !python.may_run() || unsafe { !python.has_module(c"rclpy") } {
        return;
    }
    if IS_DONE.swap(true, Ordering::Relaxed) {
        return;
    }
    let Ok(program) = CString::new(program()) else {
        return;
    };
    // SAFETY: Python may run, as was asked.
    EXECUTORS.set(match unsafe { python.run(c"_rostrace_rclpy", &program) } {
        true => State::On,
        false => State::Unexpected,
    });
}

/// Functions of the tracer, by the names that `rclpy.py` has for them.
macro_rules! functions {
    ($($name:literal: $function:ident,)*) => {
        [$(($name, tracetools::$function as *const c_void),)*]
    };
}

/// What is run: first where the tracer's functions are, since a search by name could find those of the real libtracetools.
fn program() -> String {
    let functions = functions! {
        "callback_start": ros_trace_callback_start,
        "callback_end": ros_trace_callback_end,
        "rclcpp_callback_register": ros_trace_rclcpp_callback_register,
        "rclcpp_subscription_init": ros_trace_rclcpp_subscription_init,
        "rclcpp_subscription_callback_added": ros_trace_rclcpp_subscription_callback_added,
        "rclcpp_service_callback_added": ros_trace_rclcpp_service_callback_added,
        "rclcpp_timer_callback_added": ros_trace_rclcpp_timer_callback_added,
        "rclcpp_timer_link_node": ros_trace_rclcpp_timer_link_node,
    };
    let mut program = String::from("FUNCTIONS = {");
    for (name, address) in functions {
        let _ = write!(program, "'{name}': {}, ", address as usize);
    }
    program.push_str("}\n");
    program.push_str(SOURCE);
    program
}
