//! The events of a stretch of time, each rank's in the order of its own clock.

use mpiscope_model::{Flow, Message, Nanoseconds, Rank};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A collective that ranks took part in, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meeting {
    /// Who waits for whom.
    pub flow: Flow,
    /// The root, where it has one.
    pub root: Option<Rank>,
    /// Who took part, in the order of the communicator.
    pub members: Vec<Member>,
}

/// A rank's part in a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Whose.
    pub rank: Rank,
    /// When its call was entered.
    pub enter_ns: Nanoseconds,
    /// When it returned.
    pub exit_ns: Nanoseconds,
}

/// What an event is, with the number of its message, or of its place in a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Send(u32),
    Enter(u32),
    Receive(u32),
    Exit(u32),
}

/// Stands where an event is not in the stretch.
pub(crate) const NOWHERE: u32 = u32::MAX;
/// Most messages, and most members of collectives, of a stretch.
const MOST: usize = 1 << 30;

/// An event in one word. A rank's outgoing events sort before incoming ones: at one instant no message is received
/// before it was sent.
fn encode(endpoint: Endpoint) -> u32 {
    match endpoint {
        Endpoint::Send(id) => id,
        Endpoint::Enter(id) => 1 << 30 | id,
        Endpoint::Receive(id) => 2 << 30 | id,
        Endpoint::Exit(id) => 3 << 30 | id,
    }
}

fn decode(code: u32) -> Endpoint {
    let id = code & (MOST as u32 - 1);
    match code >> 30 {
        0 => Endpoint::Send(id),
        1 => Endpoint::Enter(id),
        2 => Endpoint::Receive(id),
        _ => Endpoint::Exit(id),
    }
}

/// Messages in one order, whatever order they came in.
pub(crate) fn in_order(messages: &[Message]) -> Vec<Message> {
    let rest = |message: &Message| {
        let Message { src, dst, tag, comm, bytes, recv_ns, t_msg_ns, .. } = *message;
        let late = (message.late_sender_ns, message.late_receiver_ns, message.inter, message.exact);
        (recv_ns, src, dst, tag, comm, bytes, t_msg_ns, late)
    };
    let mut order: Vec<(Nanoseconds, u32)> =
        messages.iter().zip(0..).map(|(message, at)| (message.send_ns, at)).collect();
    order.sort_unstable_by(|one, other| {
        let of = |at: u32| rest(&messages[at as usize]);
        one.0.cmp(&other.0).then_with(|| of(one.1).cmp(&of(other.1)))
    });
    order.into_iter().map(|(_, at)| messages[at as usize]).collect()
}

/// The events of a stretch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Events {
    /// The ranks that have any, in order.
    pub(crate) ranks: Vec<Rank>,
    /// Where the events of each begin, and the end of the last.
    pub(crate) starts: Vec<u32>,
    pub(crate) at_ns: Vec<Nanoseconds>,
    codes: Vec<u32>,
    /// The events of each message, [`NOWHERE`] where one is not in the stretch.
    pub(crate) sends: Vec<u32>,
    pub(crate) receives: Vec<u32>,
    /// Those of each place in a collective, likewise.
    pub(crate) enters: Vec<u32>,
    pub(crate) exits: Vec<u32>,
}

/// An event before it has its place.
struct RawEvent {
    rank: u32,
    at_ns: Nanoseconds,
    code: u32,
}

impl Events {
    /// The events that lie in a stretch of time on the ranks that are wanted.
    pub(crate) fn collect(
        messages: &[Message],
        meetings: &[Meeting],
        range_ns: &Range<Nanoseconds>,
        is_wanted: impl Fn(Rank) -> bool,
    ) -> Self {
        let mut raw = Vec::with_capacity(2 * messages.len());
        let mut numbers: FxHashMap<Rank, u32> = FxHashMap::default();
        let mut ranks: Vec<Rank> = Vec::new();
        let mut add = |rank: Rank, at_ns: Nanoseconds, endpoint: Endpoint| {
            if !range_ns.contains(&at_ns) || !is_wanted(rank) {
                return;
            }
            let number = *numbers.entry(rank).or_insert_with(|| {
                ranks.push(rank);
                ranks.len() as u32 - 1
            });
            raw.push(RawEvent { rank: number, at_ns, code: encode(endpoint) });
        };
        for (message, id) in messages.iter().take(MOST).zip(0..) {
            add(message.src, message.send_ns, Endpoint::Send(id));
            add(message.dst, message.recv_ns, Endpoint::Receive(id));
        }
        let members = meetings.iter().flat_map(|meeting| &meeting.members);
        for (member, id) in members.take(MOST).zip(0..) {
            add(member.rank, member.enter_ns, Endpoint::Enter(id));
            add(member.rank, member.exit_ns, Endpoint::Exit(id));
        }
        let places = meetings.iter().map(|meeting| meeting.members.len()).sum();
        let mut events = Self {
            sends: vec![NOWHERE; messages.len()],
            receives: vec![NOWHERE; messages.len()],
            enters: vec![NOWHERE; places],
            exits: vec![NOWHERE; places],
            ..Self::default()
        };
        events.put(raw, &ranks);
        events
    }

    /// Gives each event its place: by rank, then by its clock.
    fn put(&mut self, raw: Vec<RawEvent>, met: &[Rank]) {
        let mut by_rank: Vec<u32> = (0..met.len() as u32).collect();
        by_rank.sort_unstable_by_key(|&number| met[number as usize]);
        let mut place = vec![0_u32; met.len()];
        by_rank.iter().zip(0..).for_each(|(&number, at)| place[number as usize] = at);
        self.ranks = by_rank.iter().map(|&number| met[number as usize]).collect();
        self.starts = vec![0; met.len() + 1];
        for event in &raw {
            self.starts[place[event.rank as usize] as usize + 1] += 1;
        }
        for at in 1..self.starts.len() {
            self.starts[at] += self.starts[at - 1];
        }
        let mut next = self.starts.clone();
        let mut sorted = vec![(0, 0); raw.len()];
        for event in raw {
            let next = &mut next[place[event.rank as usize] as usize];
            sorted[*next as usize] = (event.at_ns, event.code);
            *next += 1;
        }
        for ends in self.starts.windows(2) {
            sorted[ends[0] as usize..ends[1] as usize].sort_unstable();
        }
        for (&(_, code), event) in sorted.iter().zip(0..) {
            match decode(code) {
                Endpoint::Send(id) => self.sends[id as usize] = event,
                Endpoint::Receive(id) => self.receives[id as usize] = event,
                Endpoint::Enter(id) => self.enters[id as usize] = event,
                Endpoint::Exit(id) => self.exits[id as usize] = event,
            }
        }
        (self.at_ns, self.codes) = sorted.into_iter().unzip();
    }

    pub(crate) fn count(&self) -> usize {
        self.codes.len()
    }

    pub(crate) fn endpoint(&self, event: u32) -> Endpoint {
        decode(self.codes[event as usize])
    }

    /// The events of the rank at a place among those that have any.
    pub(crate) fn of_place(&self, place: usize) -> Range<u32> {
        self.starts[place]..self.starts[place + 1]
    }

    /// The place of a rank.
    pub(crate) fn place_of(&self, rank: Rank) -> Option<usize> {
        self.ranks.binary_search(&rank).ok()
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let words = [&self.codes, &self.sends, &self.receives, &self.enters, &self.exits, &self.starts];
        size_of_val(self.at_ns.as_slice())
            + words.map(|words| size_of_val(words.as_slice())).iter().sum::<usize>()
    }
}
