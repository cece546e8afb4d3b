//! From tokens to top-level declarations and blocks; the syntax of types is in `type_parser`.
//!
//! babeltrace's lexer must know which identifiers are types. Here the place decides: the first plain word of a
//! declaration is a type, a later one is the declared name unless something that can be declared follows it.

use super::super::error::{MetadataError, Position};
use super::syntax::{Assignment, Block, BlockEntry, BlockKind, Expression, ExpressionKind, Item};
use super::token::{Token, TokenKind, is_keyword, tokens};

/// How deep types, declarators and parentheses may be nested.
const MAX_NESTING: usize = 100;

/// The declarations up to the first fault, and the fault.
#[derive(Debug)]
pub(super) struct Parsed<'t> {
    pub(super) items: Vec<Item<'t>>,
    pub(super) fault: Option<SyntaxError>,
}

#[derive(Debug)]
pub(super) struct SyntaxError {
    pub(super) error: MetadataError,
    /// The text ended where something was still missing.
    pub(super) at_end: bool,
}

/// A fault that more text would not mend.
impl From<MetadataError> for SyntaxError {
    fn from(error: MetadataError) -> SyntaxError {
        SyntaxError {
            error,
            at_end: false,
        }
    }
}

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

pub(super) fn parse(text: &str) -> Parsed<'_> {
    let mut parser = Parser {
        tokens: tokens(text),
        next: 0,
        nesting: 0,
    };
    let mut items = Vec::new();
    while !matches!(parser.peek(0), TokenKind::End) {
        match parser.item() {
            Ok(item) => items.push(item),
            Err(fault) => {
                let fault = Some(fault);
                return Parsed { items, fault };
            }
        }
    }
    Parsed { items, fault: None }
}

pub(super) struct Parser<'t> {
    /// Never empty; the last one is never consumed.
    tokens: Vec<Token<'t>>,
    next: usize,
    nesting: usize,
}

impl<'t> Parser<'t> {
    fn item(&mut self) -> Result<Item<'t>> {
        let at = self.at();
        let kind = match self.peek(0) {
            TokenKind::Word(word) if self.peek(1) == &TokenKind::Mark("{") => match *word {
                "trace" => Some(BlockKind::Trace),
                "env" => Some(BlockKind::Environment),
                "clock" => Some(BlockKind::Clock),
                "stream" => Some(BlockKind::Stream),
                "event" => Some(BlockKind::Event),
                "callsite" => Some(BlockKind::Callsite),
                _ => None,
            },
            _ => None,
        };
        let Some(kind) = kind else {
            let declaration = self.type_declaration()?;
            self.expect(";")?;
            return Ok(Item::Types(declaration));
        };
        self.next += 2;
        let mut entries = Vec::new();
        while !self.accept("}") {
            entries.push(self.entry()?);
            self.expect(";")?;
        }
        self.expect(";")?;
        Ok(Item::Block(Block { kind, at, entries }))
    }

    fn entry(&mut self) -> Result<BlockEntry<'t>> {
        let assigns = match self.peek(0) {
            TokenKind::Word(_) => matches!(
                self.peek(1),
                TokenKind::Mark("=" | ":=" | "." | "->" | "[")
                    // A cut after the name: the name of what, nobody knows.
                    | TokenKind::End | TokenKind::Unfinished(_)
            ),
            _ => true,
        };
        if !assigns {
            return Ok(BlockEntry::Types(self.type_declaration()?));
        }
        let (name, at) = self.left_side()?;
        if self.accept(":=") {
            let class = self.specifiers(false)?;
            return Ok(BlockEntry::Class { name, at, class });
        }
        self.expect("=")?;
        let value = self.expression()?;
        Ok(BlockEntry::Value(Assignment { name, at, value }))
    }

    /// `{ name = value; … }`, from the brace on.
    pub(super) fn attributes(&mut self) -> Result<Vec<Assignment>> {
        self.expect("{")?;
        let mut list = Vec::new();
        while !self.accept("}") {
            let (name, at) = self.left_side()?;
            self.expect("=")?;
            let value = self.expression()?;
            self.expect(";")?;
            list.push(Assignment { name, at, value });
        }
        Ok(list)
    }

    fn left_side(&mut self) -> Result<(String, Position)> {
        let at = self.at();
        match self.postfix()?.kind {
            ExpressionKind::Name(name) | ExpressionKind::Text(name) => Ok((name, at)),
            ExpressionKind::Integer(_) => Err(at
                .error("expected the name of an attribute, found a number")
                .into()),
        }
    }

    pub(super) fn expression(&mut self) -> Result<Expression> {
        let at = self.at();
        let negative = match self.peek(0) {
            TokenKind::Mark("-") => Some(true),
            TokenKind::Mark("+") => Some(false),
            _ => None,
        };
        let Some(negative) = negative else {
            return self.postfix();
        };
        self.next += 1;
        match self.postfix()?.kind {
            ExpressionKind::Integer(value) => Ok(Expression {
                at,
                kind: ExpressionKind::Integer(if negative { -value } else { value }),
            }),
            _ => Err(at.error("expected a number after the sign").into()),
        }
    }

    /// A literal, a name with dots, or an expression in parentheses.
    pub(super) fn postfix(&mut self) -> Result<Expression> {
        let at = self.at();
        let kind = match self.peek(0) {
            TokenKind::Integer(value) => ExpressionKind::Integer(i128::from(*value)),
            TokenKind::Text(text) => ExpressionKind::Text(text.clone()),
            TokenKind::Mark("(") => {
                self.next += 1;
                let inner = self.nested(Self::expression)?;
                self.expect(")")?;
                return Ok(inner);
            }
            TokenKind::Word(word) => {
                let mut name = (*word).to_owned();
                self.next += 1;
                loop {
                    if self.accept(".") {
                        name.push('.');
                        name.push_str(self.any_name()?);
                    } else if self.accept("->") {
                        name.push_str("->");
                        name.push_str(self.any_name()?);
                    } else if self.accept("[") {
                        let index = self.nested(Self::expression)?;
                        self.expect("]")?;
                        name.push_str(&format!("[{}]", index.kind));
                    } else {
                        let kind = ExpressionKind::Name(name);
                        return Ok(Expression { at, kind });
                    }
                }
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.next += 1;
        Ok(Expression { at, kind })
    }

    /// An identifier, a type name or a keyword.
    fn any_name(&mut self) -> Result<&'t str> {
        match self.peek(0) {
            TokenKind::Word(word) => {
                let word = *word;
                self.next += 1;
                Ok(word)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.nesting == MAX_NESTING {
            let message =
                format!("this is nested in more than {MAX_NESTING} others, which no tracer writes");
            return Err(self.at().error(message).into());
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    pub(super) fn peek(&self, ahead: usize) -> &TokenKind<'t> {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.next + ahead).min(last)].kind
    }

    pub(super) fn at(&self) -> Position {
        self.tokens[self.next.min(self.tokens.len() - 1)].at
    }

    pub(super) fn step(&mut self) {
        self.next += 1;
    }

    pub(super) fn accept(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(0), TokenKind::Mark(found) if *found == mark);
        if found {
            self.next += 1;
        }
        found
    }

    pub(super) fn expect(&mut self, mark: &str) -> Result<()> {
        if self.accept(mark) {
            return Ok(());
        }
        let mut error = self.unexpected(&format!("'{mark}'"));
        if mark == ";" {
            error.error = error
                .error
                .with_hint("every declaration and every block ends with ';'");
        }
        Err(error)
    }

    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(0), TokenKind::Word(found) if *found == word);
        if found {
            self.next += 1;
        }
        found
    }

    /// The plain identifier at the cursor, not consumed.
    pub(super) fn identifier(&self) -> Option<&'t str> {
        match self.peek(0) {
            TokenKind::Word(word) if !is_keyword(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn unexpected(&self, expected: &str) -> SyntaxError {
        let found = match self.peek(0) {
            TokenKind::Word(word) if is_keyword(word) => format!("the keyword '{word}'"),
            TokenKind::Word(word) => format!("'{word}'"),
            TokenKind::Integer(value) => format!("the number {value}"),
            TokenKind::Text(text) => format!("the text \"{}\"", text.escape_debug()),
            TokenKind::Mark(mark) => format!("'{mark}'"),
            TokenKind::Unfinished(what) => format!("the end of the text inside {what}"),
            TokenKind::End => "the end of the text".to_owned(),
            TokenKind::Invalid(message) => return self.at().error(message.clone()).into(),
        };
        SyntaxError {
            error: self
                .at()
                .error(format!("expected {expected}, found {found}")),
            at_end: matches!(self.peek(0), TokenKind::End | TokenKind::Unfinished(_)),
        }
    }
}

impl std::fmt::Display for ExpressionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ExpressionKind::Integer(value) => write!(f, "{value}"),
            ExpressionKind::Text(text) => write!(f, "\"{}\"", text.escape_debug()),
            ExpressionKind::Name(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> SyntaxError {
        parse(text).fault.expect("should not parse")
    }

    #[test]
    fn a_block_ends_with_a_semicolon() {
        assert!(parse("trace {};").fault.is_none());
        let fault = fault("trace {} stream {};");
        assert_eq!(
            fault.error.to_string(),
            "line 1, column 10: expected ';', found the keyword 'stream'; every declaration and every block ends with ';'"
        );
        assert!(!fault.at_end);
    }

    #[test]
    fn a_fault_where_the_text_ends_is_reported_from_others() {
        for text in [
            "trace { major",
            "trace { major = 1; ",
            "trace { a = \"x",
            "event {}",
            "struct a { u8 x; /* ",
            "typealias integer { size = 8; } :",
            "enum x { A = 0 ..",
        ] {
            let text = format!("env {{}}; {text}");
            let parsed = parse(&text);
            assert_eq!(parsed.items.len(), 1, "{text}");
            assert!(parsed.fault.expect("should be cut").at_end, "{text}");
        }
        assert!(!fault("trace { ] = 1; };").at_end);
    }

    #[test]
    fn hostile_nesting_is_an_error() {
        for text in [
            format!("trace {{ a = {}", "(".repeat(1_000_000)),
            "struct { ".repeat(100_000),
            format!("struct {{ u8 {}", "(".repeat(1_000_000)),
            "enum : ".repeat(100_000),
            format!("trace {{ a{}", "[a".repeat(1_000_000)),
        ] {
            assert!(fault(&text).error.message.contains("nested"));
        }
    }

    #[test]
    fn a_keyword_is_no_member_name() {
        let fault = fault("struct s { u8 event; };");
        assert!(fault.error.message.contains("keyword 'event'"));
    }
}
