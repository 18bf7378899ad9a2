//! A call that has not returned: which it is, since when, and whom its arguments ask for.
//!
//! In a ring it lies in words of the ring's header. Frames and packets have it as words:
//!
//! ```text
//! 0  process u32, rank u32    1  since ticks    2  function u16, thread u16, kind u8, site u20
//! 3  to u32, from u32         4  tag u32, -     5  communicator's handle, or number of the post
//! ```

/// The words of a flight.
pub const FLIGHT_WORDS: usize = 6;

/// The peer of a call, as in its arguments: ranks are those of the communicator, which is known by its handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asked {
    /// None, or unknown.
    Nothing,
    /// Somebody who receives.
    Send {
        /// Who; [`crate::PEER_NONE`] for nobody.
        to: i32,
        /// With which tag.
        tag: i32,
        /// On which communicator.
        comm: u64,
    },
    /// Somebody who sends.
    Receive {
        /// Who; [`crate::PEER_ANY`] for any, [`crate::PEER_NONE`] for nobody.
        from: i32,
        /// With which tag; -1 for any.
        tag: i32,
        /// On which communicator.
        comm: u64,
    },
    /// Both at once.
    Exchange {
        /// Who is to receive.
        to: i32,
        /// Who is to send.
        from: i32,
        /// The tag of the sent message.
        tag: i32,
        /// On which communicator.
        comm: u64,
    },
    /// All members of a communicator.
    Members {
        /// Which.
        comm: u64,
    },
    /// The end of one receive that was posted before.
    Post {
        /// Its number among those of the process.
        post: u64,
    },
    /// The end of requests without further details.
    Requests {
        /// How many; 0 for one that is no receive, as far as was seen.
        count: u32,
    },
}

impl Asked {
    /// The number of its kind.
    #[inline(always)]
    #[must_use]
    pub fn kind(&self) -> u8 {
        match self {
            Asked::Nothing => 0,
            Asked::Send { .. } => 1,
            Asked::Receive { .. } => 2,
            Asked::Exchange { .. } => 3,
            Asked::Members { .. } => 4,
            Asked::Post { .. } => 5,
            Asked::Requests { .. } => 6,
        }
    }

    /// From its kind and the fields that are of some kind; nothing where there is no such kind.
    #[must_use]
    pub fn from_fields(kind: u8, [to, from, tag]: [i32; 3], long: u64) -> Self {
        match kind {
            1 => Asked::Send { to, tag, comm: long },
            2 => Asked::Receive { from, tag, comm: long },
            3 => Asked::Exchange { to, from, tag, comm: long },
            4 => Asked::Members { comm: long },
            5 => Asked::Post { post: long },
            6 => Asked::Requests { count: to as u32 },
            _ => Asked::Nothing,
        }
    }

    /// Its fields, those that it does not have as 0.
    #[must_use]
    pub fn fields(&self) -> ([i32; 3], u64) {
        match *self {
            Asked::Nothing => ([0; 3], 0),
            Asked::Send { to, tag, comm } => ([to, 0, tag], comm),
            Asked::Receive { from, tag, comm } => ([0, from, tag], comm),
            Asked::Exchange { to, from, tag, comm } => ([to, from, tag], comm),
            Asked::Members { comm } => ([0; 3], comm),
            Asked::Post { post } => ([0; 3], post),
            Asked::Requests { count } => ([count as i32, 0, 0], 0),
        }
    }
}

/// A call that has not returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flight {
    /// The agent's number of the process.
    pub process: u32,
    /// Its rank.
    pub rank: u32,
    /// Which of its threads.
    pub thread: u16,
    /// The function.
    pub function: u16,
    /// The process's own number of the call site; 0 is none.
    pub site: u32,
    /// Ticks of the process's clock.
    pub since_ticks: u64,
    /// Whom it asks for.
    pub asked: Asked,
}

const fn two(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

impl Flight {
    /// Its words.
    #[must_use]
    pub fn encode(&self) -> [u64; FLIGHT_WORDS] {
        let ([to, from, tag], long) = self.asked.fields();
        let what = two(
            u32::from(self.function) | u32::from(self.thread) << 16,
            u32::from(self.asked.kind()) | (self.site & 0xF_FFFF) << 8,
        );
        [
            two(self.process, self.rank),
            self.since_ticks,
            what,
            two(to as u32, from as u32),
            u64::from(tag as u32),
            long,
        ]
    }

    /// Reads its words.
    #[must_use]
    pub fn decode(words: &[u64; FLIGHT_WORDS]) -> Self {
        let [whose, since_ticks, what, ranks, tag, long] = *words;
        let fields = [ranks as i32, (ranks >> 32) as i32, tag as i32];
        Self {
            process: whose as u32,
            rank: (whose >> 32) as u32,
            thread: (what >> 16) as u16,
            function: what as u16,
            site: (what >> 40) as u32 & 0xF_FFFF,
            since_ticks,
            asked: Asked::from_fields((what >> 32) as u8, fields, long),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn flights_survive(
            process: u32, rank: u32, thread: u16, function: u16, site in 0_u32..=0xF_FFFF, since_ticks: u64, kind in 0_u8..9,
            fields: [i32; 3], long: u64,
        ) {
            let asked = Asked::from_fields(kind, fields, long);
            prop_assert_eq!(Asked::from_fields(asked.kind(), asked.fields().0, asked.fields().1), asked);
            let flight = Flight { process, rank, thread, function, site, since_ticks, asked };
            prop_assert_eq!(Flight::decode(&flight.encode()), flight);
        }
    }
}
