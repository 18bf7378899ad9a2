//! Whose channels an event concerns: a channel belongs to its receiver. So receivers may be shared out over several
//! matchers, each of which is told all that concerns one of its own, and all together find what one finds.

use mpiscope_model::{Event, Rank};

/// The receivers whose channels an event concerns: one, or two where somebody says what went both ways.
#[must_use]
pub fn receivers(event: &Event) -> (Rank, Option<Rank>) {
    match *event {
        Event::Send { to, .. } => (to, None),
        Event::Numbers { rank, peer, .. } => (peer, Some(rank)),
        _ => (event.rank(), None),
    }
}
