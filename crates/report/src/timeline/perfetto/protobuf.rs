//! Protobuf's wire format, as far as it is needed to write: numbers, texts, and messages inside messages.

/// A message that is being written behind whatever the buffer has already.
#[derive(Debug)]
pub(super) struct Message<'b> {
    bytes: &'b mut Vec<u8>,
}

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH_DELIMITED: u32 = 2;

impl<'b> Message<'b> {
    pub(super) fn new(bytes: &'b mut Vec<u8>) -> Message<'b> {
        Message { bytes }
    }

    #[inline]
    fn tag(&mut self, field: u32, wire: u32) {
        varint(self.bytes, u64::from(field << 3 | wire));
    }

    #[inline]
    pub(super) fn unsigned(&mut self, field: u32, value: u64) {
        self.tag(field, VARINT);
        varint(self.bytes, value);
    }

    /// Negative numbers take ten bytes, as `int64` and `int32` do.
    #[inline]
    pub(super) fn signed(&mut self, field: u32, value: i64) {
        self.unsigned(field, value as u64);
    }

    pub(super) fn flag(&mut self, field: u32, value: bool) {
        self.unsigned(field, value.into());
    }

    #[inline]
    pub(super) fn fixed64(&mut self, field: u32, value: u64) {
        self.tag(field, FIXED64);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    #[inline]
    pub(super) fn bytes(&mut self, field: u32, value: &[u8]) {
        self.tag(field, LENGTH_DELIMITED);
        varint(self.bytes, value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    pub(super) fn text(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    /// Fields that were encoded before.
    #[inline]
    pub(super) fn encoded(&mut self, fields: &[u8]) {
        self.bytes.extend_from_slice(fields);
    }

    /// A message inside this one. Most are short, so one byte is left for the length and more are made where that is not
    /// enough.
    #[inline]
    pub(super) fn nested(&mut self, field: u32, write: impl FnOnce(&mut Message<'_>)) {
        self.tag(field, LENGTH_DELIMITED);
        let begin = self.bytes.len();
        self.bytes.push(0);
        write(&mut Message { bytes: self.bytes });
        let length = self.bytes.len() - begin - 1;
        if length < 0x80 {
            self.bytes[begin] = length as u8;
            return;
        }
        let content = begin + 1;
        let mut prefix = Vec::with_capacity(10);
        varint(&mut prefix, length as u64);
        self.bytes.resize(begin + prefix.len() + length, 0);
        self.bytes
            .copy_within(content..content + length, begin + prefix.len());
        self.bytes[begin..begin + prefix.len()].copy_from_slice(&prefix);
    }
}

#[inline]
fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(write: impl FnOnce(&mut Message<'_>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut Message::new(&mut bytes));
        bytes
    }

    #[test]
    fn numbers_take_as_few_bytes_as_they_need() {
        assert_eq!(encoded(|it| it.unsigned(1, 150)), [0x08, 0x96, 0x01]);
        assert_eq!(encoded(|it| it.unsigned(16, 0)), [0x80, 0x01, 0x00]);
        assert_eq!(encoded(|it| it.signed(1, -1)).len(), 11);
        assert_eq!(encoded(|it| it.fixed64(1, 2)), [9, 2, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_long_message_inside_another_keeps_its_content() {
        for length in [0, 126, 127, 128, 5_000, 20_000] {
            let text = "x".repeat(length);
            let bytes = encoded(|it| it.nested(3, |inner| inner.text(2, &text)));
            let inner = encoded(|it| it.text(2, &text));
            let mut expected = vec![0x1a];
            varint(&mut expected, inner.len() as u64);
            expected.extend(inner);
            assert_eq!(bytes, expected, "{length}");
        }
    }
}
