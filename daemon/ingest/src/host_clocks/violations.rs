//! Messages that end before they begin.

/// Counts them, by whatever clocks the times are that it is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Violations {
    /// How many there were.
    pub count: u64,
    /// By how much the worst of them ended too early.
    pub greatest_ns: u64,
}

impl Violations {
    /// A message between two nodes: when its send began, and when the call that completed its receive ended.
    pub fn see(&mut self, send_ns: u64, recv_ns: u64) {
        if recv_ns < send_ns {
            self.count += 1;
            self.greatest_ns = self.greatest_ns.max(send_ns - recv_ns);
        }
    }
}
