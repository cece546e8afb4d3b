//! The meaning of types that hold no others: integers, floating-point numbers, strings, enumerations; and of names.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::ast::{AstClass, AstInteger, AstKind, Labels};
use super::super::error::{Position, Result};
use super::attribute::{SeenNames, unknown};
use super::evaluator::Evaluator;
use super::scope::{Space, Type};
use super::syntax::{Assignment, Enumeration, Enumerator, Expression, Specifier, Specifiers};
use crate::schema::{Base, BitField, Encoding, IntegerForm, Label, Mappings, Range, with_sign};

/// The words that name a type, joined by single spaces.
pub(super) fn type_name(specifiers: &Specifiers) -> Option<String> {
    let mut words = Vec::with_capacity(specifiers.list.len());
    for specifier in &specifiers.list {
        match specifier {
            Specifier::Word("_Bool") => words.push("bool".to_owned()),
            Specifier::Word(word) => words.push((*word).to_owned()),
            Specifier::Structure(structure) => words.push(format!("struct {}", structure.name?)),
            Specifier::Variant(variant) => words.push(format!("variant {}", variant.name?)),
            Specifier::Enumeration(enumeration) => {
                words.push(format!("enum {}", enumeration.name?));
            }
            Specifier::Integer(_) | Specifier::Float(_) | Specifier::String(_) => return None,
        }
    }
    Some(words.join(" "))
}

impl Evaluator<'_> {
    /// The type that specifiers mean.
    pub(super) fn specified(&mut self, specifiers: &Specifiers) -> Result<Type> {
        let at = specifiers.at;
        let definition = specifiers
            .list
            .iter()
            .find(|specifier| !matches!(specifier, Specifier::Word(_)));
        let field = match definition {
            None => return self.named(&type_name(specifiers).unwrap_or_default(), at),
            Some(Specifier::Structure(structure)) => self.structure(structure, at)?,
            Some(Specifier::Variant(variant)) => return self.variant(variant, at),
            Some(Specifier::Enumeration(enumeration)) => self.enumeration(enumeration, at)?,
            Some(Specifier::Integer(attributes)) => self.integer(attributes, at)?,
            Some(Specifier::Float(attributes)) => self.float(attributes, at)?,
            Some(Specifier::String(attributes)) => self.string(attributes, at)?,
            Some(Specifier::Word(_)) => return Err(at.error("expected a type")),
        };
        Ok(Type::Field(field))
    }

    /// The type of this name; where `const T` was not declared, T.
    pub(super) fn named(&self, name: &str, at: Position) -> Result<Type> {
        let found = self.scopes.find(Space::Alias, name).or_else(|| {
            let words: Vec<&str> = name.split(' ').filter(|word| *word != "const").collect();
            self.scopes.find(Space::Alias, &words.join(" "))
        });
        found
            .cloned()
            .ok_or_else(|| Space::Alias.not_found(name, at))
    }

    fn integer(&mut self, attributes: &[Assignment], at: Position) -> Result<Rc<AstClass>> {
        let (mut size, mut align) = (None, None);
        let mut order = self.byte_order;
        let mut integer = AstInteger {
            form: IntegerForm::Variable,
            signed: false,
            base: Base::Decimal,
            labels: None,
            clock: None,
            is_character: false,
            role: None,
        };
        let mut is_encoded = false;
        for attribute in each_once(attributes) {
            let attribute = attribute?;
            match attribute.name.as_str() {
                "size" => {
                    size = Some(
                        u8::try_from(attribute.unsigned()?)
                            .ok()
                            .filter(|size| (1..=64).contains(size))
                            .ok_or_else(|| {
                                attribute.value.at.error(format!(
                                    "the size of an integer must be 1 to 64 bits, but is {}",
                                    attribute.value.kind
                                ))
                            })?,
                    );
                }
                "align" => align = Some(attribute.alignment()?),
                "signed" => integer.signed = attribute.boolean()?,
                "byte_order" => order = attribute.byte_order(Some(self.byte_order))?,
                "base" => integer.base = attribute.base()?,
                "encoding" => is_encoded = attribute.is_encoded()?,
                "map" => integer.clock = Some(self.clock(attribute.clock_name()?, attribute.at)?),
                _ => self.unknown(attribute, "an integer"),
            }
        }
        let size = size.ok_or_else(|| {
            at.error("the integer has no size")
                .with_hint("write integer { size = BITS; }")
        })?;
        let align = align.unwrap_or(if size % 8 == 0 { 8 } else { 1 });
        integer.form = IntegerForm::Fixed(BitField::new(size, align, order));
        integer.is_character = is_encoded && size == 8 && align == 8;
        AstClass::new(AstKind::Integer(integer), at)
    }

    fn unknown(&mut self, attribute: &Assignment, owner: &str) {
        let warning = unknown(&attribute.name, attribute.at, owner);
        self.warnings.push(warning);
    }

    fn clock(&self, name: &str, at: Position) -> Result<usize> {
        self.clock_index
            .get(name)
            .copied()
            .ok_or_else(|| at.error(format!("there is no clock named '{name}'")))
    }

    fn float(&mut self, attributes: &[Assignment], at: Position) -> Result<Rc<AstClass>> {
        let (mut exponent, mut mantissa) = (None, None);
        let mut align = 8;
        let mut order = self.byte_order;
        for attribute in each_once(attributes) {
            let attribute = attribute?;
            match attribute.name.as_str() {
                "exp_dig" => exponent = Some(attribute.unsigned()?),
                "mant_dig" => mantissa = Some(attribute.unsigned()?),
                "align" => align = attribute.alignment()?,
                "byte_order" => order = attribute.byte_order(Some(self.byte_order))?,
                _ => self.unknown(attribute, "a floating-point number"),
            }
        }
        let size = match (exponent, mantissa) {
            (Some(8), Some(24)) => 32,
            (Some(11), Some(53)) => 64,
            (Some(exponent), Some(mantissa)) => {
                return Err(at
                    .error(format!(
                        "floating-point numbers with {exponent} digits of exponent and {mantissa} of mantissa are not supported"
                    ))
                    .with_hint("IEEE 754 binary32 (8, 24) and binary64 (11, 53) are"));
            }
            _ => return Err(at.error("a floating-point number needs exp_dig and mant_dig")),
        };
        AstClass::new(AstKind::Float(BitField::new(size, align, order)), at)
    }

    fn string(&mut self, attributes: &[Assignment], at: Position) -> Result<Rc<AstClass>> {
        for attribute in each_once(attributes) {
            let attribute = attribute?;
            match attribute.name.as_str() {
                "encoding" => attribute.is_encoded().map(drop)?,
                _ => self.unknown(attribute, "a string"),
            }
        }
        AstClass::new(AstKind::String(Encoding::Utf8), at)
    }

    fn enumeration(&mut self, syntax: &Enumeration, at: Position) -> Result<Rc<AstClass>> {
        let Some(enumerators) = &syntax.enumerators else {
            let name = syntax.name.unwrap_or_default();
            return match self.scopes.find(Space::Enumeration, name) {
                Some(Type::Field(field)) => Ok(Rc::clone(field)),
                _ => self.field_named(&format!("enum {name}"), Space::Enumeration, name, at),
            };
        };
        let container = match &syntax.container {
            Some(specifiers) => self.specified(specifiers)?,
            None => self.named("int", at).map_err(|error| {
                error.with_hint(
                    "an enumeration without a container uses the type 'int'; declare it, or write enum : TYPE { … }",
                )
            })?,
        };
        let container = match &container {
            Type::Field(field) => field.integer().filter(|integer| integer.labels.is_none()),
            Type::Untagged(_) => None,
        };
        let Some(container) = container else {
            return Err(at.error("the container of an enumeration must be an integer"));
        };
        let mappings = mappings(enumerators, container.signed)?;
        let integer = AstInteger {
            labels: Some(Rc::new(Labels::new(mappings))),
            ..container.clone()
        };
        let field = AstClass::new(AstKind::Integer(integer), at)?;
        if let Some(name) = syntax.name {
            let class = Type::Field(Rc::clone(&field));
            self.scopes.declare(Space::Enumeration, name, class, at)?;
        }
        Ok(field)
    }

    /// `struct NAME` and its like may also have been made by `typealias`.
    pub(super) fn field_named(
        &self,
        alias: &str,
        space: Space,
        name: &str,
        at: Position,
    ) -> Result<Rc<AstClass>> {
        match self.scopes.find(Space::Alias, alias) {
            Some(Type::Field(field)) => Ok(Rc::clone(field)),
            _ => Err(space.not_found(name, at)),
        }
    }
}

/// The attributes; an error where one is given twice.
fn each_once(attributes: &[Assignment]) -> impl Iterator<Item = Result<&Assignment>> {
    let mut seen = SeenNames::default();
    attributes.iter().map(move |attribute| {
        seen.note(&attribute.name, attribute.at)?;
        Ok(attribute)
    })
}

/// The labels in the order of first declaration, each with all its ranges.
fn mappings(enumerators: &[Enumerator], signed: bool) -> Result<Mappings> {
    let mut labels: Vec<Label> = Vec::new();
    let mut index: HashMap<&str, usize> = HashMap::new();
    let mut next: i128 = 0;
    for enumerator in enumerators {
        let low = match &enumerator.low {
            Some(expression) => enumerator_value(expression, signed)?,
            None => next,
        };
        let high = match &enumerator.high {
            Some(expression) => enumerator_value(expression, signed)?,
            None => low,
        };
        let limit = match signed {
            true => i64::MAX as i128,
            false => u64::MAX as i128,
        };
        if low > high || high > limit {
            return Err(enumerator.at.error(format!(
                "the label '{}' has the impossible range {low} ... {high}",
                enumerator.label
            )));
        }
        next = high + 1;
        let i = *index.entry(&enumerator.label).or_insert_with(|| {
            labels.push(Label {
                name: enumerator.label.clone(),
                ranges: Vec::new(),
            });
            labels.len() - 1
        });
        labels[i].ranges.push(Range { low, high });
    }
    Ok(Mappings { labels })
}

/// The value with the signedness of the container: tracers print the same 64 bits either way.
fn enumerator_value(expression: &Expression, signed: bool) -> Result<i128> {
    let value = expression.integer().ok_or_else(|| {
        expression.at.error(format!(
            "the value of a label must be a number, but is {}",
            expression.kind
        ))
    })?;
    if value < i128::from(i64::MIN) {
        return Err(expression
            .at
            .error(format!("the number {value} does not fit 64 bits")));
    }
    Ok(with_sign(value as u64, signed))
}
