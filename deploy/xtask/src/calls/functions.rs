//! The table of functions: ids, names, families.

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
        "neighbor" => "Neighbor",
        "one-sided" => "OneSided",
        "io" => "Io",
        "communicator" => "Communicator",
        _ => bail!("no family is named {word}"),
    })
}

/// Whether functions of this shape ask and return at once.
fn polls(shape: &str) -> bool {
    shape.starts_with("test_") || ["iprobe", "improbe", "poll"].contains(&shape)
}

pub(super) fn text(table: &Table) -> Result<String> {
    let mut out = format!(
        "{BANNER}
        use crate::function_entry::{{Family, FunctionEntry}};

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
            polls(&call.shape)
        )?;
    }
    out.push_str(
        "];

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
