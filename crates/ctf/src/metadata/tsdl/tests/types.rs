//! Types: what each one means, how it gets a name and where the name is seen.

use super::*;
use crate::schema::{Base, BitField, ByteOrder, Encoding, Range};

#[test]
fn an_integer_has_the_defaults_of_the_specification() {
    let fields = payload("integer { size = 32; } a; integer { size = 5; } b;");
    assert_eq!(size(&fields, "a"), (32, 8));
    assert_eq!(size(&fields, "b"), (5, 1));
    let a = integer(&fields, "a");
    assert_eq!((a.signed, a.base, a.mappings), (false, Base::Decimal, None));
    assert_eq!((a.role, a.updates_clock, a.slot), (None, false, None));
}

#[test]
fn all_attributes_of_an_integer_are_read() {
    let fields = payload(
        "integer { size = 13; align = 32; signed = TRUE; byte_order = network; base = \"x\"; encoding = none; } a;
         integer { size = 8; byte_order = native; base = oct; } b;
         integer { size = 8; base = 2; signed = 0; } c;",
    );
    let a = integer(&fields, "a");
    assert_eq!((a.signed, a.base), (true, Base::Hexadecimal));
    assert_eq!(size(&fields, "a"), (13, 32));
    assert_eq!(a.bits().unwrap().order, ByteOrder::Big);
    let b = integer(&fields, "b");
    assert_eq!(b.bits().unwrap().order, ByteOrder::Little);
    assert_eq!(b.base, Base::Octal);
    assert_eq!(integer(&fields, "c").base, Base::Binary);
    assert_eq!(fields.align, 32);
}

#[test]
fn impossible_types_are_refused() {
    all_payloads_refused(
        r#"
        integer { align = 8; } a; => no size
        integer { size = 0; } a; => 1 to 64
        integer { size = 65; } a; => 1 to 64
        integer { size = -8; } a; => unsigned
        integer { size = 8; align = 3; } a; => power of two
        integer { size = 8; align = 0; } a; => power of two
        integer { size = 8; size = 8; } a; => twice
        integer { size = 8; base = 3; } a; => base
        integer { size = 8; signed = maybe; } a; => true or false
        integer { size = 8; byte_order = middle; } a; => le, be
        integer { size = 8; encoding = EBCDIC; } a; => none, UTF8
        integer { size = 8; map = clock.c; } a; => clock.NAME.value
        integer { size = 8; map = clock.c.value; } a; => no clock named 'c'
        floating_point { exp_dig = 5; mant_dig = 11; } a; => not supported
        floating_point { exp_dig = 8; } a; => needs
        u8 *a; => 'u8 *' is not declared
        u8 *a; => := u8 *;
        enum : u8 { A = 5 ... 3 } a; => impossible range
        enum : integer { size = 64; } { A = 0xFFFFFFFFFFFFFFFF, B } a; => impossible range
        enum { A } a; => 'int' is not declared
        enum : floating_point { exp_dig = 8; mant_dig = 24; } { A } a; => must be an integer
        u8 a; u8 a; => already has a member named 'a'
        enum : u8 { A } t; variant <t> { u8 A; u8 A; } v; => already has an option named 'A'
        u8 a : 3; => bit-fields
        variant { u8 A; } v; => no tag
        "#,
    );
    assert!(refused_payload(&format!("u8 a{};", "[1]".repeat(10_000))).contains("deeper than"));
}

#[test]
fn an_unknown_attribute_is_a_warning() {
    let metadata = read("typealias integer { size = 8; colour = 3; } := red;");
    assert_eq!(metadata.warnings.len(), 1);
    assert!(metadata.warnings[0].message.contains("'colour'"));
}

#[test]
fn only_two_kinds_of_floating_point_numbers_are_supported() {
    let fields = payload(
        "floating_point { exp_dig = 8; mant_dig = 24; } a;
         floating_point { exp_dig = 11; mant_dig = 53; align = 64; byte_order = be; } b;",
    );
    let bits = |size, align, order| FieldClass::Float(BitField::new(size, align, order));
    assert_eq!(fields.members[0].class, bits(32, 8, ByteOrder::Little));
    assert_eq!(fields.members[1].class, bits(64, 64, ByteOrder::Big));
}

#[test]
fn a_typealias_may_have_several_words_also_such_as_are_no_keywords() {
    let fields = payload_with(
        "typealias integer { size = 64; } := unsigned long; typealias integer { size = 9; } := my own type;",
        "unsigned long a; my own type b;",
    );
    assert_eq!(size(&fields, "a"), (64, 8));
    assert_eq!(size(&fields, "b"), (9, 1));
}

#[test]
fn a_const_type_is_an_alias_of_its_own_or_the_type_without_const() {
    let fields = payload_with(
        "typealias integer { size = 3; } := const u16;",
        "const u8 a; u8 const b; const u16 c; const integer { size = 2; } d;",
    );
    assert_eq!(size(&fields, "a"), (8, 8));
    assert_eq!(size(&fields, "b"), (8, 8));
    assert_eq!(size(&fields, "c"), (3, 1));
    assert_eq!(size(&fields, "d"), (2, 1));
}

#[test]
fn a_typedef_may_declare_several_names_and_shapes_and_a_typealias_one() {
    let fields = payload_with(
        "typedef u8 byte, pair[2]; u8 typedef octet; typedef struct { byte a; } boxed;",
        "byte a; pair b; octet c; boxed d;",
    );
    assert_eq!(size(&fields, "a"), (8, 8));
    assert_eq!(length(&fields, "b"), Length::Fixed(2));
    assert_eq!(size(&fields, "c"), (8, 8));
    assert_eq!(size(nested(&fields, "d"), "a"), (8, 8));
    let fields = payload_with("typealias u8 [4] := quad;", "quad a;");
    assert_eq!(length(&fields, "a"), Length::Fixed(4));
}

#[test]
fn a_pointer_is_the_integer_of_its_alias_in_base_16() {
    let fields = payload_with(
        "typealias integer { size = 64; } := void *; typealias integer { size = 32; } := u8 * const *;",
        "void *a; u8 * const *b;",
    );
    assert_eq!(size(&fields, "a"), (64, 8));
    assert_eq!(integer(&fields, "a").base, Base::Hexadecimal);
    assert_eq!(size(&fields, "b"), (32, 8));
}

#[test]
fn an_inner_scope_may_hide_a_type() {
    let fields = payload_with(
        "typealias integer { size = 3; } := t;",
        "struct { typealias integer { size = 4; } := t; t x; } a; t b;
         struct { typedef u16 t; t x; } c;",
    );
    assert_eq!(size(nested(&fields, "a"), "x"), (4, 1));
    assert_eq!(size(&fields, "b"), (3, 1));
    assert_eq!(size(nested(&fields, "c"), "x"), (16, 16));
}

#[test]
fn a_type_is_declared_once_in_its_scope_and_before_its_use() {
    let two_words = "typealias integer { size = 64; } := unsigned long;";
    all_refused(
        r#"
        typedef u8 t; typedef u8 t; => 't' is already declared
        struct s { u8 a; }; struct s { u8 a; }; => 'struct s' is already declared
        typedef later t; typedef u8 later; => 'later' is not declared
        struct a { struct { typedef u8 inner; inner x; } b; inner c; }; => 'inner' is not declared
        stream { typedef u8 t; }; event { name = e; fields := struct { t x; }; }; => 't' is not declared
        "#,
    );
    assert!(
        refused(&event(two_words, "long unsigned a;")).contains("'long unsigned' is not declared")
    );
    assert!(refused(&event("variant v { u8 A; };", "variant v x[2];")).contains("no tag"));
}

#[test]
fn names_of_structures_variants_enumerations_and_types_are_apart() {
    let fields = payload_with(
        "struct x { u8 a; }; enum x : u8 { A }; variant x { u8 A; }; typedef u16 x;",
        "struct x a; enum x b; variant x <b> c; x d;",
    );
    assert_eq!(fields.members.len(), 4);
    assert_eq!(size(&fields, "d"), (16, 16));
}

#[test]
fn types_declared_in_a_block_are_seen_in_it_alone() {
    let schema = schema(
        "stream { typedef u8 t; struct h { t x; }; event.context := struct h; };
         event { name = e; typealias integer { size = 7; } := t; fields := struct { t x; }; };",
    );
    let stream = &schema.streams[0];
    assert_eq!(size(stream.event_context.as_ref().unwrap(), "x"), (8, 8));
    let event = &stream.events[0];
    assert_eq!(size(event.payload.as_ref().unwrap(), "x"), (7, 1));
}

#[test]
fn an_enumeration_counts_on_from_the_label_before() {
    let fields = payload("enum : u8 { A, B, \"c d\" = 10 ... 12, D, A = 99, event = 200, } a;");
    let mappings = integer(&fields, "a").mappings.unwrap();
    let labels: Vec<(&str, &[Range])> = mappings
        .labels
        .iter()
        .map(|label| (label.name.as_str(), label.ranges.as_slice()))
        .collect();
    let range = |low, high| Range { low, high };
    assert_eq!(
        labels,
        [
            ("A", [range(0, 0), range(99, 99)].as_slice()),
            ("B", [range(1, 1)].as_slice()),
            ("c d", [range(10, 12)].as_slice()),
            ("D", [range(13, 13)].as_slice()),
            ("event", [range(200, 200)].as_slice()),
        ]
    );
}

#[test]
fn the_values_of_labels_have_the_signedness_of_the_container() {
    let fields = payload(
        "enum : integer { size = 64; signed = true; } { A = -1, B, C = 0xFFFFFFFFFFFFFFFE } a;
         enum : integer { size = 64; } { A = 18446744073709551615 } b;",
    );
    let low =
        |name: &str, i: usize| integer(&fields, name).mappings.unwrap().labels[i].ranges[0].low;
    assert_eq!((low("a", 0), low("a", 1), low("a", 2)), (-1, 0, -2));
    assert_eq!(low("b", 0), i128::from(u64::MAX));
}

#[test]
fn an_enumeration_without_container_uses_the_type_int() {
    let fields = payload_with(
        "typealias integer { size = 24; } := int;",
        "enum { A } a; enum named { B } b; enum named c;",
    );
    assert_eq!(size(&fields, "a"), (24, 8));
    assert_eq!(size(&fields, "c"), (24, 8));
}

#[test]
fn a_structure_is_aligned_like_its_largest_member() {
    let fields = payload(
        "struct { u8 a; u16 b; } s; struct { u8 a; } align(64) t; struct { u16 x[0]; } u;
         struct { enum : u8 { A } t; variant <t> { integer { size = 8; align = 32; } A; } v; } v; struct { } e;",
    );
    let members = fields.members.iter();
    let aligns: Vec<u32> = members.map(|member| member.class.alignment()).collect();
    assert_eq!(aligns, [16, 64, 16, 8, 1]);
    assert_eq!(fields.align, 64);
}

#[test]
fn characters_in_arrays_are_text() {
    let declarations = "typealias integer { size = 8; encoding = UTF8; } := char;
        typealias integer { size = 8; align = 16; encoding = \"utf-8\"; } := wide;";
    let fields = payload_with(
        declarations,
        "u8 n; char a[4]; char b[n]; wide c[4]; char d; char e[2][4]; enum : char { A } f[3]; u8 g[2];",
    );
    let class = |name: &str| &fields.member(name).unwrap().class;
    let text = |length| FieldClass::Text {
        length,
        encoding: Encoding::Utf8,
    };
    assert_eq!(class("a"), &text(Length::Fixed(4)));
    assert_eq!(class("b"), &text(length(&fields, "b")));
    assert!(matches!(length(&fields, "b"), Length::Slot(_)));
    assert!(matches!(class("c"), FieldClass::Array { align: 16, .. }));
    assert!(matches!(class("d"), FieldClass::Integer(_)));
    assert_eq!(length(&fields, "e"), Length::Fixed(2));
    assert_eq!(class("e").all()[1], &text(Length::Fixed(4)));
    assert_eq!(class("f"), &text(Length::Fixed(3)));
    assert!(matches!(class("g"), FieldClass::Array { .. }));
}

#[test]
fn the_first_length_is_that_of_the_outer_array() {
    let fields = payload("u8 a[2][3], b, (c)[4];");
    let FieldClass::Array { element, .. } = &fields.members[0].class else {
        panic!("should be an array")
    };
    assert_eq!(length(&fields, "a"), Length::Fixed(2));
    assert_eq!(length_of(element), Length::Fixed(3));
    assert_eq!(size(&fields, "b"), (8, 8));
    assert_eq!(length(&fields, "c"), Length::Fixed(4));
}

#[test]
fn one_leading_underscore_is_not_shown() {
    let fields = payload_with(
        "struct named { u8 _a; u8 __a; u8 a; u8 _; };",
        "struct named s; u8 _event;",
    );
    let names: Vec<(&str, &str)> = (nested(&fields, "s").members.iter())
        .map(|member| (&*member.name, &*member.original_name))
        .collect();
    assert_eq!(names, [("a", "_a"), ("_a", "__a"), ("a", "a"), ("_", "_")]);
    assert_eq!(&*fields.members[1].name, "event");
}

#[test]
fn fields_nested_deeper_than_a_limit_are_refused() {
    let mut declarations = "struct s0 { u8 a; };".to_owned();
    for i in 1..200 {
        declarations += &format!("struct s{i} {{ struct s{} a; }};", i - 1);
    }
    assert!(refused(&declarations).contains("deeper than"));
}

#[test]
fn a_tree_of_fields_that_doubles_at_each_level_is_refused() {
    let mut declarations = "struct s0 { u8 a; u8 b; };".to_owned();
    for i in 1..60 {
        let below = i - 1;
        declarations += &format!("struct s{i} {{ struct s{below} a; struct s{below} b; }};");
    }
    let started = std::time::Instant::now();
    let error = refused(&event(&declarations, "struct s59 x;"));
    assert!(error.contains("more than 1000000 fields"), "{error}");
    assert!(started.elapsed().as_secs() < 5);
}

#[test]
fn ranges_that_are_copied_to_many_options_are_counted() {
    let labels: String = (0..2000).map(|i| format!("A = {i},")).collect();
    let declarations = format!(
        "enum big : u16 {{ {labels} }}; struct s {{ enum big t; variant <t> {{ u8 A; }} v; }};"
    );
    let members: String = (0..2000).map(|i| format!("struct s m{i};")).collect();
    assert!(refused(&event(&declarations, &members)).contains("more than 1000000 fields"));
}
