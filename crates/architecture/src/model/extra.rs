//! Keys of a file that this program does not know. They are kept with their place, so that a file of a newer version
//! or with somebody's own notes survives editing.

use rostrace_base::yaml::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extra {
    /// The key that it stood behind, known or not; none for the first.
    pub after: Option<Value>,
    pub key: Value,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extras(pub Vec<Extra>);

impl Extras {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts them back: each behind the key it stood behind, or at the end if that is gone.
    pub(crate) fn place(&self, map: &mut Vec<(Value, Value)>) {
        for extra in &self.0 {
            let place = match &extra.after {
                None => 0,
                Some(before) => match map.iter().position(|(key, _)| key == before) {
                    Some(index) => index + 1,
                    None => map.len(),
                },
            };
            map.insert(place, (extra.key.clone(), extra.value.clone()));
        }
    }
}
