//! The tracepoints of ROS 2 as safe functions, for client libraries in Rust such as rclrs and r2r.
//!
//! ```
//! use rostrace_tracer::ros;
//!
//! let callback = 0x5000 as *const std::ffi::c_void;
//! ros::rclcpp_callback_register(callback, c"robot::tick");
//! ros::callback_start(callback, false);
//! ros::callback_end(callback);
//! ```

#![allow(clippy::not_unsafe_ptr_arg_deref)] // Addresses are only written down.

use std::ffi::{CStr, c_void};

use crate::tracetools;

include!(concat!(env!("OUT_DIR"), "/ros.rs"));
