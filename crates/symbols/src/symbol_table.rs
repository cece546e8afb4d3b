//! The functions of one program by their addresses: from its tables of symbols, and where it was stripped, from the tables for exceptions,
//! which know where functions begin but not what they are called.

use gimli::{BaseAddresses, EhFrame, LittleEndian, UnwindSection};

use crate::image::Image;

#[derive(Debug, Default)]
pub(crate) struct SymbolTable {
    /// By address.
    symbols: Vec<Symbol>,
    /// The addresses of functions without names, in order: where they begin and end.
    nameless: Vec<(u64, u64)>,
}

#[derive(Debug)]
struct Symbol {
    address: u64,
    size: u64,
    name: Box<[u8]>,
}

impl SymbolTable {
    /// Of a program, and of the files that were separated from it.
    pub(crate) fn of(images: &[Image]) -> SymbolTable {
        let mut symbols = Vec::new();
        for image in images {
            image.symbols(&mut |address, size, name| {
                // ARM marks where code and data begin with such names.
                if !name.is_empty() && name[0] != b'$' {
                    symbols.push(Symbol {
                        address,
                        size,
                        name: name.into(),
                    });
                }
            });
        }
        // Of several names of one function, the one that a person would choose.
        symbols.sort_by(|a, b| {
            let order = |it: &Symbol| {
                let underscores = it.name.iter().take_while(|byte| **byte == b'_').count();
                let is_mangled = it.name.starts_with(b"_Z") || it.name.starts_with(b"_R");
                let underscores = if is_mangled { 0 } else { underscores };
                (it.address, it.size == 0, underscores, it.name.len())
            };
            order(a).cmp(&order(b)).then_with(|| a.name.cmp(&b.name))
        });
        symbols.dedup_by_key(|symbol| symbol.address);
        let mut nameless: Vec<(u64, u64)> = images.iter().flat_map(bounds).collect();
        nameless.sort_unstable();
        nameless.dedup_by_key(|bounds| bounds.0);
        SymbolTable { symbols, nameless }
    }

    /// Whether it has any names.
    pub(crate) fn has_names(&self) -> bool {
        !self.symbols.is_empty()
    }

    /// The name of the function at an address.
    pub(crate) fn name(&self, address: u64) -> Option<&[u8]> {
        let behind = self.symbols.partition_point(|it| it.address <= address);
        let symbol = self.symbols.get(behind.checked_sub(1)?)?;
        // Code in assembler often does not say how long it is; its table of exceptions, if it has one, does.
        let is_inside = match symbol.size {
            0 => self
                .begin(address)
                .is_none_or(|begin| begin == symbol.address),
            size => address - symbol.address < size,
        };
        is_inside.then_some(&*symbol.name)
    }

    /// Where the function at an address begins, if anything tells.
    pub(crate) fn begin(&self, address: u64) -> Option<u64> {
        let behind = self.nameless.partition_point(|it| it.0 <= address);
        let (begin, end) = *self.nameless.get(behind.checked_sub(1)?)?;
        (address < end).then_some(begin)
    }
}

fn bounds(image: &Image) -> Vec<(u64, u64)> {
    let Some((addresses, bytes)) = image.section(".eh_frame") else {
        return Vec::new();
    };
    let frames = EhFrame::new(&bytes, LittleEndian);
    let mut bases = BaseAddresses::default().set_eh_frame(addresses.start);
    if let Some(code) = image.section_addresses(".text") {
        bases = bases.set_text(code.start);
    }
    if let Some(got) = image.section_addresses(".got") {
        bases = bases.set_got(got.start);
    }
    let mut bounds = Vec::new();
    let mut entries = frames.entries(&bases);
    while let Ok(Some(entry)) = entries.next() {
        if let gimli::CieOrFde::Fde(partial) = entry
            && let Ok(entry) = partial.parse(EhFrame::cie_from_offset)
        {
            let begin = entry.initial_address();
            bounds.push((begin, begin.saturating_add(entry.len())));
        }
    }
    bounds
}
