//! The truth about a simulated job: its disturbances, their cost, and its totals.

use crate::disturbance::{Disturbance, Stretch};
use std::fmt::Write;

/// Below this share of the ranks' time a disturbance is no cause of anything.
const NEGLIGIBLE_SHARE: f64 = 0.02;

/// Why a job takes longer than it has to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Where ranks run.
    Mapping,
    /// How work and waiting are spread over ranks.
    Pattern,
    /// Others use the network.
    Background,
    /// Others use the processors.
    Cpu,
    /// It does not.
    None,
}

impl Cause {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Cause::Mapping => "mapping",
            Cause::Pattern => "pattern",
            Cause::Background => "background",
            Cause::Cpu => "cpu",
            Cause::None => "none",
        }
    }

    /// That of a disturbance.
    pub(crate) fn from_disturbance(disturbance: &Disturbance) -> Self {
        match disturbance {
            Disturbance::WorsePlacement { .. } => Cause::Mapping,
            Disturbance::Imbalance { .. }
            | Disturbance::GradedImbalance { .. }
            | Disturbance::SlowNode { .. }
            | Disturbance::SlowRack { .. }
            | Disturbance::SerializedRoot { .. } => Cause::Pattern,
            Disturbance::NetworkContention { .. } => Cause::Background,
            Disturbance::StolenCpu { .. } | Disturbance::StoppedRank { .. } => Cause::Cpu,
            Disturbance::DriftingClocks { .. } | Disturbance::LostRecords { .. } => Cause::None,
        }
    }
}

/// When a disturbance is there.
pub(crate) fn stretch(disturbance: &Disturbance) -> Stretch {
    match *disturbance {
        Disturbance::NetworkContention { during, .. }
        | Disturbance::StolenCpu { during, .. }
        | Disturbance::StoppedRank { during, .. } => during,
        _ => Stretch::WHOLE,
    }
}

/// What one disturbance costs: what the job takes, less what it takes without this one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// What it is.
    pub cause: Cause,
    /// In seconds of all ranks. Less than nothing where the disturbance does good.
    pub avoidable_s: f64,
    /// In seconds of the run.
    pub avoidable_wall_s: f64,
    /// Of the ranks' time.
    pub share: f64,
    /// Since when, in seconds of the run.
    pub from_s: f64,
    /// Until when.
    pub to_s: f64,
}

/// What went from one rank to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// The sender.
    pub src: u32,
    /// The receiver.
    pub dst: u32,
    /// Messages.
    pub messages: u64,
    /// What they carried.
    pub bytes: u64,
}

/// All of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// The pattern.
    pub pattern: &'static str,
    /// Ranks.
    pub ranks: u32,
    /// Steps that each went through.
    pub steps: u32,
    /// How long the job took.
    pub duration_s: f64,
    /// What costs most; none where nothing costs more than 2 % of the ranks' time.
    pub main: Part,
    /// What each disturbance costs, in the order of the spec; those that cost nothing by nature are left out.
    pub parts: Vec<Part>,
    /// Messages between ranks of one node.
    pub intra_messages: u64,
    /// Messages between nodes.
    pub inter_messages: u64,
    /// What all messages carried.
    pub bytes: u64,
    /// Calls that were lost; they are among the others.
    pub lost_calls: u64,
    /// Rows of calls that each rank made; a row of folded polls is one.
    pub rows_of_rank: Vec<u64>,
    /// Calls that all ranks made.
    pub calls: u64,
    /// The rack that computes slower, if one does.
    pub slow_rack: Option<u32>,
    /// Pairs that exchanged messages, ordered.
    pub pairs: Vec<Traffic>,
}

impl Truth {
    /// What costs most of some parts, if that is enough.
    pub(crate) fn main(parts: &[Part], duration_s: f64) -> Part {
        let nothing = Part {
            cause: Cause::None,
            avoidable_s: 0.0,
            avoidable_wall_s: 0.0,
            share: 0.0,
            from_s: 0.0,
            to_s: duration_s,
        };
        let strong = parts.iter().filter(|part| part.share >= NEGLIGIBLE_SHARE);
        strong.max_by(|one, other| one.share.total_cmp(&other.share)).copied().unwrap_or(nothing)
    }

    /// Finds anew what costs most, after parts were changed.
    pub fn settle(&mut self) {
        self.main = Self::main(&self.parts, self.duration_s);
    }

    /// As JSON; pairs only when asked for, for they are many.
    #[must_use]
    pub fn to_json(&self, with_pairs: bool) -> String {
        let mut text = format!(
            "{{\"schema\": \"mpiscope.truth/1\", \"pattern\": \"{}\", \"ranks\": {}, \"steps\": {}, \"duration_s\": {}, ",
            self.pattern, self.ranks, self.steps, self.duration_s
        );
        let parts: Vec<String> = self.parts.iter().map(Part::json).collect();
        let rows: Vec<String> = self.rows_of_rank.iter().map(u64::to_string).collect();
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "\"main\": {}, \"parts\": [{}], \"intra_messages\": {}, \"inter_messages\": {}, \"bytes\": {}, \
             \"calls\": {}, \"lost_calls\": {}, \"rows_of_rank\": [{}]",
            self.main.json(),
            parts.join(", "),
            self.intra_messages,
            self.inter_messages,
            self.bytes,
            self.calls,
            self.lost_calls,
            rows.join(", ")
        );
        if let Some(rack) = self.slow_rack {
            let _ = write!(text, ", \"slow_rack\": {rack}");
        }
        if with_pairs {
            let pair =
                |pair: &Traffic| format!("[{}, {}, {}, {}]", pair.src, pair.dst, pair.messages, pair.bytes);
            let pairs: Vec<String> = self.pairs.iter().map(pair).collect();
            let _ = write!(text, ", \"pairs\": [{}]", pairs.join(", "));
        }
        text.push('}');
        text
    }
}

impl Part {
    fn json(&self) -> String {
        format!(
            "{{\"cause\": \"{}\", \"avoidable_s\": {}, \"avoidable_wall_s\": {}, \"share\": {}, \"from_s\": {}, \"to_s\": {}}}",
            self.cause.word(),
            self.avoidable_s,
            self.avoidable_wall_s,
            self.share,
            self.from_s,
            self.to_s
        )
    }
}
