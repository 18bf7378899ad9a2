//! The other readers, as one of them sees them: events go to those whose ranks received what they tell of.

use super::packets::{EVENTS, events, read_packet, write_events};
use anyhow::{Result, ensure};
use crossbeam_channel::{Receiver, Sender, unbounded};
use mpiscope_model::Event;
use std::io::{BufReader, BufWriter, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

/// The reader at this place is gone.
#[derive(Debug)]
pub(crate) struct PeerLost(pub(crate) usize);

struct Peer {
    to: BufWriter<UnixStream>,
    from: Receiver<Vec<Event>>,
}

impl Drop for Peer {
    /// The thread that hears it has the stream, too.
    fn drop(&mut self) {
        let _ = self.to.get_ref().shutdown(Shutdown::Both);
    }
}

pub(crate) struct Peers {
    /// By their places; none at its own.
    peers: Vec<Option<Peer>>,
}

impl Peers {
    /// On the streams to each of them by its place, none at its own.
    ///
    /// # Errors
    /// When the system has no thread or no file left.
    pub(crate) fn begin(streams: Vec<Option<UnixStream>>) -> Result<Self> {
        let own_places = streams.iter().filter(|stream| stream.is_none()).count();
        ensure!(own_places == 1, "a reader with {own_places} places");
        let begin = |stream: UnixStream| {
            // Whoever sends is never held up by somebody who sends, too.
            let (tell, from) = unbounded();
            let heard = stream.try_clone()?;
            std::thread::Builder::new().name("from-peer".into()).spawn(move || hear(heard, &tell))?;
            Ok(Peer { to: BufWriter::new(stream), from })
        };
        let peers: Result<Vec<Option<Peer>>> =
            streams.into_iter().map(|stream| stream.map(begin).transpose()).collect();
        Ok(Self { peers: peers? })
    }

    /// How many readers there are.
    pub(crate) fn count(&self) -> usize {
        self.peers.len()
    }

    /// Gives each the events of a batch that it has to know of. Returns the own ones, and what the others give.
    pub(crate) fn exchange(&mut self, of_each: Vec<Vec<Event>>) -> Result<Vec<Event>, PeerLost> {
        let mut own = Vec::new();
        for (place, (peer, events)) in self.peers.iter_mut().zip(of_each).enumerate() {
            match peer {
                Some(peer) => {
                    let sent = write_events(&mut peer.to, events).and_then(|()| peer.to.flush());
                    sent.map_err(|_| PeerLost(place))?;
                }
                None => own = events,
            }
        }
        for (place, peer) in self.peers.iter().enumerate() {
            if let Some(peer) = peer {
                own.append(&mut peer.from.recv().map_err(|_| PeerLost(place))?);
            }
        }
        Ok(own)
    }
}

/// Hears a reader to its end.
fn hear(stream: UnixStream, tell: &Sender<Vec<Event>>) {
    let mut from = BufReader::new(stream);
    while let Ok(Some((EVENTS, bytes))) = read_packet(&mut from)
        && let Some(events) = events(&bytes)
        && tell.send(events).is_ok()
    {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::Rank;

    #[test]
    fn each_gets_what_all_give_it_and_a_loss_is_noticed() {
        let pairs = [(); 3].map(|()| UnixStream::pair().unwrap());
        let [(a, b), (c, d), (e, f)] = pairs;
        let streams =
            [vec![None, Some(a), Some(c)], vec![Some(b), None, Some(e)], vec![Some(d), Some(f), None]];
        let mut threads = Vec::new();
        for (own, streams) in streams.into_iter().enumerate() {
            threads.push(std::thread::spawn(move || {
                let mut peers = Peers::begin(streams).unwrap();
                let of = |from: usize, to: usize| {
                    vec![Event::Lost { rank: Rank((10 * from + to) as u32) }; 20_000]
                };
                for _ in 0..3 {
                    let mut got = peers.exchange((0..3).map(|to| of(own, to)).collect()).unwrap();
                    let mut expected: Vec<Event> = (0..3).flat_map(|from| of(from, own)).collect();
                    got.sort_by_key(Event::rank);
                    expected.sort_by_key(Event::rank);
                    assert!(got == expected);
                }
                if own == 2 {
                    return;
                }
                let lost = loop {
                    if let Err(PeerLost(lost)) = peers.exchange(vec![Vec::new(); 3]) {
                        break lost;
                    }
                };
                // Whoever notices it first ends, too.
                assert!(lost != own);
            }));
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}
