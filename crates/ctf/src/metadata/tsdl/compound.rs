//! The meaning of structures, variants, declarators and of declarations that make type names.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use super::super::ast::{
    AstClass, AstInteger, AstKind, AstLength, AstMember, AstOption, AstStruct, Reference,
    ReferenceOrigin, RootScope,
};
use super::super::error::{Position, Result};
use super::attribute::alignment;
use super::class::type_name;
use super::evaluator::Evaluator;
use super::scope::{Space, Type};
use super::syntax::{
    Declarator, Expression, ExpressionKind, MemberEntry, Specifier, Specifiers, Structure,
    TypeDeclaration, Variant,
};
use crate::schema::{Base, Encoding, EnvironmentValue};

const SCOPE_PREFIXES: [(&str, RootScope); 6] = [
    ("trace.packet.header.", RootScope::PacketHeader),
    ("stream.packet.context.", RootScope::PacketContext),
    ("stream.event.header.", RootScope::EventHeader),
    ("stream.event.context.", RootScope::CommonContext),
    ("event.context.", RootScope::SpecificContext),
    ("event.fields.", RootScope::Payload),
];

impl Evaluator<'_> {
    /// A field's class: anything but a variant without a tag.
    pub(super) fn field(&mut self, specifiers: &Specifiers) -> Result<Rc<AstClass>> {
        match self.specified(specifiers)? {
            Type::Field(field) => Ok(field),
            Type::Untagged(_) => Err(untagged(specifiers.at)),
        }
    }

    pub(super) fn structure(&mut self, syntax: &Structure, at: Position) -> Result<Rc<AstClass>> {
        let Some(entries) = &syntax.members else {
            let name = syntax.name.unwrap_or_default();
            return match self.scopes.find(Space::Structure, name) {
                Some(Type::Field(field)) => Ok(Rc::clone(field)),
                _ => self.field_named(&format!("struct {name}"), Space::Structure, name, at),
            };
        };
        let members = self.members(entries)?;
        let minimum_align = match &syntax.align {
            Some(expression) => alignment(expression)?,
            None => 1,
        };
        let structure = AstStruct::new(members, minimum_align)?;
        let field = AstClass::new(AstKind::Structure(structure), at)?;
        if let Some(name) = syntax.name {
            let class = Type::Field(Rc::clone(&field));
            self.scopes.declare(Space::Structure, name, class, at)?;
        }
        Ok(field)
    }

    pub(super) fn variant(&mut self, syntax: &Variant, at: Position) -> Result<Type> {
        let options = match &syntax.options {
            Some(entries) => {
                let options = self.options(entries, at)?;
                if let Some(name) = syntax.name {
                    let class = Type::Untagged(Rc::clone(&options));
                    self.scopes.declare(Space::Variant, name, class, at)?;
                }
                options
            }
            None => {
                let name = syntax.name.unwrap_or_default();
                let alias = format!("variant {name}");
                match self
                    .scopes
                    .find(Space::Variant, name)
                    .or_else(|| self.scopes.find(Space::Alias, &alias))
                {
                    Some(Type::Untagged(options)) => Rc::clone(options),
                    _ => return Err(Space::Variant.not_found(name, at)),
                }
            }
        };
        let Some(tag) = &syntax.tag else {
            return Ok(Type::Untagged(options));
        };
        let Some(path) = tag.text() else {
            return Err(tag.at.error("the tag of a variant must name a field"));
        };
        let selector = reference(path, tag.at);
        AstClass::new(AstKind::Variant { selector, options }, at).map(Type::Field)
    }

    fn options(&mut self, entries: &[MemberEntry], at: Position) -> Result<Rc<[AstOption]>> {
        let mut names = HashSet::new();
        let mut options = Vec::new();
        for member in self.members(entries)? {
            if !names.insert(Arc::clone(&member.original_name)) {
                return Err(member.at.error(format!(
                    "the variant already has an option named '{}'",
                    member.original_name
                )));
            }
            options.push(AstOption {
                name: member.name,
                original_name: member.original_name,
                ranges: None,
                at: member.at,
                class: member.class,
            });
        }
        if options.is_empty() {
            return Err(at.error("a variant needs at least one option"));
        }
        Ok(options.into())
    }

    fn members(&mut self, entries: &[MemberEntry]) -> Result<Vec<AstMember>> {
        self.scopes.enter();
        let mut members = Vec::new();
        for entry in entries {
            match entry {
                MemberEntry::Types(declaration) => self.declare_types(declaration)?,
                MemberEntry::Members { class, declarators } => {
                    let mut base = self.definition(class)?;
                    for declarator in declarators {
                        let (name, field) = self.declared(class, &mut base, declarator)?;
                        let Type::Field(field) = field else {
                            return Err(untagged(declarator.at));
                        };
                        members.push(AstMember {
                            name: display_name(name).into(),
                            original_name: name.into(),
                            at: declarator.at,
                            class: field,
                        });
                    }
                }
            }
        }
        self.scopes.leave();
        Ok(members)
    }

    pub(super) fn declare_types(&mut self, declaration: &TypeDeclaration) -> Result<()> {
        match declaration {
            TypeDeclaration::Named(specifiers) => {
                self.specified(specifiers)?;
            }
            TypeDeclaration::Typedef { class, declarators } => {
                let mut base = self.definition(class)?;
                for declarator in declarators {
                    let (name, class) = self.declared(class, &mut base, declarator)?;
                    self.scopes
                        .declare(Space::Alias, name, class, declarator.at)?;
                }
            }
            TypeDeclaration::Typealias {
                class,
                shape,
                alias,
                alias_shape,
            } => {
                let mut base = self.definition(class)?;
                let (_, class) = self.declared(class, &mut base, shape)?;
                let name = type_name(alias)
                    .filter(|_| alias_shape.lengths.is_empty() && alias_shape.inner.is_none())
                    .ok_or_else(|| {
                        alias
                            .at
                            .error("the right side of a typealias must be a name")
                    })?;
                let name = pointer_name(&name, &alias_shape.pointers);
                self.scopes.declare(Space::Alias, &name, class, alias.at)?;
            }
        }
        Ok(())
    }

    /// The type that specifiers define. Names alone are looked up only when a declarator needs the type itself: a
    /// pointer does not, `void` has none.
    fn definition(&mut self, class: &Specifiers) -> Result<Option<Type>> {
        let is_name = class
            .list
            .iter()
            .all(|specifier| matches!(specifier, Specifier::Word(_)));
        match is_name {
            true => Ok(None),
            false => self.specified(class).map(Some),
        }
    }

    /// The name and the type that a declarator makes of a base type.
    fn declared<'t>(
        &mut self,
        specifiers: &Specifiers,
        base: &mut Option<Type>,
        declarator: &Declarator<'t>,
    ) -> Result<(&'t str, Type)> {
        let mut class_name = type_name(specifiers);
        let mut class = base.clone();
        let mut declarator = declarator;
        loop {
            if !declarator.pointers.is_empty() {
                let name = class_name.as_deref().ok_or_else(|| {
                    declarator
                        .at
                        .error("only types that have a name can have pointers")
                })?;
                let name = pointer_name(name, &declarator.pointers);
                class = Some(Type::Field(self.pointer(&name, declarator.at)?));
                class_name = Some(name);
            }
            let mut shaped = match class {
                Some(class) => class,
                None => base.insert(self.specified(specifiers)?).clone(),
            };
            // `a[2][3]` is an array of two arrays of three.
            for length in declarator.lengths.iter().rev() {
                let Type::Field(element) = shaped else {
                    return Err(untagged(declarator.at));
                };
                shaped = Type::Field(self.array(element, length, declarator.at)?);
                class_name = None;
            }
            match &declarator.inner {
                Some(inner) => declarator = inner,
                None => return Ok((declarator.name.unwrap_or_default(), shaped)),
            }
            class = Some(shaped);
        }
    }

    /// Pointers are integers that somebody declared under the pointer's name. They are shown in base 16.
    fn pointer(&self, name: &str, at: Position) -> Result<Rc<AstClass>> {
        let class = self.named(name, at).map_err(|error| {
            error.with_hint(format!(
                "declare it: typealias integer {{ size = 64; }} := {name};"
            ))
        })?;
        let integer = match &class {
            Type::Field(field) => field.integer(),
            Type::Untagged(_) => None,
        };
        let Some(integer) = integer else {
            return Err(at.error(format!("the pointer type '{name}' must be an integer")));
        };
        let integer = AstInteger {
            base: Base::Hexadecimal,
            ..integer.clone()
        };
        AstClass::new(AstKind::Integer(integer), at)
    }

    fn array(
        &self,
        element: Rc<AstClass>,
        length: &Expression,
        at: Position,
    ) -> Result<Rc<AstClass>> {
        let length = match &length.kind {
            ExpressionKind::Integer(value) => AstLength::Fixed(array_length(*value, length.at)?),
            ExpressionKind::Name(path) | ExpressionKind::Text(path) => {
                match path.strip_prefix("env.") {
                    Some(name) => AstLength::Fixed(self.length_from_environment(name, length.at)?),
                    None => AstLength::Field(reference(path, length.at)),
                }
            }
        };
        let is_text = element
            .integer()
            .is_some_and(|integer| integer.is_character);
        let kind = if is_text {
            AstKind::Text {
                length,
                encoding: Encoding::Utf8,
            }
        } else {
            AstKind::Array {
                length,
                minimum_align: 1,
                element,
            }
        };
        AstClass::new(kind, at)
    }

    fn length_from_environment(&self, name: &str, at: Position) -> Result<u64> {
        match self.environment_value(name) {
            Some(EnvironmentValue::Integer(value)) => array_length(i128::from(*value), at),
            Some(EnvironmentValue::Text(_)) => Err(at.error(format!(
                "the length is the environment's '{name}', which is a text and no number"
            ))),
            None => Err(at.error(format!("the environment has no entry '{name}'"))),
        }
    }
}

fn array_length(value: i128, at: Position) -> Result<u64> {
    u64::try_from(value).map_err(|_| at.error(format!("the length of an array cannot be {value}")))
}

/// A path, absolute when it starts with the name of a scope.
fn reference(path: &str, at: Position) -> Reference {
    let (origin, path) = SCOPE_PREFIXES
        .iter()
        .find_map(|(prefix, scope)| {
            let rest = path.strip_prefix(prefix)?;
            Some((ReferenceOrigin::Scope(*scope), rest))
        })
        .unwrap_or((ReferenceOrigin::Search, path));
    let names = path.split('.').map(str::to_owned).collect();
    Reference::new(at, origin, names)
}

/// `T * const *`
fn pointer_name(name: &str, pointers: &[usize]) -> String {
    let mut name = name.to_owned();
    for constants in pointers {
        name.push_str(" *");
        name.push_str(&" const".repeat(*constants));
    }
    name
}

/// Without the one underscore that producers prefix to avoid keywords.
fn display_name(name: &str) -> &str {
    match name.strip_prefix('_') {
        Some(rest) if !rest.is_empty() => rest,
        _ => name,
    }
}

fn untagged(at: Position) -> super::super::error::MetadataError {
    at.error("this variant has no tag")
        .with_hint("write variant NAME <TAG> where it is used")
}
