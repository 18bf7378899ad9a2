//! What was added to the windows of the page since it was last told.

use mpiscope_feed::{TimelineIncrement, WindowIncrement};
use mpiscope_model::{Call, Function, Message};
use rustc_hash::FxHashMap;

pub(crate) struct Increments {
    window_ns: u64,
    windows: FxHashMap<u64, WindowIncrement>,
    timeline: FxHashMap<(u64, Function), u64>,
}

impl Increments {
    pub(crate) fn new(window_ns: u64) -> Self {
        Self { window_ns: window_ns.max(1), windows: FxHashMap::default(), timeline: FxHashMap::default() }
    }

    fn start_of(&self, time_ns: u64) -> u64 {
        time_ns / self.window_ns * self.window_ns
    }

    fn window(&mut self, start_ns: u64) -> &mut WindowIncrement {
        self.windows.entry(start_ns).or_insert(WindowIncrement { start_ns, ..WindowIncrement::default() })
    }

    /// Calls count where they began, messages where they arrived.
    pub(crate) fn add(&mut self, calls: &[Call], messages: &[Message]) {
        // One after another they are mostly of the same window and few functions.
        let mut same: Vec<(u64, Function, u64)> = Vec::new();
        for call in calls {
            let start_ns = self.start_of(call.start_ns);
            let counted = |(start, function, _): &(u64, Function, u64)| {
                (*start, *function) == (start_ns, call.function)
            };
            match same.iter().position(counted) {
                Some(at) => same[at].2 += 1,
                None if same.len() < 16 => same.push((start_ns, call.function, 1)),
                None => self.count(std::mem::replace(&mut same[0], (start_ns, call.function, 1))),
            }
        }
        same.into_iter().for_each(|counted| self.count(counted));
        for message in messages {
            let start_ns = self.start_of(message.recv_ns);
            let window = self.window(start_ns);
            window.messages += 1;
            window.bytes += message.bytes;
        }
    }

    fn count(&mut self, (start_ns, function, calls): (u64, Function, u64)) {
        self.window(start_ns).calls += calls;
        *self.timeline.entry((start_ns, function)).or_default() += calls;
    }

    /// What was added since this was last asked.
    pub(crate) fn take(&mut self) -> (Vec<WindowIncrement>, Vec<TimelineIncrement>) {
        let timeline = self
            .timeline
            .drain()
            .map(|((start_ns, function), calls)| TimelineIncrement { start_ns, function, calls })
            .collect();
        (self.windows.drain().map(|(_, window)| window).collect(), timeline)
    }
}
