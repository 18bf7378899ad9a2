//! What can go wrong, each in one sentence.

use std::path::PathBuf;

/// An error of the library, or of its absence.
#[derive(Debug, thiserror::Error)]
pub enum Otf2Error {
    /// There is none.
    #[error(
        "OTF2 needs its library, version 3, which is not on this machine: install libopen-trace-format2-10 (Debian, \
         Ubuntu) or otf2 (others), or name the folder of libotf2.so.10 in LD_LIBRARY_PATH"
    )]
    NoLibrary,
    /// It is there and lacks something.
    #[error("the OTF2 library {name} has no {symbol}: version 3 is needed")]
    OtherLibrary {
        /// The file.
        name: String,
        /// What it lacks.
        symbol: &'static str,
    },
    /// It refused to do something.
    #[error("the OTF2 library could not {doing} {}: {why}", path.display())]
    Refused {
        /// What it was to do.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What it says.
        why: String,
    },
    /// A path or a text that cannot be handed over.
    #[error("{text:?} holds a zero byte")]
    ZeroByte {
        /// Which.
        text: String,
    },
}
