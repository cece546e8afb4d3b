//! Type names and where they can be seen: file, block, body of a structure or variant, from the inside outwards.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::ast::{AstClass, AstOption};
use super::super::error::{MetadataError, Position, Result};

/// A type that a name stands for.
#[derive(Debug, Clone)]
pub(super) enum Type {
    Field(Rc<AstClass>),
    /// A variant that gets its tag where it is used.
    Untagged(Rc<[AstOption]>),
}

/// `typedef` and `typealias` names, and those of structures, variants and enumerations, are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Space {
    Alias,
    Structure,
    Variant,
    Enumeration,
}

/// The open lexical scopes, outermost first.
#[derive(Debug)]
pub(super) struct TypeScopes {
    open: Vec<HashMap<(Space, String), Type>>,
}

impl TypeScopes {
    pub(super) fn new() -> TypeScopes {
        TypeScopes {
            open: vec![HashMap::new()],
        }
    }

    pub(super) fn enter(&mut self) {
        self.open.push(HashMap::new());
    }

    pub(super) fn leave(&mut self) {
        self.open.pop();
    }

    pub(super) fn declare(
        &mut self,
        space: Space,
        name: &str,
        class: Type,
        at: Position,
    ) -> Result<()> {
        let Some(scope) = self.open.last_mut() else {
            return Ok(());
        };
        match scope.insert((space, name.to_owned()), class) {
            None => Ok(()),
            Some(_) => Err(at.error(format!(
                "{} is already declared in this scope",
                space.describe(name)
            ))),
        }
    }

    pub(super) fn find(&self, space: Space, name: &str) -> Option<&Type> {
        let key = (space, name.to_owned());
        self.open.iter().rev().find_map(|scope| scope.get(&key))
    }
}

impl Space {
    pub(super) fn describe(self, name: &str) -> String {
        match self {
            Space::Alias => format!("the type '{name}'"),
            Space::Structure => format!("'struct {name}'"),
            Space::Variant => format!("'variant {name}'"),
            Space::Enumeration => format!("'enum {name}'"),
        }
    }

    pub(super) fn not_found(self, name: &str, at: Position) -> MetadataError {
        at.error(format!("{} is not declared", self.describe(name)))
            .with_hint("a type must be declared before its first use")
    }
}
