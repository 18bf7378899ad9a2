//! The library, loaded once.

use crate::error::Otf2Error;
use crate::handle::Handle;
use crate::other_callbacks;
use crate::probe_callbacks;
use crate::symbols::Symbols;
use libc::c_char;
use std::rc::Rc;

/// Names of its version 3, as its authors and as Debian call it.
const FILES: [&str; 2] = ["libotf2.so.10", "libopen-trace-format2.so.10"];

/// The library. What is made of it stays in the thread that loaded it.
#[derive(Clone)]
pub struct Library {
    pub(crate) symbols: Rc<Symbols>,
    pub(crate) setters: Rc<Setters>,
}

/// Addresses of the setters of callbacks that some releases of the library lack.
pub(crate) struct Setters {
    /// For events that are only counted.
    pub(crate) others: Vec<Option<usize>>,
    /// For messages that were probed for; libraries before 3.1 have none.
    pub(crate) matched: [Option<usize>; probe_callbacks::SETTERS.len()],
}

impl Library {
    /// Loads it.
    ///
    /// # Errors
    /// When it is not on this machine.
    pub fn load() -> Result<Self, Otf2Error> {
        Self::load_first_of(&FILES)
    }

    #[expect(unsafe_code, reason = "a function of the library is called")]
    pub(crate) fn load_first_of(files: &[&str]) -> Result<Self, Otf2Error> {
        let symbols = Symbols::load(files)?;
        // SAFETY: the function is a plain one that stays, and nothing is handed to it.
        unsafe { (symbols.register_error_callback)(take_error, std::ptr::null_mut()) };
        let setters = Setters {
            others: other_callbacks::SETTERS.iter().map(|symbol| symbols.address(symbol)).collect(),
            matched: probe_callbacks::SETTERS.map(|symbol| symbols.address(symbol)),
        };
        Ok(Self { symbols: Rc::new(symbols), setters: Rc::new(setters) })
    }
}

/// An error is reported once, by the caller, and not by the library as well.
extern "C" fn take_error(
    _: Handle,
    _: *const c_char,
    _: u64,
    _: *const c_char,
    code: i32,
    _: *const c_char,
    _: Handle,
) -> i32 {
    code
}
