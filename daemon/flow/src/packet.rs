//! What workers tell each other apart from the dataflow.

use crate::parcel::Window;
use crate::worker_figures::WorkerFigures;
use mpiscope_diagnosis::{Knowledge, Overdue, Pushes, Report, ShardResult, ThreadPath, WindowEnd};
use mpiscope_model::{Nanoseconds, numbers};
use std::sync::Arc;

/// What goes from worker to worker. Commands come from the center, and all follow them in the same order.
pub(crate) enum Packet {
    /// A command.
    Command(Command),
    /// To the center: the first window that something is due in, and before when no call waits.
    Due(Option<Window>, Nanoseconds),
    /// To the center: how far a worker is in a window.
    Report(Report),
    /// To the center: calls that waited too long.
    Overdue(Vec<Overdue>),
    /// To the center: what the window led to.
    ShardResult(Box<ShardResult>),
    /// To the center: where threads are when there is no more input.
    Paths(Vec<ThreadPath>),
    /// To each other worker: what it needs; none when it needs nothing. A turn is over when nobody needs anything.
    Turn(u64, Option<Pushes>, bool),
    /// To the center: what a worker counted, the last that it says.
    Figures(Box<WorkerFigures>),
    /// To each other process, the last of one that fails: which process is gone, if it is that.
    Failed(Option<usize>),
}

numbers! {
    enum Packet {
        Command(command) = 0,
        Due(window, waited_for_ns) = 1,
        Report(report) = 2,
        Overdue(calls) = 3,
        ShardResult(result) = 4,
        Paths(paths) = 5,
        Turn(number, pushes, moves) = 6,
        Figures(figures) = 7,
        Failed(process) = 8,
    }
}

/// What the center has all do.
#[derive(Clone)]
pub(crate) enum Command {
    /// Say what is due, once all input before a window is in, or all input. Everything before the first window is settled.
    Look { next: Window, until: Option<Window> },
    /// Nothing happens before this window.
    Skip(Window),
    /// Settle this window.
    Settle(Window, Arc<Knowledge>),
    /// Say which calls that ended before this wait.
    ListOverdue(Nanoseconds),
    /// Let these go on, one after the other.
    Force(Arc<[Overdue]>),
    /// The window has ended.
    End(WindowEnd),
    /// There is no more input, and all is settled.
    Finish,
}

numbers! {
    enum Command {
        Look { next, until } = 0,
        Skip(to) = 1,
        Settle(window, knowledge) = 2,
        ListOverdue(before_ns) = 3,
        Force(calls) = 4,
        End(end) = 5,
        Finish = 6,
    }
}
