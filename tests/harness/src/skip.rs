//! Tests that cannot run on this machine: visible, and counted.

use std::io::Write as _;

/// The file that lists them, in the target folder: a line each. Whoever runs the tests removes it before, and adds up
/// its lines after.
pub(crate) const SKIPPED_FILE: &str = "tests-skipped.txt";

/// Says that a test does not run here, and why: on stdout, past the test runner's capture, and in `tests-skipped.txt` of
/// the target folder.
pub fn skip(test: &str, reason: &str) {
    let line = format!("SKIPPED: {test}: {reason}\n");
    // `print!` would be captured and not be seen.
    let printed = std::io::stdout().lock().write_all(line.as_bytes());
    let file = std::fs::File::options().create(true).append(true).open(crate::target().join(SKIPPED_FILE));
    // One write of a short line to a file opened for appending is not torn by those of other processes.
    let noted = file.and_then(|mut file| file.write_all(line.as_bytes()));
    assert!(printed.is_ok() && noted.is_ok(), "cannot say that a test is skipped: {line}");
}
