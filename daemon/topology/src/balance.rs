//! How evenly ranks talk: the paper's load balance.

use mpiscope_model::Rank;

/// One rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankBalance {
    /// Which.
    pub rank: Rank,
    /// Messages that it sent and received (`mc`).
    pub messages: u64,
    /// How far that is from the mean, in mean deviations (`LB_p`); 0 where all are even.
    pub load: f64,
}

/// All ranks that talked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Balance {
    /// By rank.
    pub ranks: Vec<RankBalance>,
    /// The mean of their messages (`mc_avg`).
    pub mean: f64,
    /// Their mean deviation (`AD`).
    pub deviation: f64,
}

/// How flat the glyph of a rank is, from 0 for an even one towards 1.
#[must_use]
pub fn flatness(load: f64) -> f64 {
    1.0 - 1.0 / (1.0 + load / 3.0)
}

impl Balance {
    /// Of ranks and the messages that each sent and received, by rank.
    #[must_use]
    pub fn from_messages(messages: impl IntoIterator<Item = (Rank, u64)>) -> Self {
        let mut ranks: Vec<RankBalance> =
            messages.into_iter().map(|(rank, messages)| RankBalance { rank, messages, load: 0.0 }).collect();
        let count = ranks.len().max(1) as f64;
        let mean = ranks.iter().map(|rank| rank.messages as f64).sum::<f64>() / count;
        let away = |rank: &RankBalance| (rank.messages as f64 - mean).abs();
        let deviation = ranks.iter().map(away).sum::<f64>() / count;
        // A mean that is no whole number is not met exactly even where all are equal.
        if deviation <= mean * f64::EPSILON * 4.0 {
            return Self { ranks, mean, deviation: 0.0 };
        }
        ranks.iter_mut().for_each(|rank| rank.load = away(rank) / deviation);
        Self { ranks, mean, deviation }
    }

    /// The rank that is furthest from the mean; of several the first. None without messages.
    #[must_use]
    pub fn furthest(&self) -> Option<&RankBalance> {
        self.ranks.iter().reduce(|furthest, rank| if rank.load > furthest.load { rank } else { furthest })
    }
}
