//! What a site says of its machine: in which rack, on which switch and where in a torus a node or a rank is.
//!
//! In go the bytes of tables (`rank,key,value` or `node,key,value`), of Slurm's `topology.conf`, and of `hwloc` XML; out come
//! columns of metadata for the ranks of a run. It must never panic or allocate more than its input explains.

mod description;
mod error;
mod hosts;
mod hwloc;
mod machine;
mod node_names;
mod slurm;
mod table;

pub use description::SiteDescription;
pub use error::SiteError;

/// Bytes of a description.
pub const MOST_SITE_BYTES: usize = 16 << 20;

impl SiteDescription {
    /// Adds what a file says. Its content tells which format it has.
    ///
    /// # Errors
    /// With the line where it cannot be understood; what stands before is added.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), SiteError> {
        if bytes.len() > MOST_SITE_BYTES {
            let text = format!("the file has more than {MOST_SITE_BYTES} bytes");
            return Err(SiteError { line: 1, text });
        }
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        if text.trim_start().starts_with('<') {
            return self.read_hwloc(text);
        }
        let is_slurm = |line: &str| {
            let word = line.trim_start().split('=').next().unwrap_or_default();
            line.contains('=') && slurm::BEGINNINGS.iter().any(|of| word.trim().eq_ignore_ascii_case(of))
        };
        if text.lines().any(is_slurm) { self.read_slurm(text) } else { self.read_table(text) }
    }
}
