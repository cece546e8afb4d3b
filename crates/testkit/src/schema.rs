//! Parts of schemas in one line, for what writes them by hand.

use rostrace_ctf::schema::{Base, FieldClass, Integer, IntegerForm, Member, Struct};

/// A plain number.
pub fn integer(form: IntegerForm, signed: bool) -> Integer {
    Integer {
        form,
        signed,
        base: Base::Decimal,
        mappings: None,
        role: None,
        updates_clock: false,
        slot: None,
    }
}

pub fn member(name: &str, original_name: &str, class: FieldClass) -> Member {
    Member {
        name: name.into(),
        original_name: original_name.into(),
        class,
    }
}

/// With the alignment of its members.
pub fn structure(members: impl IntoIterator<Item = Member>) -> Struct {
    let members: Vec<Member> = members.into_iter().collect();
    let align = (members.iter())
        .map(|member| member.class.alignment())
        .fold(1, u32::max);
    Struct { members, align }
}
