//! The queue between agent and recorder, bounded in bytes: what a pass over the rings found is one item.

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};
use mpiscope_wire::{Flight, Message};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// What may wait for the recorder: some twenty million calls, packed. Beyond it the agent waits, and the rings fill.
const MOST_BYTES: usize = 128 << 20;
/// Small passes count too: some eight seconds of them.
const MOST_PASSES: usize = 1 << 14;

/// What a pass found.
#[derive(Debug, Default)]
pub(crate) struct Item {
    pub(crate) messages: Vec<Message>,
    /// What went wrong, in sentences.
    pub(crate) faults: Vec<String>,
    /// What those who watch should know.
    pub(crate) notices: Vec<String>,
    /// The calls in flight, when it was time to look.
    pub(crate) in_flight: Option<Vec<(u32, Flight)>>,
}

pub(crate) struct Sending {
    passes: Sender<Item>,
    /// Who takes them. It sleeps when there is none, instead of looking for a while as the channel would: the job may need
    /// the processor.
    receiver: Thread,
    waiting_bytes: Arc<AtomicUsize>,
}

#[derive(Clone)]
pub(crate) struct Receiving {
    passes: Receiver<Item>,
    waiting_bytes: Arc<AtomicUsize>,
}

/// A queue to the thread that makes it.
pub(crate) fn queue() -> (Sending, Receiving) {
    let (send, receive) = bounded(MOST_PASSES);
    let waiting_bytes = Arc::new(AtomicUsize::new(0));
    (
        Sending { passes: send, receiver: std::thread::current(), waiting_bytes: Arc::clone(&waiting_bytes) },
        Receiving { passes: receive, waiting_bytes },
    )
}

fn weight(item: &Item) -> usize {
    let messages: usize =
        item.messages.iter().map(|message| size_of::<Message>() + message.slot_bytes()).sum();
    let in_flight = item.in_flight.as_ref().map_or(0, Vec::len);
    messages + in_flight * size_of::<(u32, Flight)>()
}

impl Sending {
    /// Hands on what a pass found, waiting while too much waits already.
    pub(crate) fn send(&self, item: Item) {
        let bytes = weight(&item);
        // An item that alone exceeds the bound goes when nothing else waits.
        while self.waiting_bytes.load(Ordering::Acquire) > MOST_BYTES.saturating_sub(bytes)
            && !self.is_empty()
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.waiting_bytes.fetch_add(bytes, Ordering::AcqRel);
        // Without a recorder there is nobody to hand on to; the log still has it.
        let _ = self.passes.send(item);
        self.receiver.unpark();
    }

    /// Whether the recorder is so far behind that what can wait should.
    pub(crate) fn is_half_full(&self) -> bool {
        self.waiting_bytes.load(Ordering::Acquire) > MOST_BYTES / 2
    }

    fn is_empty(&self) -> bool {
        self.waiting_bytes.load(Ordering::Acquire) == 0
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        // The end is something that the receiver has to see.
        drop(std::mem::replace(&mut self.passes, bounded(0).0));
        self.receiver.unpark();
    }
}

impl Receiving {
    /// An item that is there.
    pub(crate) fn try_receive(&self) -> Option<Item> {
        let item = self.passes.try_recv().ok()?;
        self.waiting_bytes.fetch_sub(weight(&item), Ordering::AcqRel);
        Some(item)
    }

    /// The next item. Nobody waits for it once something else is due; whoever brings that wakes this thread.
    pub(crate) fn receive(
        &self,
        patience: Duration,
        is_else_due: &dyn Fn() -> bool,
    ) -> Result<Item, RecvTimeoutError> {
        let begun = Instant::now();
        loop {
            match self.passes.try_recv() {
                Ok(item) => {
                    self.waiting_bytes.fetch_sub(weight(&item), Ordering::AcqRel);
                    return Ok(item);
                }
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
                Err(TryRecvError::Empty) => {}
            }
            if is_else_due() {
                return Err(RecvTimeoutError::Timeout);
            }
            let left = patience.checked_sub(begun.elapsed()).ok_or(RecvTimeoutError::Timeout)?;
            std::thread::park_timeout(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_wire::{Asked, Slots};

    #[test]
    fn one_that_waits_is_woken_by_an_item_and_by_the_end_and_waits_no_longer_than_it_wants() {
        let (send, receive) = queue();
        let short = Duration::from_millis(1);
        assert_eq!(receive.receive(short, &|| false).unwrap_err(), RecvTimeoutError::Timeout);
        let sender = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            send.send(Item::default());
            std::thread::sleep(Duration::from_millis(20));
        });
        const LONG: Duration = Duration::from_secs(600);
        assert_eq!(receive.receive(LONG, &|| false).unwrap().messages, []);
        assert_eq!(receive.receive(LONG, &|| false).unwrap_err(), RecvTimeoutError::Disconnected);
        sender.join().unwrap();
        // The end is heard before anything else.
        assert_eq!(receive.receive(LONG, &|| true).unwrap_err(), RecvTimeoutError::Disconnected);
        let (_send, receive) = queue();
        assert_eq!(receive.receive(LONG, &|| true).unwrap_err(), RecvTimeoutError::Timeout);
    }

    #[test]
    fn what_waits_is_bounded_in_bytes_and_nothing_is_lost() {
        let (send, receive) = queue();
        let item = || {
            let slots = vec![[0; 4]; 1 << 19];
            let packed = Message::of_slots(0, 0, 0, &slots);
            let weighs =
                |message: &Message| weight(&Item { messages: vec![message.clone()], ..Item::default() });
            assert!(weighs(&packed) > 1 << 19, "a byte a slot");
            let messages = vec![Message::Slots(Slots { process: 0, ring: 0, from: 0, slots }), packed];
            let call = Flight {
                process: 0,
                rank: 0,
                thread: 0,
                function: 1,
                site: 0,
                since_ticks: 0,
                asked: Asked::Nothing,
            };
            let in_flight = Some(vec![(0, call); 1 << 10]);
            Item { messages, in_flight, ..Item::default() }
        };
        let sender = std::thread::spawn(move || (0..20).for_each(|_| send.send(item())));
        let mut received = 0;
        while let Ok(item) = receive.receive(Duration::from_secs(10), &|| false) {
            assert!(receive.waiting_bytes.load(Ordering::Acquire) <= MOST_BYTES);
            received += item.messages.len();
        }
        sender.join().unwrap();
        assert_eq!((received, receive.waiting_bytes.load(Ordering::Acquire)), (40, 0));
    }
}
