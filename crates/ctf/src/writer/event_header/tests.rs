//! Which form of LTTng's headers is chosen, at the limits of both.

use super::*;

const COMPACT: usize = 0;
const EXTENDED: usize = 1;

/// The two event headers of LTTng: bits of the id, bits of the time, and the id that says that the extended form follows.
type HeaderForm = (u8, u8, u64);
const SMALL: HeaderForm = (5, 27, 31);
const LARGE: HeaderForm = (16, 32, 65535);

/// The option that is chosen for an event header of LTTng, and the value of the selector.
fn chosen(form: HeaderForm, id: u64, clock: u64, time: u64) -> Result<(usize, u64), WriteError> {
    let (id_bits, time_bits, last) = form;
    let metadata = format!(
        "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }}; clock {{ name = c; }};
        stream {{ event.header := struct {{
            enum : integer {{ size = {id_bits}; }} {{ c = 0 ... {}, x = {last} }} id;
            variant <id> {{
                struct {{ integer {{ size = {time_bits}; map = clock.c.value; }} timestamp; }} c;
                struct {{
                    integer {{ size = 32; }} id;
                    integer {{ size = 64; map = clock.c.value; }} timestamp;
                }} x;
            }} v;
        }}; }};",
        last - 1
    );
    let schema = crate::metadata::read(metadata.as_bytes()).unwrap().schema;
    let class = &schema.streams[0];
    let header = EventHeader {
        id,
        time,
        clock,
        template: None,
    };
    let value = header.value(class, class.event_header.as_ref().unwrap())?;
    match value.members().unwrap() {
        [Value::Unsigned(selector), Value::Variant(option, _)] => Ok((*option, *selector)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn ids_that_do_not_fit_need_the_extended_form() {
    let with_id = |form, id| chosen(form, id, 0, 0).unwrap();
    assert_eq!(with_id(SMALL, 30), (COMPACT, 30));
    assert_eq!(with_id(SMALL, 31), (EXTENDED, 31));
    assert_eq!(with_id(SMALL, 32), (EXTENDED, 31));
    assert_eq!(with_id(LARGE, 65534), (COMPACT, 65534));
    assert_eq!(with_id(LARGE, 65535), (EXTENDED, 65535));
    let error = chosen(LARGE, 1 << 32, 0, 0).unwrap_err().to_string();
    let sentence = "The event id 4294967296 does not fit in the event header of stream class 0.";
    assert_eq!(error, sentence);
}

#[test]
fn distances_in_time_that_do_not_fit_need_the_extended_form() {
    let clock = 1000;
    let after = |form, step| chosen(form, 3, clock, clock + step).unwrap();
    assert_eq!(after(SMALL, (1 << 27) - 1), (COMPACT, 3));
    assert_eq!(after(SMALL, 1 << 27), (EXTENDED, 31));
    assert_eq!(after(LARGE, (1 << 32) - 1), (COMPACT, 3));
    assert_eq!(after(LARGE, 1 << 32), (EXTENDED, 65535));
}

#[test]
fn a_step_back_needs_the_extended_form() {
    assert_eq!(chosen(LARGE, 3, 1000, 999).unwrap(), (EXTENDED, 65535));
}
