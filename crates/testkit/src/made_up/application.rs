//! What programs say of themselves through `rostrace.h`: more words of the test recordings.

use super::recording::{Payload, Recording};

/// Names of numbers and texts, and what they are.
#[derive(Debug, Clone, Default)]
pub struct Given<'a> {
    pub integers: &'a [(&'a str, i64)],
    pub reals: &'a [(&'a str, f64)],
    pub texts: &'a [(&'a str, &'a str)],
}

impl Given<'_> {
    fn payload(&self) -> [(&'static str, Payload); 6] {
        fn names<T>(list: &[(&str, T)]) -> Payload {
            Payload::Texts(list.iter().map(|(name, _)| (*name).to_owned()).collect())
        }
        let integers = self.integers.iter().map(|(_, value)| *value);
        let reals = self.reals.iter().map(|(_, value)| *value);
        let texts = self.texts.iter().map(|(_, value)| (*value).to_owned());
        [
            ("integer_names", names(self.integers)),
            ("integers", Payload::Numbers(integers.collect())),
            ("real_names", names(self.reals)),
            ("reals", Payload::Reals(reals.collect())),
            ("text_names", names(self.texts)),
            ("texts", Payload::Texts(texts.collect())),
        ]
    }
}

impl Recording {
    pub fn user_instant(&mut self, name: &str, given: &Given<'_>) -> &mut Recording {
        let mut fields = vec![("name", Payload::Text(name.to_owned()))];
        fields.extend(given.payload());
        self.event("rostrace:instant", &fields)
    }

    pub fn span_begin(&mut self, name: &str, span: u64, given: &Given<'_>) -> &mut Recording {
        let mut fields = vec![
            ("name", Payload::Text(name.to_owned())),
            ("span", Payload::Unsigned(span)),
        ];
        fields.extend(given.payload());
        self.event("rostrace:span_begin", &fields)
    }

    pub fn span_end(&mut self, name: &str, span: u64) -> &mut Recording {
        let name = Payload::Text(name.to_owned());
        let fields = [("name", name), ("span", Payload::Unsigned(span))];
        self.event("rostrace:span_end", &fields)
    }

    pub fn user_counter(&mut self, name: &str, value: f64) -> &mut Recording {
        let name = Payload::Text(name.to_owned());
        let fields = [("name", name), ("value", Payload::Real(value))];
        self.event("rostrace:counter", &fields)
    }
}
