//! Whose channels an event concerns: a channel belongs to its receiver. So receivers may be shared out over several
//! matchers, and all together find what one finds.

use super::{Matched, Matcher, PairKey};
use mpiscope_model::{Event, Rank};

/// What an event means to the channels of one receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToReceiver {
    /// Whose channels.
    pub receiver: Rank,
    /// What happened.
    pub event: Event,
}

impl AsRef<Self> for ToReceiver {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl ToReceiver {
    /// For each receiver whose channels an event concerns: one, or two where somebody says what went both ways.
    pub fn all_of(event: Event) -> impl Iterator<Item = Self> {
        let (receiver, other) = match event {
            Event::Send { to, .. } => (to, None),
            Event::Numbers { rank, peer, .. } => (peer, Some(rank).filter(|_| rank != peer)),
            _ => (event.rank(), None),
        };
        [Some(receiver), other].into_iter().flatten().map(move |receiver| Self { receiver, event })
    }
}

impl Matcher {
    /// Takes in all that concerns some receivers in a window, what each rank did in its order. Messages come in the order
    /// of their receivers. Neither who was read first nor how many matchers there are makes a difference.
    pub fn feed_window(&mut self, events: &[impl AsRef<ToReceiver>]) -> Matched {
        let key = |of: &ToReceiver| u64::from(of.receiver) << 32 | u64::from(of.event.rank());
        let mut order: Vec<(u64, usize)> =
            events.iter().enumerate().map(|(at, of)| (key(of.as_ref()), at)).collect();
        order.sort_unstable();
        let mut matched = Matched::default();
        for (_, at) in order {
            self.concerns(events[at].as_ref(), &mut matched);
        }
        matched
    }

    fn concerns(&mut self, of: &ToReceiver, out: &mut Matched) {
        let Event::Numbers { rank, comm, peer, sent, received } = of.event else {
            self.event(&of.event, out);
            return;
        };
        if of.receiver == peer {
            self.numbers(PairKey { comm, src: rank, dst: peer }, true, sent, out);
        }
        if of.receiver == rank {
            self.numbers(PairKey { comm, src: peer, dst: rank }, false, received, out);
        }
    }
}
