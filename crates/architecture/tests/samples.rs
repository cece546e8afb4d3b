//! Files that CARET wrote, read and written again: nothing may change, not even a line break.

use rostrace_architecture::{read, write};

#[test]
fn files_that_caret_wrote_come_back_byte_for_byte() {
    let files = crate::shared::architecture_files();
    for path in &files {
        let text = std::fs::read_to_string(path).unwrap();
        let reading = read(&text).unwrap_or_else(|refused| panic!("{}: {refused}", path.display()));
        assert_eq!(reading.warnings, [], "{}", path.display());
        let again = write(&reading.architecture);
        assert!(
            again == text,
            "{} is written differently:\n{}",
            path.display(),
            crate::shared::first_difference(&text, &again)
        );
    }
}
