//! What holds for a whole site: read from files that an administrator or a user has, key by key the later over the
//! earlier: `/etc/mpiscope.toml`, the user's own, and one that is named.

mod file;
mod load;
mod settings;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use settings::{Limits, Paths, Site};
pub(crate) use values::{Listen, Ports, Start};
