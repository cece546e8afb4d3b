//! The syntax of types: specifiers, declarators, structures, variants, enumerations, `typedef` and `typealias`.

use super::parser::{Parser, Result};
use super::syntax::{
    Declarator, Enumeration, Enumerator, MemberEntry, Specifier, Specifiers, Structure,
    TypeDeclaration, Variant,
};
use super::token::TokenKind;

/// Keywords that are, or are part of, the name of a type.
const TYPE_WORDS: &str =
    "void char short int long float double signed unsigned _Bool _Complex _Imaginary";

impl<'t> Parser<'t> {
    /// A declaration of types, without its semicolon.
    pub(super) fn type_declaration(&mut self) -> Result<TypeDeclaration<'t>> {
        if self.accept_word("typealias") {
            return self.typealias();
        }
        let at = self.at();
        let mut list = Vec::new();
        if !matches!(self.peek(0), TokenKind::Word("typedef")) {
            let before = self.specifiers(false)?;
            if !self.accept_word("typedef") {
                return Ok(TypeDeclaration::Named(before));
            }
            list = before.list;
        } else {
            self.step();
        }
        self.specifier_list(&mut list, true)?;
        if list.is_empty() {
            return Err(self.unexpected("a type"));
        }
        Ok(TypeDeclaration::Typedef {
            class: Specifiers { at, list },
            declarators: self.declarators()?,
        })
    }

    fn typealias(&mut self) -> Result<TypeDeclaration<'t>> {
        let class = self.specifiers(false)?;
        let shape = self.nested(|parser| parser.declarator(false))?;
        self.expect(":=")?;
        let alias = self.specifiers(false)?;
        let alias_shape = self.nested(|parser| parser.declarator(false))?;
        Ok(TypeDeclaration::Typealias {
            class,
            shape,
            alias,
            alias_shape,
        })
    }

    /// At least one specifier. With `declares`, a declared name must follow and is left alone.
    pub(super) fn specifiers(&mut self, declares: bool) -> Result<Specifiers<'t>> {
        let at = self.at();
        let mut list = Vec::new();
        self.specifier_list(&mut list, declares)?;
        if list.is_empty() {
            return Err(self.unexpected("a type"));
        }
        Ok(Specifiers { at, list })
    }

    fn specifier_list(&mut self, list: &mut Vec<Specifier<'t>>, declares: bool) -> Result<()> {
        let is_type = |specifier: &Specifier| !matches!(specifier, Specifier::Word("const"));
        let is_definition = |specifier: &Specifier| !matches!(specifier, Specifier::Word(_));
        let mut named = list.iter().any(is_type);
        let mut defined = list.iter().any(is_definition);
        while let TokenKind::Word(word) = *self.peek(0) {
            let is_name = self.identifier().is_some();
            let is_declared = declares
                && named
                && is_name
                && !matches!(
                    self.peek(1),
                    TokenKind::Word(_) | TokenKind::Mark("*" | "(")
                );
            if word != "const" && (defined || is_declared) {
                break;
            }
            let specifier = match word {
                "integer" => Specifier::Integer(self.after_word(Self::attributes)?),
                "floating_point" => Specifier::Float(self.after_word(Self::attributes)?),
                "string" => Specifier::String(self.after_word(|parser| match parser.peek(0) {
                    TokenKind::Mark("{") => parser.attributes(),
                    _ => Ok(Vec::new()),
                })?),
                "struct" => Specifier::Structure(self.after_word(Self::structure)?),
                "variant" => Specifier::Variant(self.after_word(Self::variant)?),
                "enum" => Specifier::Enumeration(self.after_word(Self::enumeration)?),
                _ if is_name
                    || word == "const"
                    || TYPE_WORDS.split(' ').any(|known| known == word) =>
                {
                    self.step();
                    Specifier::Word(word)
                }
                _ => break,
            };
            named |= is_type(&specifier);
            defined |= is_definition(&specifier);
            list.push(specifier);
        }
        Ok(())
    }

    fn after_word<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.step();
        self.nested(parse)
    }

    fn structure(&mut self) -> Result<Structure<'t>> {
        let name = self.optional_name();
        let mut members = None;
        let mut align = None;
        if self.accept("{") {
            members = Some(self.member_entries()?);
            if self.accept_word("align") {
                self.expect("(")?;
                align = Some(self.expression()?);
                self.expect(")")?;
            }
        } else if name.is_none() {
            return Err(self.unexpected("the name or the '{' of a structure"));
        }
        Ok(Structure {
            name,
            members,
            align,
        })
    }

    fn variant(&mut self) -> Result<Variant<'t>> {
        let name = self.optional_name();
        let mut tag = None;
        if self.accept("<") {
            tag = Some(self.postfix()?);
            self.expect(">")?;
        }
        let options = match self.accept("{") {
            true => Some(self.member_entries()?),
            false if name.is_none() => return Err(self.unexpected("the '{' of a variant")),
            false => None,
        };
        Ok(Variant { name, tag, options })
    }

    fn enumeration(&mut self) -> Result<Enumeration<'t>> {
        let name = self.optional_name();
        let mut container = None;
        if self.accept(":") {
            container = Some(Box::new(self.specifiers(false)?));
        }
        let enumerators = match self.accept("{") {
            true => Some(self.enumerators()?),
            false if name.is_none() || container.is_some() => {
                return Err(self.unexpected("the '{' of an enumeration"));
            }
            false => None,
        };
        Ok(Enumeration {
            name,
            container,
            enumerators,
        })
    }

    fn enumerators(&mut self) -> Result<Vec<Enumerator>> {
        let mut list = Vec::new();
        loop {
            if !list.is_empty() && self.accept("}") {
                return Ok(list);
            }
            let at = self.at();
            let label = match self.peek(0) {
                TokenKind::Word(word) => (*word).to_owned(),
                TokenKind::Text(text) => text.clone(),
                _ => return Err(self.unexpected("a label")),
            };
            self.step();
            let (mut low, mut high) = (None, None);
            if self.accept("=") {
                low = Some(self.expression()?);
                if self.accept("...") {
                    high = Some(self.expression()?);
                }
            }
            list.push(Enumerator {
                at,
                label,
                low,
                high,
            });
            if !self.accept(",") {
                self.expect("}")?;
                return Ok(list);
            }
        }
    }

    fn member_entries(&mut self) -> Result<Vec<MemberEntry<'t>>> {
        let mut entries = Vec::new();
        while !self.accept("}") {
            entries.push(self.member_entry()?);
            self.expect(";")?;
        }
        Ok(entries)
    }

    fn member_entry(&mut self) -> Result<MemberEntry<'t>> {
        if matches!(self.peek(0), TokenKind::Word("typealias" | "typedef")) {
            return Ok(MemberEntry::Types(self.type_declaration()?));
        }
        let mut class = self.specifiers(true)?;
        if self.accept_word("typedef") {
            self.specifier_list(&mut class.list, true)?;
            let declarators = self.declarators()?;
            return Ok(MemberEntry::Types(TypeDeclaration::Typedef {
                class,
                declarators,
            }));
        }
        // `struct name { … };` inside a body declares a type, no member.
        let is_definition = matches!(
            class.list.as_slice(),
            [Specifier::Structure(Structure {
                name: Some(_),
                members: Some(_),
                ..
            })] | [Specifier::Variant(Variant {
                name: Some(_),
                options: Some(_),
                ..
            })] | [Specifier::Enumeration(Enumeration {
                name: Some(_),
                enumerators: Some(_),
                ..
            })]
        );
        if is_definition && matches!(self.peek(0), TokenKind::Mark(";")) {
            return Ok(MemberEntry::Types(TypeDeclaration::Named(class)));
        }
        let declarators = self.declarators()?;
        Ok(MemberEntry::Members { class, declarators })
    }

    fn declarators(&mut self) -> Result<Vec<Declarator<'t>>> {
        let mut list = Vec::new();
        loop {
            list.push(self.nested(|parser| parser.declarator(true))?);
            if !self.accept(",") {
                return Ok(list);
            }
        }
    }

    /// With `named` there must be a name, else there must be none.
    fn declarator(&mut self, named: bool) -> Result<Declarator<'t>> {
        let mut declarator = Declarator {
            at: self.at(),
            ..Declarator::default()
        };
        while self.accept("*") {
            let mut constants = 0;
            while self.accept_word("const") {
                constants += 1;
            }
            declarator.pointers.push(constants);
        }
        declarator.at = self.at();
        if self.accept("(") {
            let inner = self.nested(|parser| parser.declarator(named))?;
            declarator.inner = Some(Box::new(inner));
            self.expect(")")?;
        } else if named {
            let Some(name) = self.identifier() else {
                let mut error = self.unexpected("a name");
                if matches!(self.peek(0), TokenKind::Word(_)) {
                    error.error = error
                        .error
                        .with_hint("a keyword cannot be a name; producers prefix an underscore");
                }
                return Err(error);
            };
            declarator.name = Some(name);
            self.step();
        }
        while self.accept("[") {
            declarator.lengths.push(self.expression()?);
            self.expect("]")?;
        }
        if matches!(self.peek(0), TokenKind::Mark(":")) && named {
            let error = (self.at())
                .error("bit-fields of the form 'name : size' are not supported")
                .with_hint("use integer { size = …; align = 1; }");
            return Err(error.into());
        }
        Ok(declarator)
    }

    fn optional_name(&mut self) -> Option<&'t str> {
        let name = self.identifier();
        if name.is_some() {
            self.step();
        }
        name
    }
}
