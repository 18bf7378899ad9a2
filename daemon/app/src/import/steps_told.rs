//! Calls of a trace with the messages that they sent and received.

use super::step::{Called, Collective, Moved, Place, Step, What};
use super::telling::{MOST_THREADS, Telling, World};
use anyhow::Result;
use mpiscope_wire::{
    Call, CallFlags, Family, Message, ModuleDefinition, NO_COMM, PEER_NONE, Part, PartFlags, PathPart,
    SiteDefinition, Slot, by_id,
};
use std::collections::{HashMap, HashSet};

/// More places than a process tells of; calls from others have none.
const MOST_PLACES: usize = 1 << 12;

/// Tells steps, which come in the order of time, some slots at once.
pub(crate) fn tell(
    world: &World<'_>,
    places: &[String],
    steps: impl Iterator<Item = Result<Step>>,
    most_slots: usize,
    sink: &mut dyn FnMut(Message),
) -> Result<()> {
    let mut telling = Telling::begin(world, sink);
    let mut own = Own { places, told: HashSet::new(), collectives: HashMap::new() };
    let (mut posted, mut moved) = (Vec::new(), Vec::new());
    for step in steps {
        let step = step?;
        match step.what {
            What::Posted(one) => posted.push(one),
            What::Message(one) => moved.push(one),
            What::Call(call) => {
                if telling.waiting_slots() >= most_slots {
                    // All that ended before this moment was told.
                    telling.flush(step.place.end_ns);
                }
                own.call(&mut telling, (step.place, &call), &posted, &moved);
                posted.clear();
                moved.clear();
            }
        }
    }
    telling.end();
    Ok(())
}

/// What is known of what was told.
struct Own<'a> {
    /// Where calls were made, from number 1 on.
    places: &'a [String],
    /// Which rank has said where a place is.
    told: HashSet<(u32, u32)>,
    /// By rank and communicator, how many collectives there were.
    collectives: HashMap<(u32, u32), i32>,
}

impl Own<'_> {
    fn call(
        &mut self,
        telling: &mut Telling<'_>,
        (place, call): (Place, &Called),
        posted: &[Moved],
        moved: &[Moved],
    ) {
        for comm in posted.iter().chain(moved).map(|one| one.comm).chain(call.collective.map(|of| of.comm)) {
            telling.define(call.rank, comm);
        }
        let thread = usize::from(call.thread).min(MOST_THREADS - 1);
        let site = self.place(telling, call.rank, call.site);
        let family = by_id(call.function).map(|entry| entry.family);
        let plain = Call {
            flags: CallFlags::NONE,
            function: call.function,
            duration: place.end_ns - call.start_ns,
            start: telling.clock_ns(call.start_ns),
            peer: PEER_NONE,
            comm: NO_COMM,
            site,
            tag: 0,
            bytes: 0,
        };
        // The one message that the call itself is about; all others are parts of it.
        let is_own = |one: &&Moved| match family {
            Some(Family::Send) => !one.is_receive,
            Some(Family::Receive) => one.is_receive && one.post.is_none(),
            _ => false,
        };
        let several = moved.iter().filter(is_own).count() != 1;
        let own = moved.iter().find(is_own).filter(|one| !several && (moved.len() == 1 || !one.is_receive));
        let whole = match (own, call.collective) {
            (Some(one), _) => Call {
                flags: if one.is_receive { CallFlags::RECEIVE } else { CallFlags::SEND },
                peer: one.peer.cast_signed(),
                comm: one.comm,
                tag: one.tag,
                bytes: one.bytes,
                ..plain
            },
            (None, Some(collective)) => self.collective(call.rank, &collective, plain),
            (None, None) if call.count > 1 && moved.is_empty() && posted.is_empty() => {
                Call { flags: CallFlags::FOLDED, bytes: call.count, ..plain }
            }
            (None, None) => plain,
        };
        let part = |flags, one: &Moved| {
            let (tag, comm, bytes, post) = (one.tag, one.comm, one.bytes, one.post.unwrap_or_default());
            Part { flags, tag, post, peer: one.peer.cast_signed(), comm, bytes }.encode()
        };
        let mut slots: Vec<Slot> = posted.iter().map(|one| part(PartFlags::POSTED, one)).collect();
        for one in moved.iter().filter(|one| !own.is_some_and(|own| std::ptr::eq(*one, own))) {
            let flags = match (one.is_receive, one.post) {
                (false, _) => PartFlags::SENT,
                (true, None) => PartFlags::INLINE,
                (true, Some(_)) => PartFlags::COMPLETED,
            };
            slots.push(part(flags, one));
        }
        if whole.needs_wide() {
            slots.push(whole.encode_wide());
        }
        slots.push(whole.encode());
        telling.slots(call.rank, thread, &slots);
    }

    /// The number of a collective is how many came before it on its communicator.
    fn collective(&mut self, rank: u32, of: &Collective, plain: Call) -> Call {
        let next = self.collectives.entry((rank, of.comm)).or_default();
        let number = *next;
        *next = next.wrapping_add(1);
        Call {
            flags: CallFlags::COLLECTIVE,
            peer: of.root.map_or(PEER_NONE, u32::cast_signed),
            comm: of.comm,
            tag: number,
            bytes: of.bytes,
            ..plain
        }
    }

    /// Says where a place is, if the rank did not say so before. What would be the name of a file is the place.
    fn place(&mut self, telling: &mut Telling<'_>, rank: u32, site: u32) -> u32 {
        let known = (site as usize).checked_sub(1).filter(|&at| at < MOST_PLACES);
        let Some(path) = known.and_then(|at| self.places.get(at)) else { return 0 };
        if self.told.insert((rank, site)) {
            let path = path.as_bytes();
            telling.slots(rank, 0, &[ModuleDefinition::new(site, path, &[]).encode()]);
            let parts: Vec<_> = PathPart::all(site, path).map(|part| part.encode()).collect();
            telling.slots(rank, 0, &parts);
            telling.slots(rank, 0, &[SiteDefinition { number: site, module: site, offset: 0 }.encode()]);
        }
        site
    }
}
