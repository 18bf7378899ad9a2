//! The verdict on a run: where its time went and why, what each cause costs, and the sentences that say so.
//!
//! In: the log of a recording, or the calls of a run that goes on, with criteria, clocks and placements as far as they are
//! known. Out: [`Findings`], kept as `findings.json` in the folder of the recording, and their sentences. It never delays a
//! job: at the end a process of its own diagnoses, which may fail without harm to the recording, and live a thread behind
//! everything else. Where calls were lost it lowers or withholds a verdict; it never guesses.
//!
//! The log is read twice: once to learn expected transfer times and who talks to whom, once to diagnose by that. A run that fits into
//! memory is replayed during the second reading. Of a run with very many calls, what the first reading found is kept for the case
//! that nobody waits for the second.

mod actions;
mod advice;
mod apart;
mod blame;
mod by_region;
mod certainty;
mod criteria_conversion;
pub mod criteria_file;
mod diagnose;
mod diagnosis;
mod disturbances;
mod ending;
mod evolution;
mod figures;
mod findings;
mod findings_file;
mod graph;
mod hosts;
mod live;
mod live_findings;
mod named_criteria;
mod number_format;
mod part;
mod pass;
mod processors;
mod recorded_time;
mod reference_criteria;
mod regions;
mod replayed;
pub mod shares;
mod side_by_side;
#[cfg(test)]
mod simulated;
mod sources;
mod stretches;
mod waits;
mod words;

pub use advice::{advise_apart, ask as ask_for_advice};
pub use apart::{diagnose_apart, diagnosed_apart, have_diagnosed};
pub use diagnose::{Limits, TakeFirst, diagnose, diagnose_into};
pub use ending::Ending;
pub use findings::{Criterion, Findings};
pub use findings_file::{FILE, may_be_read, read, remove, write};
pub use graph::{
    builder as graph_builder, builder_of_segments, finish as finish_graph, of_segments as graph_of_segments,
};
pub use live::{Calls, Helpers, LiveDiagnosis, Wanted};
pub use live_findings::LiveFindings;
pub use named_criteria::named;
pub use part::PartVerdicts;
pub use processors::{Crowding, Processors, blocked_sentence, where_ranks_run};
pub use recorded_time::recorded_ns;
pub use reference_criteria::{GIVEN, give};
pub use regions::regions_sentence;
pub use side_by_side::SideBySide;
pub use words::{ADVICE, budget_lines, verdict_sentences};
