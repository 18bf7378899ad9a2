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
    /// For the receivers whose channels an event concerns: one, or two where somebody says what went both ways.
    #[must_use]
    pub fn of(event: Event) -> (Self, Option<Self>) {
        let (receiver, other) = match event {
            Event::Send { to, .. } => (to, None),
            Event::Numbers { rank, peer, .. } => (peer, Some(rank).filter(|_| rank != peer)),
            _ => (event.rank(), None),
        };
        (Self { receiver, event }, other.map(|receiver| Self { receiver, event }))
    }
}

/// Receivers are put in order by counting them, if their numbers are no greater than so many times that of events.
const DENSE: usize = 4;

/// The places of events in the order of their receivers, of one receiver in the order of those who did something, of one
/// of these as they are.
fn in_order(events: &[impl AsRef<ToReceiver>]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..events.len()).collect();
    // Events of a rank come one after the other.
    places.sort_by_key(|&at| events[at].as_ref().event.rank());
    let receiver = |at: usize| events[at].as_ref().receiver as usize;
    let last = events.iter().map(|of| of.as_ref().receiver as usize).max().unwrap_or_default();
    // What a job says of receivers may be any number.
    if last > DENSE * events.len() {
        places.sort_by_key(|&at| receiver(at));
        return places;
    }
    let mut next = vec![0; last + 2];
    events.iter().for_each(|of| next[of.as_ref().receiver as usize + 1] += 1);
    (0..=last).for_each(|at| next[at + 1] += next[at]);
    let mut ordered = vec![0; events.len()];
    for at in places {
        let place = &mut next[receiver(at)];
        ordered[*place] = at;
        *place += 1;
    }
    ordered
}

impl Matcher {
    /// Takes in all that concerns some receivers in a window, what each rank did in its order. Messages come in the order
    /// of their receivers. Neither who was read first nor how many matchers there are makes a difference.
    pub fn feed_window(&mut self, events: &[impl AsRef<ToReceiver>]) -> Matched {
        let mut matched = Matched::default();
        for at in in_order(events) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_receivers_ranks_and_places(
            events in proptest::collection::vec((0_u32..6, 0_u32..6), 0..60),
            far in prop_oneof![Just(None), Just(Some(Rank::MAX))],
        ) {
            let event = |(receiver, rank)| ToReceiver { receiver, event: Event::Lost { rank } };
            let events: Vec<_> =
                events.into_iter().chain(far.map(|receiver| (receiver, 2))).map(event).collect();
            let mut expected: Vec<_> =
                events.iter().enumerate().map(|(at, of)| (of.receiver, of.event.rank(), at)).collect();
            expected.sort_unstable();
            let expected: Vec<usize> = expected.into_iter().map(|(.., at)| at).collect();
            prop_assert_eq!(in_order(&events), expected);
        }
    }
}
