//! Why a ring file cannot be read, for now or for good.

use mpiscope_ring::OpenError;

/// Why a ring file is not read.
pub(super) enum Unread {
    /// It is of another host.
    Elsewhere,
    Fault(String),
    /// The system could not open or map it.
    NotNow(String),
}

/// Whether the system had too little memory or too few descriptors.
fn is_shortage(error: &std::io::Error) -> bool {
    let shortages = [libc::ENOMEM, libc::EMFILE, libc::ENFILE, libc::EAGAIN];
    error.raw_os_error().is_some_and(|number| shortages.contains(&number))
}

/// What to do about a file that could not be opened, with a sentence about it.
pub(super) fn unread_because(error: &OpenError, sentence: String) -> Unread {
    match error {
        // Memory or descriptors may be there again soon.
        OpenError::File(error) if is_shortage(error) => Unread::NotNow(sentence),
        _ => Unread::Fault(sentence),
    }
}
