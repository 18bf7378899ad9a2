//! Two recordings beside each other.
//!
//! In: what each recording holds. Out: what changed, beyond what chance makes of it, in figures and in sentences; which
//! sections of the two runs are the same; and the times of B on the clock of A. It changes nothing and serves no page.

mod align;
mod aligned;
mod answer;
mod budget;
mod comparison;
mod course;
mod digest;
mod functions;
mod noise;
mod regions;
mod stretches;
#[cfg(test)]
mod tests;
mod text;
mod usual;
mod windows;
mod wording;

pub use align::{AlignBy, Aligned, RunAnchors, Section, choose};
pub use comparison::comparison;
pub use course::compared;
pub use digest::Digest;
pub use text::text;
