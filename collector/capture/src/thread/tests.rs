use super::*;
use crate::comms::{Comms, Members, Origin};
use std::sync::Arc;

#[derive(Default)]
struct Tape {
    slots: Vec<Slot>,
    staged: Vec<Slot>,
    /// How many slots are staged at most.
    free_slots: usize,
    full: bool,
    lost: u64,
    /// All definitions are repeated after the next call.
    asked_anew: bool,
}

impl Sink for Tape {
    fn push(&mut self, before: &[Slot], row: &Slot, calls: u64) -> bool {
        if self.full {
            self.lost += calls;
        } else {
            self.slots.extend_from_slice(before);
            self.slots.push(*row);
        }
        !self.full
    }

    fn push_row(&mut self, row: &Slot) -> bool {
        if !self.full {
            self.slots.append(&mut self.staged);
            self.slots.push(*row);
        }
        !self.full
    }

    fn stage(&mut self, slot: &Slot) -> bool {
        let has_space = !self.full && self.staged.len() < self.free_slots;
        if has_space {
            self.staged.push(*slot);
        }
        has_space
    }

    fn unstage(&mut self) -> Vec<Slot> {
        std::mem::take(&mut self.staged)
    }

    fn begins_anew(&mut self) -> bool {
        std::mem::take(&mut self.asked_anew)
    }
}

impl Tape {
    fn entries(&mut self) -> Vec<Entry> {
        self.slots.drain(..).filter_map(|slot| Entry::decode(&slot)).collect()
    }
}

fn reversed() -> Arc<Comm> {
    let members = Members { own: vec![9, 5, 1], own_rank: 0, remote: None };
    Comms::default().insert(1, &members, Origin::Unseen)
}

const AT: Interval = Interval { start: 100, end: 130 };

fn sent(thread: &mut Thread, process: &Process, tape: &mut Tape, comm: &Comm, to: i32, bytes: u64) {
    let mut call = Thread::plain(10, AT);
    thread.send(process, &mut call, comm, to, 7, bytes);
    thread.commit(process, tape, &call);
}

#[test]
fn a_collective_that_completes_is_a_part_and_one_that_is_freed_is_none() {
    let (process, comm, mut tape) = (Process::default(), reversed(), Tape::default());
    let mut thread = Thread::new(0, 1);
    thread.collected(&mut tape, &comm, 5);
    thread.freed(&mut tape, &Posted::collective(comm.index, 6, true));
    thread.commit(&process, &mut tape, &Thread::plain(31, AT));
    let entries = tape.entries();
    assert!(matches!(entries[1], Entry::Comm(_)) && entries.len() == 5, "{entries:?}");
    let (flags, index) = (PartFlags::COLLECTED, comm.index);
    let expected = Part { flags, tag: 5, post: 5, peer: PEER_NONE, comm: index, bytes: 0 };
    assert_eq!(entries[3], Entry::Part(expected));
}

#[test]
fn a_send_names_its_world_rank_and_defines_its_communicator_once() {
    let (process, comm, mut tape) = (Process::default(), reversed(), Tape::default());
    let mut thread = Thread::new(0, 1);
    sent(&mut thread, &process, &mut tape, &comm, 2, 8);
    sent(&mut thread, &process, &mut tape, &comm, 1, 1 << 40);
    let entries = tape.entries();
    assert!(matches!(entries[0], Entry::Thread { number: 0, .. }));
    assert!(matches!(entries[1], Entry::Comm(definition) if definition.leader == 9));
    assert_eq!(entries[2], Entry::Handle { comm: comm.index, handle: comm.handle });
    assert!(matches!(entries[3], Entry::Call(call) if call.peer == 1 && call.duration == 30));
    assert!(matches!(entries[4], Entry::Wide { bytes, .. } if bytes == 1 << 40));
    assert!(matches!(entries[5], Entry::Call(call) if call.peer == 5 && call.flags.has(CallFlags::SEND)));
    assert_eq!(entries.len(), 6);
}

#[test]
fn definitions_asked_anew_come_with_the_next_calls() {
    let (process, comm, mut tape) = (Process::default(), reversed(), Tape::default());
    let mut thread = Thread::new(4, 1);
    sent(&mut thread, &process, &mut tape, &comm, 2, 8);
    tape.asked_anew = true;
    // Rows come by a way that is slow when something is asked.
    tape.free_slots = 0;
    thread.commit(&process, &mut tape, &Call { duration: 1 << 40, ..Thread::plain(31, AT) });
    tape.entries();
    sent(&mut thread, &process, &mut tape, &comm, 2, 8);
    sent(&mut thread, &process, &mut tape, &comm, 2, 8);
    let entries = tape.entries();
    assert!(matches!(entries[0], Entry::Thread { number: 4, .. }), "{entries:?}");
    assert!(matches!(entries[1], Entry::Comm(_)) && matches!(entries[2], Entry::Handle { .. }));
    assert!(matches!(entries[3], Entry::Sync(Sync { sent: 1, received: 0, .. })), "{entries:?}");
    assert!(matches!(entries[4], Entry::Call(_)) && matches!(entries[5], Entry::Call(_)));
    assert_eq!((entries.len(), tape.lost), (6, 0));
}

fn located(address: u64) -> Located {
    Located::In { path: b"/program".to_vec(), build_id: vec![1], base: address & !0xFF }
}

#[test]
fn calls_have_the_site_defined_before_them() {
    let (process, mut tape) = (Process::new(1_000_000), Tape::default());
    let (mut thread, mut sites) = (Thread::new(3, 1), Sites::default());
    assert!(!thread.come_from(0x110));
    thread.learn(&mut sites, &mut tape, 0x110, located);
    thread.failed_poll(&process, &mut tape, 34, AT);
    assert!(!thread.come_from(0x120));
    thread.learn(&mut sites, &mut tape, 0x120, located);
    thread.commit(&process, &mut tape, &Thread::plain(31, AT));
    assert!(thread.come_from(0x110));
    thread.commit(&process, &mut tape, &Thread::plain(31, AT));
    let entries = tape.entries();
    assert!(matches!(entries[0], Entry::Thread { number: 3, .. }), "{entries:?}");
    assert!(matches!(entries[1], Entry::Module(_)) && matches!(entries[2], Entry::Path(_)));
    assert!(matches!(entries[3], Entry::Site(site) if (site.number, site.offset) == (1, 0x10)));
    assert!(matches!(entries[4], Entry::Site(site) if (site.number, site.offset) == (2, 0x20)));
    let calls: Vec<_> = entries[5..]
        .iter()
        .map(|entry| match entry {
            Entry::Call(call) => (call.function, call.site),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(calls, [(34, 1), (31, 2), (31, 1)]);
}

#[test]
fn sites_are_defined_anew_after_a_loss() {
    let (process, mut tape) = (Process::default(), Tape::default());
    let (mut thread, mut sites) = (Thread::new(0, 1), Sites::default());
    thread.learn(&mut sites, &mut tape, 0x110, located);
    tape.full = true;
    thread.commit(&process, &mut tape, &Thread::plain(31, AT));
    assert!(!thread.come_from(0x110));
    thread.learn(&mut sites, &mut tape, 0x110, located);
    tape.full = false;
    tape.entries();
    assert!(!thread.come_from(0x110), "a site without a definition is not known");
    thread.learn(&mut sites, &mut tape, 0x110, located);
    thread.commit(&process, &mut tape, &Thread::plain(31, AT));
    let entries = tape.entries();
    assert!(matches!(entries[0], Entry::Thread { .. }), "{entries:?}");
    assert!(matches!(entries[3], Entry::Site(site) if site.number == 1));
    assert!(matches!(entries[4], Entry::Call(call) if call.site == 1));
    assert_eq!((entries.len(), tape.lost), (5, 1));
}

#[test]
fn nobody_gets_no_message() {
    let (process, comm, mut tape) = (Process::default(), reversed(), Tape::default());
    let mut thread = Thread::new(0, 1);
    sent(&mut thread, &process, &mut tape, &comm, -1, 8);
    let entries = tape.entries();
    assert!(
        matches!(entries.last(), Some(Entry::Call(call)) if call.flags == CallFlags::NONE && call.bytes == 0)
    );
}

#[test]
fn after_a_loss_numbers_and_definitions_come_anew() {
    let (process, comm, mut tape) = (Process::default(), reversed(), Tape::default());
    let mut thread = Thread::new(0, 1);
    sent(&mut thread, &process, &mut tape, &comm, 2, 8);
    tape.full = true;
    sent(&mut thread, &process, &mut tape, &comm, 2, 8);
    sent(&mut thread, &process, &mut tape, &comm, 2, 8);
    tape.full = false;
    tape.entries();
    sent(&mut thread, &process, &mut tape, &comm, 2, 8);
    sent(&mut thread, &process, &mut tape, &comm, 2, 8);
    let entries = tape.entries();
    assert!(matches!(entries[0], Entry::Thread { .. }));
    assert!(matches!(entries[1], Entry::Comm(_)));
    assert!(matches!(entries[2], Entry::Handle { .. }));
    assert!(matches!(entries[3], Entry::Sync(Sync { peer: 1, sent: 3, received: 0, .. })));
    assert_eq!(entries.len(), 6);
}

#[test]
fn a_completed_receive_is_a_part_of_the_completing_call() {
    let (process, comm, mut tape) = (Process::default(), reversed(), Tape::default());
    let mut thread = Thread::new(0, 1);
    let posted = Posted::new(comm.index, 3, true);
    let received = Received { source: 1, tag: 4, bytes: 5, cancelled: false };
    // The same slots in the same order, however many of them find their way into the ring at once.
    for free_slots in [0, 1, 2, 8] {
        tape.free_slots = free_slots;
        thread.completed(&process, &mut tape, &comm, Some(&posted), &received);
        thread.completed(
            &process,
            &mut tape,
            &comm,
            Some(&posted),
            &Received { cancelled: true, ..received },
        );
        let unrecorded = posted.and_recorded(false);
        thread.completed(&process, &mut tape, &comm, Some(&unrecorded), &received);
        assert_eq!(tape.slots.len(), 0, "nothing is seen before its call");
        thread.commit(&process, &mut tape, &Thread::plain(31, AT));
        let entries = tape.entries();
        assert!(matches!(entries.last(), Some(Entry::Call(_))));
        let flags: Vec<PartFlags> = entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Part(part) => Some(part.flags),
                _ => None,
            })
            .collect();
        assert_eq!(flags, [PartFlags::COMPLETED, PartFlags::CANCELLED, PartFlags::INLINE], "{free_slots}");
    }
}

#[test]
fn one_call_may_send_and_post_several() {
    let (process, comm, mut tape) = (Process::default(), reversed(), Tape::default());
    let mut thread = Thread::new(0, 1);
    thread.sent(&process, &mut tape, &comm, 2, 4, 8);
    thread.sent(&process, &mut tape, &comm, -1, 4, 8);
    thread.posted(&mut tape, &comm, None, -1, 3);
    thread.posted(&mut tape, &comm, Some(1), 6, 4);
    thread.commit(&process, &mut tape, &Thread::plain(96, AT));
    let parts: Vec<_> = tape
        .entries()
        .iter()
        .filter_map(|entry| match entry {
            Entry::Part(part) => Some((part.flags, part.peer, part.tag, part.post, part.bytes)),
            _ => None,
        })
        .collect();
    let posted = |peer, tag, post| (PartFlags::POSTED, peer, tag, post, 0);
    assert_eq!(parts, [(PartFlags::SENT, 1, 4, 0, 8), posted(PEER_ANY, -1, 3), posted(5, 6, 4)]);
    assert_eq!(comm.peer(2).map(Peer::numbers), Some((1, 0)));
}

#[test]
fn polls_come_before_the_call_that_ended_them() {
    let (process, comm, mut tape) = (Process::new(1_000_000), reversed(), Tape::default());
    let mut thread = Thread::new(0, 1);
    for _ in 0..5 {
        thread.failed_poll(&process, &mut tape, 34, AT);
    }
    sent(&mut thread, &process, &mut tape, &comm, 2, 8);
    let calls: Vec<(u16, u64)> = tape
        .entries()
        .iter()
        .filter_map(|entry| match entry {
            Entry::Call(call) => Some((call.function, call.bytes)),
            _ => None,
        })
        .collect();
    assert_eq!(calls, [(34, 5), (10, 8)]);
    tape.full = true;
    for _ in 0..7 {
        thread.failed_poll(&process, &mut tape, 34, AT);
    }
    sent(&mut thread, &process, &mut tape, &comm, 2, 8);
    assert_eq!(tape.lost, 8);
}
