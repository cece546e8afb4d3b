//! The shape of a TSDL text, before anything in it has a meaning.

use super::super::error::Position;

/// One top-level declaration.
#[derive(Debug)]
pub(super) enum Item<'t> {
    Block(Block<'t>),
    Types(TypeDeclaration<'t>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Trace,
    Environment,
    Clock,
    Stream,
    Event,
    Callsite,
}

/// `trace { … };` and its like.
#[derive(Debug)]
pub(super) struct Block<'t> {
    pub(super) kind: BlockKind,
    pub(super) at: Position,
    pub(super) entries: Vec<BlockEntry<'t>>,
}

#[derive(Debug)]
pub(super) enum BlockEntry<'t> {
    Value(Assignment),
    /// `event.header := struct …;`
    Class {
        name: String,
        at: Position,
        class: Specifiers<'t>,
    },
    Types(TypeDeclaration<'t>),
}

/// `name = value;` The name is dot-joined: `model.emf.uri`.
#[derive(Debug)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) at: Position,
    pub(super) value: Expression,
}

#[derive(Debug)]
pub(super) struct Expression {
    pub(super) at: Position,
    pub(super) kind: ExpressionKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExpressionKind {
    Integer(i128),
    Text(String),
    /// Words joined by dots.
    Name(String),
}

/// Declarations that make type names.
#[derive(Debug)]
pub(super) enum TypeDeclaration<'t> {
    /// A named structure, variant or enumeration.
    Named(Specifiers<'t>),
    Typedef {
        class: Specifiers<'t>,
        declarators: Vec<Declarator<'t>>,
    },
    Typealias {
        class: Specifiers<'t>,
        shape: Declarator<'t>,
        alias: Specifiers<'t>,
        alias_shape: Declarator<'t>,
    },
}

/// What stands before the declarators: words that name a type together, or a type's definition.
#[derive(Debug)]
pub(super) struct Specifiers<'t> {
    pub(super) at: Position,
    pub(super) list: Vec<Specifier<'t>>,
}

#[derive(Debug)]
pub(super) enum Specifier<'t> {
    Word(&'t str),
    Integer(Vec<Assignment>),
    Float(Vec<Assignment>),
    String(Vec<Assignment>),
    Enumeration(Enumeration<'t>),
    Variant(Variant<'t>),
    Structure(Structure<'t>),
}

#[derive(Debug)]
pub(super) struct Structure<'t> {
    pub(super) name: Option<&'t str>,
    pub(super) members: Option<Vec<MemberEntry<'t>>>,
    pub(super) align: Option<Expression>,
}

#[derive(Debug)]
pub(super) struct Variant<'t> {
    pub(super) name: Option<&'t str>,
    pub(super) tag: Option<Expression>,
    pub(super) options: Option<Vec<MemberEntry<'t>>>,
}

#[derive(Debug)]
pub(super) struct Enumeration<'t> {
    pub(super) name: Option<&'t str>,
    pub(super) container: Option<Box<Specifiers<'t>>>,
    pub(super) enumerators: Option<Vec<Enumerator>>,
}

#[derive(Debug)]
pub(super) struct Enumerator {
    pub(super) at: Position,
    pub(super) label: String,
    pub(super) low: Option<Expression>,
    pub(super) high: Option<Expression>,
}

/// One entry in the body of a structure or variant.
#[derive(Debug)]
pub(super) enum MemberEntry<'t> {
    Members {
        class: Specifiers<'t>,
        declarators: Vec<Declarator<'t>>,
    },
    Types(TypeDeclaration<'t>),
}

/// `* const name [2][3]`; in `(…)[4]` the inner declarator takes the place of the name.
#[derive(Debug, Default)]
pub(super) struct Declarator<'t> {
    pub(super) at: Position,
    /// The number of `const` after each star.
    pub(super) pointers: Vec<usize>,
    pub(super) name: Option<&'t str>,
    pub(super) inner: Option<Box<Declarator<'t>>>,
    pub(super) lengths: Vec<Expression>,
}
