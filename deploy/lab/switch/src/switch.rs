//! The switch as a machine without a clock: frames in with their time, frames out when their time has come.

use crate::link::{Counters, Link, Settings};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

/// All links together hold no more than this.
const ALL_QUEUES_BYTES: usize = 256 << 20;

/// Every host's address begins with these; the number of its port follows.
const ADDRESS_BEGINS: [u8; 4] = [2, 0, 0x6c, 0x61];

const HEADER_BYTES: usize = 14;

/// A directed link, as the ports it leads from and to.
pub(crate) type Ends = (usize, usize);

/// A frame on its way. The order is that of leaving; the number decides between those of one moment.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OnItsWay {
    release_ns: u64,
    number: u64,
    ends: Ends,
    frame: Arc<[u8]>,
}

/// All links between this number of ports, which count from 0.
#[derive(Debug)]
pub(crate) struct Switch {
    ports: usize,
    links: Vec<Link>,
    on_their_way: BinaryHeap<Reverse<OnItsWay>>,
    held_bytes: usize,
    number: u64,
}

impl Switch {
    pub(crate) fn new(ports: usize, seed: u64) -> Self {
        // Each link draws its own lots: what it loses does not depend on what passes elsewhere.
        let links = (0..ports * ports).map(|index| Link::new(seed ^ ((index as u64 + 1) << 32))).collect();
        Self { ports, links, on_their_way: BinaryHeap::new(), held_bytes: 0, number: 0 }
    }

    pub(crate) fn ports(&self) -> usize {
        self.ports
    }

    fn link(&mut self, (from, to): Ends) -> &mut Link {
        &mut self.links[from * self.ports + to]
    }

    /// Replaces the settings of all links; links without settings are plain again.
    pub(crate) fn set(&mut self, settings: &BTreeMap<Ends, Settings>) {
        for from in 0..self.ports {
            for to in 0..self.ports {
                let ends = (from, to);
                self.link(ends).settings = settings.get(&ends).copied().unwrap_or_default();
            }
        }
    }

    /// What became of the frames of each link that had any.
    pub(crate) fn counters(&self) -> impl Iterator<Item = (Ends, Counters)> {
        let ends = |index| (index / self.ports, index % self.ports);
        let links = self.links.iter().enumerate().map(move |(index, link)| (ends(index), link.counters));
        links.filter(|(_, counters)| counters.frames > 0)
    }

    /// A host sent a frame.
    pub(crate) fn take(&mut self, now_ns: u64, from: usize, frame: &[u8]) {
        if frame.len() < HEADER_BYTES {
            return;
        }
        // The first bit of an address that is sent says that it is meant for many.
        if frame[0] & 1 == 1 {
            let frame: Arc<[u8]> = frame.into();
            for to in (0..self.ports).filter(|to| *to != from) {
                self.send(now_ns, (from, to), &frame);
            }
        } else if let Some(to) = self.port_of(frame)
            && to != from
        {
            self.send(now_ns, (from, to), &frame.into());
        }
    }

    /// Addresses are given by the lab and hold the port's number, from 1: there is nothing to learn.
    fn port_of(&self, frame: &[u8]) -> Option<usize> {
        if frame[..4] != ADDRESS_BEGINS {
            return None;
        }
        let port = usize::from(u16::from_be_bytes([frame[4], frame[5]])).checked_sub(1)?;
        (port < self.ports).then_some(port)
    }

    fn send(&mut self, now_ns: u64, ends: Ends, frame: &Arc<[u8]>) {
        if self.held_bytes + frame.len() > ALL_QUEUES_BYTES {
            let counters = &mut self.link(ends).counters;
            counters.frames += 1;
            counters.overflowed += 1;
            return;
        }
        if let Some(release_ns) = self.link(ends).release_ns(now_ns, frame.len()) {
            self.held_bytes += frame.len();
            self.number += 1;
            let frame = Arc::clone(frame);
            self.on_their_way.push(Reverse(OnItsWay { release_ns, number: self.number, ends, frame }));
        }
    }

    /// When the next frame leaves.
    pub(crate) fn next_release_ns(&self) -> Option<u64> {
        self.on_their_way.peek().map(|Reverse(next)| next.release_ns)
    }

    /// A frame whose time has come, in the order of their times.
    pub(crate) fn due(&mut self, now_ns: u64) -> Option<(Ends, Arc<[u8]>)> {
        if self.next_release_ns()? > now_ns {
            return None;
        }
        let Reverse(OnItsWay { ends, frame, .. }) = self.on_their_way.pop()?;
        self.held_bytes -= frame.len();
        self.link(ends).released(frame.len());
        Some((ends, frame))
    }

    /// The host that a frame was for did not take it.
    pub(crate) fn refused(&mut self, ends: Ends) {
        self.link(ends).counters.refused += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(to: u16, label: u8) -> Vec<u8> {
        let mut frame = vec![2, 0, 0x6c, 0x61];
        frame.extend(to.to_be_bytes());
        frame.extend([0; 8]);
        frame.push(label);
        frame
    }

    fn all_due(switch: &mut Switch, now_ns: u64) -> Vec<(Ends, u8)> {
        let next = || switch.due(now_ns).map(|(ends, frame)| (ends, frame[frame.len() - 1]));
        std::iter::from_fn(next).collect()
    }

    fn delayed(delay_ns: u64) -> Settings {
        Settings { delay_ns, ..Default::default() }
    }

    #[test]
    fn a_frame_goes_to_the_port_of_its_address_and_to_no_other() {
        let mut switch = Switch::new(3, 1);
        switch.take(0, 0, &frame(2, 7));
        assert_eq!(all_due(&mut switch, 0), [((0, 1), 7)]);
        // To oneself, to a port that is not there, to a foreign address, too short.
        switch.take(0, 0, &frame(1, 7));
        switch.take(0, 0, &frame(4, 7));
        switch.take(0, 0, &frame(0, 7));
        switch.take(0, 0, &[4; 20]);
        switch.take(0, 0, &[2; 13]);
        assert_eq!(all_due(&mut switch, 0), []);
    }

    #[test]
    fn what_is_meant_for_all_goes_to_all_others() {
        let mut switch = Switch::new(3, 1);
        switch.take(0, 1, &[0xff; 15]);
        assert_eq!(all_due(&mut switch, 0), [((1, 0), 0xff), ((1, 2), 0xff)]);
    }

    #[test]
    fn frames_leave_in_the_order_of_their_times_and_a_link_keeps_its_own() {
        let mut switch = Switch::new(3, 1);
        switch.set(&BTreeMap::from([((0, 1), delayed(100)), ((0, 2), delayed(10))]));
        for label in 0..3 {
            switch.take(u64::from(label), 0, &frame(2, label));
            switch.take(u64::from(label), 0, &frame(3, 10 + label));
        }
        assert_eq!(switch.next_release_ns(), Some(10));
        assert_eq!(all_due(&mut switch, 12), [((0, 2), 10), ((0, 2), 11), ((0, 2), 12)]);
        assert_eq!(all_due(&mut switch, 99), []);
        assert_eq!(all_due(&mut switch, 200), [((0, 1), 0), ((0, 1), 1), ((0, 1), 2)]);
        assert_eq!(switch.next_release_ns(), None);
    }

    #[test]
    fn no_jitter_reorders_a_link() {
        let mut switch = Switch::new(2, 3);
        let settings = Settings { delay_ns: 50, jitter_ns: 50, ..Default::default() };
        switch.set(&BTreeMap::from([((0, 1), settings)]));
        (0..200).for_each(|label| switch.take(u64::from(label), 0, &frame(2, label)));
        let labels: Vec<u8> = all_due(&mut switch, 10_000).into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, (0..200).collect::<Vec<u8>>());
    }

    #[test]
    fn one_direction_is_set_alone_and_what_is_not_named_is_plain_again() {
        let mut switch = Switch::new(2, 1);
        switch.set(&BTreeMap::from([((0, 1), delayed(100))]));
        switch.take(0, 0, &frame(2, 1));
        switch.take(0, 1, &frame(1, 2));
        assert_eq!(all_due(&mut switch, 0), [((1, 0), 2)]);
        switch.set(&BTreeMap::new());
        switch.take(200, 0, &frame(2, 3));
        assert_eq!(all_due(&mut switch, 200), [((0, 1), 1), ((0, 1), 3)]);
    }

    #[test]
    fn counters_are_those_of_links_that_were_used() {
        let mut switch = Switch::new(2, 1);
        switch.set(&BTreeMap::from([((0, 1), Settings { cut: true, ..Default::default() })]));
        switch.take(0, 0, &frame(2, 1));
        switch.take(0, 1, &frame(1, 2));
        all_due(&mut switch, 0);
        switch.refused((1, 0));
        let counters: BTreeMap<Ends, Counters> = switch.counters().collect();
        let cut = Counters { frames: 1, cut: 1, ..Default::default() };
        let through =
            Counters { frames: 1, forwarded: 1, forwarded_bytes: 15, refused: 1, ..Default::default() };
        assert_eq!(counters, BTreeMap::from([((0, 1), cut), ((1, 0), through)]));
    }
}
