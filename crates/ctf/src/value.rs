//! Decoded values, as trees that anyone can walk, compare and encode again.
//!
//! The fast decoder does not build these: it fills columns. Trees serve the writer (`writer`) and everyone who looks at a single event. Equality compares floating-point numbers by their bits, so that
//! a NaN equals itself and `-0` is not `0`.

/// One decoded field.
#[derive(Debug, Clone)]
pub enum Value {
    Unsigned(u64),
    Signed(i64),
    /// 32-bit numbers are widened with [`widen`].
    Float(f64),
    Boolean(bool),
    /// Bit arrays and bit maps.
    Bits(u64),
    /// UTF-8, or whatever bytes the tracer wrote as such; UTF-16 and UTF-32 have been converted.
    Text(Vec<u8>),
    Blob(Vec<u8>),
    /// In the order of the class's members.
    Struct(Vec<Value>),
    Array(Vec<Value>),
    Optional(Option<Box<Value>>),
    /// The index of the option, and its value.
    Variant(usize, Box<Value>),
}

impl Value {
    pub fn text(text: &str) -> Value {
        Value::Text(text.as_bytes().to_vec())
    }

    pub fn variant(option: usize, value: Value) -> Value {
        Value::Variant(option, Box::new(value))
    }

    pub fn as_unsigned(&self) -> Option<u64> {
        match self {
            Value::Unsigned(value) => Some(*value),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&[u8]> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The values of a structure's members.
    pub fn members(&self) -> Option<&[Value]> {
        match self {
            Value::Struct(members) => Some(members),
            _ => None,
        }
    }

    /// The words "an unsigned integer", "a text" and so on, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Unsigned(_) => "an unsigned integer",
            Value::Signed(_) => "a signed integer",
            Value::Float(_) => "a floating-point number",
            Value::Boolean(_) => "a boolean",
            Value::Bits(_) => "bits",
            Value::Text(_) => "a text",
            Value::Blob(_) => "a BLOB",
            Value::Struct(_) => "a structure",
            Value::Array(_) => "an array",
            Value::Optional(_) => "an optional value",
            Value::Variant(..) => "a variant",
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Unsigned(a), Value::Unsigned(b)) | (Value::Bits(a), Value::Bits(b)) => a == b,
            (Value::Signed(a), Value::Signed(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Boolean(a), Value::Boolean(b)) => a == b,
            (Value::Text(a), Value::Text(b)) | (Value::Blob(a), Value::Blob(b)) => a == b,
            (Value::Struct(a), Value::Struct(b)) | (Value::Array(a), Value::Array(b)) => a == b,
            (Value::Optional(a), Value::Optional(b)) => a == b,
            (Value::Variant(i, a), Value::Variant(j, b)) => i == j && a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

/// Widens the bits of a 32-bit floating-point number without losing any of them.
///
/// The conversion of the processor makes a signalling NaN quiet; this one keeps its payload, so that
/// [`narrow`] gives back the same 32 bits for every number.
pub fn widen(bits: u32) -> f64 {
    let number = f32::from_bits(bits);
    if !number.is_nan() {
        return f64::from(number);
    }
    let sign = u64::from(bits >> 31) << 63;
    let payload = u64::from(bits & 0x007F_FFFF) << 29;
    f64::from_bits(sign | 0x7FF0_0000_0000_0000 | payload)
}

/// The inverse of [`widen`]; nothing if the number needs more than 32 bits.
pub fn narrow(number: f64) -> Option<u32> {
    let bits = if number.is_nan() {
        let wide = number.to_bits();
        ((wide >> 63) as u32) << 31 | 0x7F80_0000 | (wide >> 29) as u32 & 0x007F_FFFF
    } else {
        (number as f32).to_bits()
    };
    (widen(bits).to_bits() == number.to_bits()).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nan_equals_itself_and_no_other() {
        let nan = |bits| Value::Float(f64::from_bits(bits));
        assert_eq!(nan(0x7FF8_0000_0000_0001), nan(0x7FF8_0000_0000_0001));
        assert_ne!(nan(0x7FF8_0000_0000_0001), nan(0x7FF8_0000_0000_0002));
        assert_ne!(Value::Float(0.0), Value::Float(-0.0));
    }

    #[test]
    fn a_value_of_another_kind_is_not_equal() {
        assert_ne!(Value::Unsigned(1), Value::Bits(1));
        assert_ne!(Value::Text(vec![]), Value::Blob(vec![]));
        assert_ne!(
            Value::Optional(None),
            Value::Optional(Some(Box::new(Value::Unsigned(0))))
        );
    }

    #[test]
    fn widening_keeps_the_bits_of_every_kind_of_number() {
        for bits in [
            0,
            0x8000_0000,
            1,
            0x3FC0_0000,
            0x7F80_0000,
            0xFF80_0000,
            0x7F80_0001,
            0x7FC0_0000,
            0xFFFF_FFFF,
        ] {
            assert_eq!(narrow(widen(bits)), Some(bits), "{bits:#x}");
        }
        assert_eq!(widen(0x3FC0_0000), 1.5);
    }

    #[test]
    fn a_number_that_needs_64_bits_is_not_narrowed() {
        assert_eq!(narrow(0.1), None);
        assert_eq!(narrow(1e300), None);
        assert_eq!(narrow(f64::from_bits(0x7FF0_0000_0000_0001)), None);
    }
}
