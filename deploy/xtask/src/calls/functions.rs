//! The list of functions: ids, names, families.

use super::{BANNER, Call, Table};
use anyhow::{Result, bail};
use std::fmt::Write as _;

fn family(word: &str) -> Result<&'static str> {
    Ok(match word {
        "setup" => "Setup",
        "send" => "Send",
        "receive" => "Receive",
        "complete" => "Complete",
        "probe" => "Probe",
        "rooted" => "Rooted",
        "all" => "All",
        "barrier" => "Barrier",
        "communicator" => "Communicator",
        _ => bail!("no family is named {word}"),
    })
}

pub(super) fn text(table: &Table) -> Result<String> {
    let mut out = format!(
        "{BANNER}
        //! The MPI functions that are recorded: their stable ids, names and families.

        /// What a function is for; related functions share a colour.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Family {{
            /// Start and end of MPI.
            Setup,
            /// Sends, and exchanges that send.
            Send,
            /// Receives.
            Receive,
            /// Calls that complete requests: waits and tests.
            Complete,
            /// Probes.
            Probe,
            /// Collectives from one rank to all or from all to one.
            Rooted,
            /// Collectives from all ranks to all.
            All,
            /// Barriers.
            Barrier,
            /// Work on communicators.
            Communicator,
        }}

        impl Family {{
            /// The word for files and the page.
            #[must_use]
            pub fn word(self) -> &'static str {{
                match self {{
                    Family::Setup => \"setup\",
                    Family::Send => \"send\",
                    Family::Receive => \"receive\",
                    Family::Complete => \"complete\",
                    Family::Probe => \"probe\",
                    Family::Rooted => \"rooted\",
                    Family::All => \"all\",
                    Family::Barrier => \"barrier\",
                    Family::Communicator => \"communicator\",
                }}
            }}
        }}

        /// One function.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct FunctionEntry {{
            /// Its number, never changed or reused.
            pub id: u16,
            /// Its name in C.
            pub name: &'static str,
            /// What it is for.
            pub family: Family,
            /// Whether it asks and returns at once, so that programs call it in loops.
            pub polls: bool,
        }}

        /// All functions, by growing id.
        pub const FUNCTIONS: &[FunctionEntry] = &["
    );
    let mut recorded: Vec<&Call> = table.call.iter().filter(|call| call.family != "hidden").collect();
    recorded.sort_by_key(|call| call.id);
    for call in &recorded {
        let family = family(&call.family)?;
        writeln!(
            out,
            "FunctionEntry {{ id: {}, name: \"{}\", family: Family::{family}, polls: {} }},",
            call.id,
            call.name,
            call.shape.starts_with("test_") || call.shape == "iprobe"
        )?;
    }
    out.push_str(
        "];

        /// One more than the greatest id.
        const IDS: usize = FUNCTIONS[FUNCTIONS.len() - 1].id as usize + 1;

        /// By id, the place in [`FUNCTIONS`], counted from 1.
        const PLACES: [u8; IDS] = {
            let (mut places, mut at) = ([0; IDS], 0);
            while at < FUNCTIONS.len() {
                places[FUNCTIONS[at].id as usize] = at as u8 + 1;
                at += 1;
            }
            places
        };
        const _: () = assert!(FUNCTIONS.len() < u8::MAX as usize);

        /// The function of an id.
        #[inline]
        #[must_use]
        pub fn by_id(id: u16) -> Option<&'static FunctionEntry> {
            let place = *PLACES.get(usize::from(id))?;
            FUNCTIONS.get(usize::from(place).checked_sub(1)?)
        }

        /// The ids as constants.
        pub mod id {\n",
    );
    for call in &recorded {
        writeln!(
            out,
            "/// `{}`\npub const {}: u16 = {};",
            call.name,
            call.name.trim_start_matches("MPI_").to_uppercase(),
            call.id
        )?;
    }
    out.push_str("}\n");
    Ok(out)
}
