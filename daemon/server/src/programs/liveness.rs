//! Whether a client is there. It is asked for a sign of life all the time; WebSocket libraries answer by themselves.
//!
//! A client counts as dead when a ping stays unanswered until its patience is over, whatever else it does. What the
//! server did late is not held against it: its answer may lie unread, and is looked for once more.

use std::time::Duration;
use tokio::time::Instant;

/// How often a client is asked.
pub(super) const PING_EVERY: Duration = Duration::from_millis(1_000);
/// How often it is looked whether it answered.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(250);
/// What a client may ask for.
const PATIENCE: std::ops::RangeInclusive<u64> = 1_000..=60_000;

/// What is known of one client.
#[derive(Debug)]
pub(super) struct Liveness {
    patience: Duration,
    signs: u64,
    last_ping: Option<Instant>,
    /// Since when a ping is unanswered.
    unanswered: Option<Instant>,
    is_suspect: bool,
}

impl Liveness {
    /// Of a client that asks for this patience, or for none.
    pub(super) fn new(asked_ms: Option<u32>, usual: Duration) -> Self {
        let asked =
            asked_ms.map(|ms| Duration::from_millis(u64::from(ms).clamp(*PATIENCE.start(), *PATIENCE.end())));
        let patience = asked.unwrap_or(usual);
        Self { patience, signs: 0, last_ping: None, unanswered: None, is_suspect: false }
    }

    /// How long it may take one message, or the answer to a ping. It may have died just after its last sign of life, a ping
    /// before the first that is unanswered, and is looked for once more.
    pub(super) fn time_to_answer(&self) -> Duration {
        self.patience.saturating_sub(PING_EVERY + 2 * LOOK_EVERY).max(self.patience / 2)
    }

    /// Looks whether it is gone, by how many signs of life there were until now.
    pub(super) fn is_gone(&mut self, signs: u64, now: Instant) -> bool {
        if self.signs != signs {
            (self.signs, self.unanswered, self.is_suspect) = (signs, None, false);
            return false;
        }
        let left = self.time_to_answer();
        let is_late = self.unanswered.is_some_and(|since| now.duration_since(since) >= left);
        is_late && std::mem::replace(&mut self.is_suspect, true)
    }

    /// Whether it is to be asked now.
    pub(super) fn must_ask(&mut self, now: Instant) -> bool {
        if self.last_ping.is_some_and(|last| now.duration_since(last) < PING_EVERY.min(self.patience / 3)) {
            return false;
        }
        self.last_ping = Some(now);
        self.unanswered.get_or_insert(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a client that answers until a time counts as gone; the server looks four times a second.
    fn gone_after(answers_until_ms: u64, asked_ms: Option<u32>) -> Option<u64> {
        let start = Instant::now();
        let mut liveness = Liveness::new(asked_ms, Duration::from_secs(5));
        let (mut signs, mut is_asked) = (0, false);
        (0..200_000).step_by(250).find(|&ms| {
            if is_asked && ms <= answers_until_ms {
                signs += 1;
            }
            let now = start + Duration::from_millis(ms);
            let is_gone = liveness.is_gone(signs, now);
            is_asked = liveness.must_ask(now);
            is_gone
        })
    }

    #[test]
    fn who_answers_stays_and_who_does_not_is_gone_within_five_seconds() {
        assert_eq!(gone_after(u64::MAX, None), None);
        for last_ms in (0..10_000).step_by(100) {
            let gone_ms = gone_after(last_ms, None).unwrap();
            assert!((3_000..=5_000).contains(&(gone_ms - last_ms)), "{last_ms} {gone_ms}");
        }
        let gone_ms = gone_after(10_000, Some(30_000)).unwrap();
        assert!((38_000..=40_000).contains(&gone_ms), "{gone_ms}");
        assert!(gone_after(0, Some(u32::MAX)).unwrap() <= 60_000);
    }

    #[test]
    fn a_server_that_was_late_itself_looks_once_more() {
        let start = Instant::now();
        let mut liveness = Liveness::new(None, Duration::from_secs(5));
        assert!(liveness.must_ask(start));
        // The answer lay unread for a minute.
        assert!(!liveness.is_gone(0, start + Duration::from_secs(60)));
        assert!(!liveness.is_gone(1, start + Duration::from_millis(60_500)));
        assert!(!liveness.is_gone(1, start + Duration::from_secs(120)));
    }
}
