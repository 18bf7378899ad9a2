//! Whose channels an event concerns: a channel belongs to its receiver. Receivers may therefore be shared out over
//! several matchers. Each gets all events about its own, and together they find what one finds.

use mpiscope_model::{Event, Rank};

/// The receivers whose channels an event concerns: one, or two when an event reports both directions.
#[must_use]
pub fn receivers(event: &Event) -> (Rank, Option<Rank>) {
    match *event {
        Event::Send { to, .. } => (to, None),
        Event::Numbers { rank, peer, .. } => (peer, Some(rank)),
        _ => (event.rank(), None),
    }
}
