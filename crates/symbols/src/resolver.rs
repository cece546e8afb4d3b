//! Names for addresses: the file that is mapped there is looked for once, and each address in it resolved once.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rustc_hash::FxHashMap;

use crate::debug_lines::DebugLines;
use crate::function::{Function, FunctionId, Location};
use crate::search::Search;
use crate::symbol_table::SymbolTable;

/// Code of a file at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mapped<'m> {
    pub path: &'m str,
    /// As hexadecimal digits; empty if it has none.
    pub build_id: &'m str,
    pub begin: u64,
    /// Where in the file `begin` is.
    pub offset: u64,
    /// What the linker called it; 0 where that has to be looked up in the file.
    pub linked_at: u64,
}

#[derive(Debug)]
pub struct Resolver {
    search: Search,
    files: FxHashMap<(String, String), usize>,
    programs: Vec<Program>,
    functions: Vec<Function>,
    ids: FxHashMap<Function, FunctionId>,
    found: FxHashMap<(usize, u64), Box<[Location]>>,
}

#[derive(Debug)]
struct Program {
    path: String,
    /// Without folders.
    name: String,
    images: Vec<crate::image::Image>,
    symbols: SymbolTable,
    lines: Option<DebugLines>,
}

impl Resolver {
    /// `folders` have programs, or what was separated from them, in addition to what this machine has in its usual places.
    pub fn new(folders: Vec<PathBuf>) -> Resolver {
        Resolver {
            search: Search::new(folders),
            files: FxHashMap::default(),
            programs: Vec::new(),
            functions: Vec::new(),
            ids: FxHashMap::default(),
            found: FxHashMap::default(),
        }
    }

    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The functions at an address, the innermost first; only one where nothing tells what the compiler put into it. An address that a
    /// function returns to is behind the call.
    pub fn locations(
        &mut self,
        mapped: Option<&Mapped<'_>>,
        address: u64,
        is_return: bool,
    ) -> Box<[Location]> {
        let Some(mapped) = mapped else {
            let nowhere = Function::nameless("[no file]".to_owned(), "");
            return [self.location(nowhere)].into();
        };
        let program = self.program(mapped);
        let address = address.wrapping_sub(u64::from(is_return));
        let behind = address.wrapping_sub(mapped.begin);
        let in_file = behind.wrapping_add(mapped.offset);
        let key = (program, in_file);
        if let Some(known) = self.found.get(&key) {
            return known.clone();
        }
        let linked = match mapped.linked_at {
            0 => None,
            linked_at => Some(linked_at.wrapping_add(behind)),
        };
        let found = self.find(program, in_file, linked);
        self.found.insert(key, found.clone());
        found
    }

    /// Files whose functions have no names, because the files or their symbols are not at hand.
    pub fn without_names(&self) -> BTreeSet<&str> {
        let without =
            (self.programs.iter()).filter(|it| !it.symbols.has_names() && it.lines.is_none());
        without.map(|it| it.path.as_str()).collect()
    }

    fn program(&mut self, mapped: &Mapped<'_>) -> usize {
        let key = (mapped.path.to_owned(), mapped.build_id.to_owned());
        if let Some(known) = self.files.get(&key) {
            return *known;
        }
        let images = self.search.images(mapped.path, mapped.build_id);
        let name = mapped.path.rsplit('/').next().unwrap_or_default();
        self.programs.push(Program {
            path: mapped.path.to_owned(),
            name: name.to_owned(),
            symbols: SymbolTable::of(&images),
            lines: DebugLines::of(&images),
            images,
        });
        self.files.insert(key, self.programs.len() - 1);
        self.programs.len() - 1
    }

    fn find(&mut self, program: usize, in_file: u64, linked: Option<u64>) -> Box<[Location]> {
        let program = &self.programs[program];
        let file = program.name.as_str();
        let address =
            linked.or_else(|| (program.images.iter()).find_map(|image| image.address_of(in_file)));
        let Some(address) = address else {
            let nowhere = Function::nameless(format!("{file}+{in_file:#x}"), file);
            return [self.location(nowhere)].into();
        };
        let symbol = program
            .symbols
            .name(address)
            .map(|it| Function::named(it, file));
        let reported = program.lines.as_ref().map(|lines| lines.functions(address));
        let reported = reported.unwrap_or_default();
        let last = reported.len().saturating_sub(1);
        let mut functions: Vec<(Function, u32)> = Vec::new();
        for (number, found) in reported.iter().enumerate() {
            let named = found
                .name
                .as_deref()
                .map(|name| Function::named(name, file));
            // The outermost one is that of the symbol, under the name of its source if it has one.
            let function = match named {
                Some(function) => Some(function),
                None if number == last => symbol.clone(),
                None => None,
            };
            functions.extend(function.map(|it| (it, found.line.unwrap_or(0))));
        }
        if functions.is_empty() {
            let function = symbol.unwrap_or_else(|| {
                let begin = program.symbols.begin(address).unwrap_or(address);
                Function::nameless(format!("{file}+{begin:#x}"), file)
            });
            functions.push((function, 0));
        }
        let last = functions.len() - 1;
        let locations = functions.into_iter().enumerate();
        locations
            .map(|(number, (function, line))| Location {
                line,
                is_inlined: number < last,
                ..self.location(function)
            })
            .collect()
    }

    fn location(&mut self, function: Function) -> Location {
        let next = FunctionId(self.functions.len() as u32);
        let id = *self.ids.entry(function.clone()).or_insert(next);
        if id == next {
            self.functions.push(function);
        }
        Location {
            function: id,
            line: 0,
            is_inlined: false,
        }
    }
}
