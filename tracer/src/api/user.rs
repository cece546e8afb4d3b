//! Events of the application itself: moments, spans and counters, from Rust and, through `rostrace.h`, from C and C++.
//!
//! ```
//! use rostrace_tracer::{Value, counter, instant, span};
//!
//! let _planning = span("plan", &[("obstacles", Value::Integer(3))]); // ends when it is dropped
//! counter("queue", 7.0);
//! instant("replanned", &[("reason", Value::Text("blocked"))]);
//! ```

use std::ffi::{CString, c_char};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::control::gate;
use crate::dl::sibling;
use crate::events;
use crate::ring::emit::{self, Payload, Text};

/// More fields of one event are left out.
const MOST_FIELDS: usize = 32;

/// What a field of an event holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    Integer(i64),
    Real(f64),
    Text(&'a str),
}

/// Something that takes time; it ends when this is dropped.
#[derive(Debug)]
#[must_use = "the span ends when this is dropped"]
pub struct Span<'a> {
    name: &'a str,
    number: u64,
}

/// Marks a moment.
pub fn instant(name: &str, fields: &[(&str, Value<'_>)]) {
    if records(events::ROSTRACE_INSTANT) {
        with_fields(fields, |fields| {
            emit_with_fields(
                events::ROSTRACE_INSTANT,
                Text::from_bytes(name.as_bytes()),
                None,
                fields,
            )
        });
    } else if let Some(other) = other() {
        let name = c_text(name);
        with_c(fields, |fields, count| {
            // SAFETY: the texts end with a zero and live until the call returns.
            unsafe { (other.instant)(name.as_ptr(), fields, count) };
        });
    }
}

/// Begins something that takes time.
pub fn span<'a>(name: &'a str, fields: &[(&str, Value<'_>)]) -> Span<'a> {
    let number = if records(events::ROSTRACE_SPAN_BEGIN) {
        let number = next_span();
        with_fields(fields, |fields| {
            emit_with_fields(
                events::ROSTRACE_SPAN_BEGIN,
                Text::from_bytes(name.as_bytes()),
                Some(number),
                fields,
            )
        });
        number
    } else if let Some(other) = other() {
        let name = c_text(name);
        // SAFETY: as in `instant`.
        with_c(fields, |fields, count| unsafe {
            (other.span_begin)(name.as_ptr(), fields, count)
        })
    } else {
        0
    };
    Span { name, number }
}

/// Says the value of a quantity.
pub fn counter(name: &str, value: f64) {
    if records(events::ROSTRACE_COUNTER) {
        emit_counter(Text::from_bytes(name.as_bytes()), value);
    } else if let Some(other) = other() {
        // SAFETY: as in `instant`.
        unsafe { (other.counter)(c_text(name).as_ptr(), value) };
    }
}

impl Drop for Span<'_> {
    fn drop(&mut self) {
        if self.number == 0 {
            return;
        }
        if records(events::ROSTRACE_SPAN_END) {
            emit_span_end(Text::from_bytes(self.name.as_bytes()), self.number);
        } else if let Some(other) = other() {
            // SAFETY: as in `instant`.
            unsafe { (other.span_end)(c_text(self.name).as_ptr(), self.number) };
        }
    }
}

/// The copy of the tracer that records in the place of this one, while it does. What is told to it may take memory: this is the
/// application's own code, not that of a library inside a callback of the system.
fn other() -> Option<&'static CApi> {
    // While nothing may be recorded nobody has to be asked.
    if !gate::is_active() {
        return None;
    }
    let api = sibling::sibling()?.api;
    (api.is_enabled)().then_some(api)
}

/// Up to the first zero, as with all texts.
fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// The fields as `rostrace.h` has them.
fn with_c<R>(fields: &[(&str, Value<'_>)], work: impl FnOnce(*const CField, usize) -> R) -> R {
    let texts: Vec<(CString, CString)> = fields
        .iter()
        .map(|(name, value)| match value {
            Value::Text(text) => (c_text(name), c_text(text)),
            Value::Integer(_) | Value::Real(_) => (c_text(name), CString::default()),
        })
        .collect();
    let fields: Vec<CField> = fields
        .iter()
        .zip(&texts)
        .map(|((_, value), (name, text))| {
            let (kind, value) = match value {
                Value::Integer(integer) => (0, CValue { integer: *integer }),
                Value::Real(real) => (1, CValue { real: *real }),
                Value::Text(_) => (
                    2,
                    CValue {
                        text: text.as_ptr(),
                    },
                ),
            };
            CField {
                name: name.as_ptr(),
                kind,
                value,
            }
        })
        .collect();
    work(fields.as_ptr(), fields.len())
}

#[inline(always)]
fn records(event: u16) -> bool {
    gate::is_active() && gate::may_want(event) && gate::wants(event)
}

/// 0 is no span.
fn next_span() -> u64 {
    static SPANS: AtomicU64 = AtomicU64::new(0);
    SPANS.fetch_add(1, Ordering::Relaxed) + 1
}

/// A field in the form that is written.
#[derive(Clone, Copy)]
struct Field {
    name: Text,
    value: Bare,
}

#[derive(Clone, Copy)]
enum Bare {
    Integer(i64),
    Real(f64),
    Text(Text),
}

fn with_fields(fields: &[(&str, Value<'_>)], work: impl FnOnce(&[Field])) {
    let mut all = [Field {
        name: Text::from_bytes(b""),
        value: Bare::Integer(0),
    }; MOST_FIELDS];
    let count = fields.len().min(MOST_FIELDS);
    for (place, (name, value)) in all.iter_mut().zip(fields) {
        *place = Field {
            name: Text::from_bytes(name.as_bytes()),
            value: match value {
                Value::Integer(value) => Bare::Integer(*value),
                Value::Real(value) => Bare::Real(*value),
                Value::Text(value) => Bare::Text(Text::from_bytes(value.as_bytes())),
            },
        };
    }
    work(&all[..count]);
}

/// Fields stand grouped by what they are: names of the whole numbers, the whole numbers, and so on.
fn emit_with_fields(event: u16, name: Text, span: Option<u64>, fields: &[Field]) {
    let names: usize = fields.iter().map(|field| field.name.size()).sum();
    let values: usize = fields
        .iter()
        .map(|field| match field.value {
            Bare::Integer(_) | Bare::Real(_) => 8,
            Bare::Text(text) => text.size(),
        })
        .sum();
    // Six lengths, one before each group of names or values.
    let size = name.size() + span.map_or(0, |_| 8) + 6 * 8 + names + values;
    let groups: [fn(&Bare) -> bool; 3] = [
        |value| matches!(value, Bare::Integer(_)),
        |value| matches!(value, Bare::Real(_)),
        |value| matches!(value, Bare::Text(_)),
    ];
    emit::event(event, size, |payload| {
        // SAFETY: the size was computed from the same fields.
        unsafe {
            let mut payload: Payload = payload.text(name);
            if let Some(span) = span {
                payload = payload.unsigned(span);
            }
            for is_of_group in groups {
                let group = || fields.iter().filter(|field| is_of_group(&field.value));
                payload = payload.length(group().count());
                for field in group() {
                    payload = payload.text(field.name);
                }
                payload = payload.length(group().count());
                for field in group() {
                    payload = match field.value {
                        Bare::Integer(value) => payload.signed(value),
                        Bare::Real(value) => payload.real(value),
                        Bare::Text(text) => payload.text(text),
                    };
                }
            }
        }
    });
}

fn emit_counter(name: Text, value: f64) {
    // SAFETY: the payload has the size that is said.
    emit::event(
        events::ROSTRACE_COUNTER,
        name.size() + 8,
        |payload| unsafe {
            payload.text(name).real(value);
        },
    );
}

fn emit_span_end(name: Text, number: u64) {
    // SAFETY: the payload has the size that is said.
    emit::event(
        events::ROSTRACE_SPAN_END,
        name.size() + 8,
        |payload| unsafe {
            payload.text(name).unsigned(number);
        },
    );
}

/// `struct rostrace_field` of `rostrace.h`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct CField {
    name: *const c_char,
    kind: i32,
    value: CValue,
}

#[derive(Clone, Copy)]
#[repr(C)]
union CValue {
    integer: i64,
    real: f64,
    text: *const c_char,
}

impl std::fmt::Debug for CValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CValue")
    }
}

/// `struct rostrace_api` of `rostrace.h`: what a program finds by name, so that it needs no link to this library.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct CApi {
    version: u32,
    /// 0 behind it: nothing is recorded. The program looks at it without a call.
    active: &'static AtomicPtr<AtomicU64>,
    is_enabled: extern "C" fn() -> bool,
    instant: unsafe extern "C" fn(*const c_char, *const CField, usize),
    span_begin: unsafe extern "C" fn(*const c_char, *const CField, usize) -> u64,
    span_end: unsafe extern "C" fn(*const c_char, u64),
    counter: unsafe extern "C" fn(*const c_char, f64),
}

/// Of the structure.
const VERSION: u32 = 2;

impl CApi {
    /// Whether it is of the version that is declared here.
    pub(crate) fn is_known(&self) -> bool {
        self.version == VERSION
    }
}

static API: CApi = CApi {
    version: VERSION,
    active: &gate::ACTIVE,
    is_enabled: c_is_enabled,
    instant: c_instant,
    span_begin: c_span_begin,
    span_end: c_span_end,
    counter: c_counter,
};

/// What `rostrace.h` looks for.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn rostrace_user_api() -> &'static CApi {
    sibling::sibling().map_or(&API, |sibling| sibling.api)
}

extern "C" fn c_is_enabled() -> bool {
    records(events::ROSTRACE_INSTANT)
        || gate::wants(events::ROSTRACE_SPAN_BEGIN)
        || gate::wants(events::ROSTRACE_COUNTER)
}

unsafe extern "C" fn c_instant(name: *const c_char, fields: *const CField, count: usize) {
    if records(events::ROSTRACE_INSTANT) {
        // SAFETY: the header passes texts that end with a zero and as many fields as it says.
        unsafe {
            with_c_fields(fields, count, |fields| {
                emit_with_fields(events::ROSTRACE_INSTANT, Text::of(name), None, fields);
            });
        }
    }
}

unsafe extern "C" fn c_span_begin(name: *const c_char, fields: *const CField, count: usize) -> u64 {
    if !records(events::ROSTRACE_SPAN_BEGIN) {
        return 0;
    }
    let number = next_span();
    // SAFETY: as in `c_instant`.
    unsafe {
        with_c_fields(fields, count, |fields| {
            let event = events::ROSTRACE_SPAN_BEGIN;
            emit_with_fields(event, Text::of(name), Some(number), fields);
        });
    }
    number
}

unsafe extern "C" fn c_span_end(name: *const c_char, number: u64) {
    if number != 0 && records(events::ROSTRACE_SPAN_END) {
        // SAFETY: as in `c_instant`.
        emit_span_end(unsafe { Text::of(name) }, number);
    }
}

unsafe extern "C" fn c_counter(name: *const c_char, value: f64) {
    if records(events::ROSTRACE_COUNTER) {
        // SAFETY: as in `c_instant`.
        emit_counter(unsafe { Text::of(name) }, value);
    }
}

/// # Safety
/// There are so many fields, and their texts are null or end with a zero.
unsafe fn with_c_fields(fields: *const CField, count: usize, work: impl FnOnce(&[Field])) {
    let mut all = [Field {
        name: Text::from_bytes(b""),
        value: Bare::Integer(0),
    }; MOST_FIELDS];
    let count = if fields.is_null() {
        0
    } else {
        count.min(MOST_FIELDS)
    };
    for (at, place) in all.iter_mut().enumerate().take(count) {
        // SAFETY: as the caller promises; the kind says which member of the union is there.
        unsafe {
            let field = &*fields.add(at);
            *place = Field {
                name: Text::of(field.name),
                value: match field.kind {
                    0 => Bare::Integer(field.value.integer),
                    1 => Bare::Real(field.value.real),
                    _ => Bare::Text(Text::of(field.value.text)),
                },
            };
        }
    }
    work(&all[..count]);
}

const _: () = assert!(size_of::<CField>() == 24);
