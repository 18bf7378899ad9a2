//! How latency went within regions and between them, as pages receive it and as recordings keep it.

use serde::{Deserialize, Serialize};

/// All of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Evolution {
    /// What regions are: `node`, the ranks of each node, while nobody knows better; or `traffic`.
    pub by: String,
    /// The version of the regions.
    pub version: u32,
    /// How long a window is, in seconds.
    pub window_s: f64,
    /// Up to where windows are final.
    pub final_s: f64,
    /// Delayed messages took longer than the 95th percentile of quiet windows; without it, longer than expected.
    #[serde(default)]
    pub has_normal: bool,
    /// The regions that most was received in, in order of their numbers.
    pub regions: Vec<RegionCourse>,
    /// Pairs of regions that exchanged most, likewise.
    pub links: Vec<RegionCourse>,
    /// Messages within regions that are not named here, and between such.
    pub other_messages: (u64, u64),
}

/// One region, or what goes between two, either way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RegionCourse {
    /// Its number, which it keeps.
    pub region: u32,
    /// The other one, of two.
    pub other: Option<u32>,
    /// The ranks of a region now: the first and the last of each range. Empty where it is no more, and for two.
    pub ranks: Vec<(u32, u32)>,
    /// Messages in final windows.
    pub messages: u64,
    /// Of them, those whose time is known exactly.
    pub exact: u64,
    /// Of the exact ones, those that took longer than is normal.
    pub delayed: u64,
    /// Of the exact ones, those that took longer than expected (L > 1).
    #[serde(default)]
    pub above_expected: u64,
    /// How many times as long as usual the exact ones took on average; none without any.
    pub latency: Option<f64>,
    /// Stretches of final windows, in order.
    pub segments: Vec<SegmentRow>,
    /// The windows that are kept of them, in order.
    pub points: Points,
    /// Windows that are not final.
    pub provisional: Points,
    /// The whole series at one resolution.
    #[serde(default)]
    pub bands: Bands,
    /// Segments that were separate once and are joined now, since there were too many.
    pub joined: u64,
}

/// A stretch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SegmentRow {
    /// `growth`, `steady` or `rest`.
    pub kind: String,
    /// Where its first window begins.
    pub from_s: f64,
    /// Where its last window ends.
    pub to_s: f64,
    /// It stays as it is; else it looks like this now.
    pub is_closed: bool,
    /// Windows in it with exact messages.
    pub windows: u64,
    /// All its messages.
    pub messages: u64,
    /// Of them, those whose time is known exactly.
    pub exact: u64,
    /// Of the exact ones, those that took longer than is normal.
    pub delayed: u64,
    /// Of the exact ones, those that took longer than expected (L > 1).
    #[serde(default)]
    pub above_expected: u64,
    /// How many times as long as usual the exact ones took on average.
    pub latency: Option<f64>,
    /// By what part latency is greater in its end than in its beginning.
    pub rise: f64,
}

/// Windows, one a place in all columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Points {
    /// Where it begins, in seconds.
    pub time_s: Vec<f64>,
    /// How many times as long as usual its exact messages took on average; 0 without any.
    pub latency: Vec<f64>,
    /// The average latency of all messages up to its end; 0 where it is not final.
    pub average: Vec<f64>,
    /// Its messages.
    pub messages: Vec<u64>,
    /// Of them, those whose time is known exactly.
    pub exact: Vec<u64>,
    /// Of the exact ones, those that took longer than is normal.
    pub delayed: Vec<u64>,
    /// Of the exact ones, those that took longer than expected (L > 1).
    #[serde(default)]
    pub above_expected: Vec<u64>,
    /// The version of the regions that it was accounted under.
    pub version: Vec<u32>,
}

/// The whole series of a region, with percentiles of L, one slot a place in all columns; slots without an exact message
/// are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Bands {
    /// How long a slot is, in seconds.
    pub width_s: f64,
    /// Where it begins, in seconds.
    pub time_s: Vec<f64>,
    /// The mean L of its exact messages.
    pub latency: Vec<f64>,
    /// 10 % of them had at most this L, to 5 %.
    pub p10: Vec<f64>,
    /// Half of them.
    pub p50: Vec<f64>,
    /// 90 %.
    pub p90: Vec<f64>,
    /// How many exact messages there are.
    pub exact: Vec<u64>,
}

/// Calls that have not returned, by region: windows that they reach into are not final.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Pending {
    /// The regions, in order.
    pub region: Vec<u32>,
    /// How many calls.
    pub calls: Vec<u64>,
    /// When the first of them was entered.
    pub since_ns: Vec<u64>,
    /// How long they have taken so far, in all.
    pub total_ns: Vec<u64>,
}

impl Evolution {
    /// With what older recordings do not have: there delayed meant longer than expected.
    #[must_use]
    pub fn completed(mut self) -> Self {
        if !self.has_normal {
            for course in self.regions.iter_mut().chain(&mut self.links) {
                course.above_expected = course.delayed;
                for segment in &mut course.segments {
                    segment.above_expected = segment.delayed;
                }
                course.points.above_expected.clone_from(&course.points.delayed);
                course.provisional.above_expected.clone_from(&course.provisional.delayed);
            }
        }
        self
    }

    /// The region of each rank, as far as it is named here; for those who look many of them up.
    #[must_use]
    pub fn region_of_rank(&self) -> mpiscope_diagnosis::RegionOfRank {
        let ranges =
            || self.regions.iter().flat_map(|of| of.ranks.iter().map(move |range| (of.region, *range)));
        let ranks = ranges().map(|(_, (_, last))| last as usize + 1).max().unwrap_or_default();
        let mut of_rank = vec![u32::MAX; ranks];
        for (region, (first, last)) in ranges() {
            of_rank[first as usize..=last as usize].fill(region);
        }
        mpiscope_diagnosis::RegionOfRank { version: self.version, of_rank }
    }
}
