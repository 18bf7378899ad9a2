//! The delay budget over all workers, each with the calls of its own ranks, window by window. The center says which window
//! is next; within one, workers hand each other what they need until nobody needs anything.
//!
//! ```text
//! center ─ look ──> all: what is due, once the input is in ──> center
//! center ─ settle ─> all: settle own calls, exchange paths and entries of collectives, report ──> center
//! center ─ end ────> all: what calls showed and add up to ──> center: criteria, sums, the next window's knowledge
//! ```

use crate::gate::{Gate, Question};
use crate::packet::{Command, Packet};
use crate::parcel::{CENTER, News, Window};
use crate::peers::{Peers, Stopped};
use mpiscope_diagnosis::{Budgeter, Knowledge, Overdue, Report, Shard};
use mpiscope_matching::Matched;
use mpiscope_model::Nanoseconds;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The calls of a worker's ranks, and at the center what all lead to.
pub(crate) enum Role {
    Center(Box<Budgeter>),
    Other(Box<Shard>),
}

impl Role {
    fn shard(&mut self) -> &mut Shard {
        match self {
            Role::Center(budgeter) => budgeter.shard_mut(),
            Role::Other(shard) => shard,
        }
    }
}

/// What is known until all of a window is in.
pub(crate) struct Settling {
    window_ns: u64,
    role: Role,
    peers: Peers,
    gate: Arc<Gate>,
    /// The next window to analyse.
    next: Window,
    /// By the window that was next when it was read: it comes before that one.
    pub(crate) news: BTreeMap<Window, Vec<News>>,
    pub(crate) matched: BTreeMap<Window, Vec<Matched>>,
    last_event: Option<Window>,
    complete: Window,
    /// The first window that may still get input; none when all is in.
    pub(crate) in_until: Option<Window>,
    /// What the center asked, until all input for it is in.
    look: Option<(Window, Option<Window>)>,
    /// The answers that the center still waits for, and what is due by those that came.
    answers: Option<(usize, Option<Window>, Nanoseconds)>,
    pub(crate) is_finished: bool,
}

impl Settling {
    pub(crate) fn new(role: Role, peers: Peers, gate: Arc<Gate>, window_ns: u64) -> Self {
        Self {
            window_ns,
            role,
            peers,
            gate,
            next: 0,
            news: BTreeMap::new(),
            matched: BTreeMap::new(),
            last_event: None,
            complete: 0,
            in_until: Some(0),
            look: None,
            answers: None,
            is_finished: false,
        }
    }

    /// Answers questions; returns whether there were any.
    pub(crate) fn answer(&mut self, questions: VecDeque<Question>) -> bool {
        let Role::Center(budgeter) = &mut self.role else { return false };
        let were_any = !questions.is_empty();
        questions.into_iter().for_each(|question| question(budgeter));
        were_any
    }

    /// Where time went, at the center, and the other workers.
    pub(crate) fn into_parts(self) -> (Option<Budgeter>, Peers) {
        match self.role {
            Role::Center(budgeter) => (Some(*budgeter), self.peers),
            Role::Other(_) => (None, self.peers),
        }
    }

    /// Goes on as far as the input allows, at most by one window. Returns whether it did.
    pub(crate) fn step(&mut self) -> Result<bool, Stopped> {
        if self.is_finished {
            return Ok(false);
        }
        if self.peers.is_center() { self.lead() } else { self.follow() }
    }

    fn take_news(&mut self, next: Window) {
        // Those that are not all in come later: what processes feed at the same place comes in any order.
        let is_in = |window: Window| self.in_until.is_none_or(|in_until| window < in_until);
        while let Some(first) = self.news.first_entry().filter(|of| *of.key() <= next && is_in(*of.key())) {
            let mut all = first.remove();
            // Where several processes feed the same rank, the center's has what came first.
            all.sort_by_key(|news| news.process);
            let shard = self.role.shard();
            for news in &all {
                news.places.iter().for_each(|(rank, node)| shard.place(*rank, *node));
                news.comms.iter().for_each(|comm| shard.comm(comm));
            }
            for news in all {
                shard.feed(&news.activities.0, &Matched::default(), &news.scheduling.0);
                shard.collect(&news.collected.0);
                self.last_event = self.last_event.max(news.last_event);
                self.complete = self.complete.max(news.complete);
            }
        }
    }

    /// The next window with any events of its ranks; none when nothing waits.
    fn due(&mut self) -> Option<Window> {
        let window_ns = self.window_ns;
        let shard = self.role.shard();
        let settled = shard.next_window_end_ns().map(|end_ns| end_ns / window_ns - 1);
        settled.into_iter().chain(self.matched.keys().next().copied()).min()
    }

    /// Whether all input before a window is in, or simply all.
    fn has_all_until(&self, until: Option<Window>) -> bool {
        match (self.in_until, until) {
            (None, _) => true,
            (Some(in_until), Some(until)) => in_until >= until,
            (Some(_), None) => false,
        }
    }

    /// What a worker does that is not the center.
    fn follow(&mut self) -> Result<bool, Stopped> {
        if let Some((next, _)) = self.look.filter(|(_, until)| self.has_all_until(*until)) {
            self.look = None;
            self.take_news(next);
            let due = self.due();
            let waited_for_ns = self.role.shard().waited_for_ns(Nanoseconds::MAX);
            self.peers.send(CENTER, Packet::Due(due, waited_for_ns));
            return Ok(true);
        }
        let command = self.peers.look(|_, packet| match packet {
            Packet::Command(command) => Ok(command),
            packet => Err(packet),
        });
        match command {
            Some(Command::Look { next, until }) => self.look = Some((next, until)),
            Some(Command::Skip(to)) => {
                self.next = to;
                self.role.shard().skip(to.saturating_mul(self.window_ns));
                self.gate.budgeted(self.next);
            }
            Some(Command::Settle(window, knowledge)) => {
                self.role.shard().adopt(&knowledge);
                let (until_ns, report) = self.settle(window)?;
                self.end_with_center(until_ns, report)?;
                self.gate.budgeted(self.next);
            }
            Some(Command::Finish) => {
                self.peers.send(CENTER, Packet::Paths(self.role.shard().thread_paths()));
                self.is_finished = true;
            }
            Some(Command::ListOverdue(_) | Command::Force(_) | Command::End(_)) | None => return Ok(false),
        }
        Ok(true)
    }

    /// Settles the calls of a window that can be, and reports.
    fn settle(&mut self, window: Window) -> Result<(Nanoseconds, Report), Stopped> {
        // No receiver is in two of them, and which receiver's messages come first does not matter.
        for matched in self.matched.remove(&window).unwrap_or_default() {
            self.role.shard().feed(&[], &matched, &[]);
        }
        self.next = window + 1;
        let until_ns = self.next.saturating_mul(self.window_ns);
        let queued = self.role.shard().queued();
        self.role.shard().begin(until_ns);
        self.exchange(until_ns)?;
        Ok((until_ns, self.role.shard().report(until_ns, queued)))
    }

    /// Hands over what others need, and goes on with what comes, until nobody needs anything.
    fn exchange(&mut self, until_ns: Nanoseconds) -> Result<(), Stopped> {
        if self.peers.count() == 1 {
            return Ok(());
        }
        loop {
            let pushes = self.role.shard().take_pushes();
            let Some(received) = self.peers.exchange(pushes)? else { return Ok(()) };
            received.iter().for_each(|pushes| self.role.shard().receive(pushes, until_ns));
        }
    }

    fn force(&mut self, all: &[Overdue], until_ns: Nanoseconds) -> Result<(), Stopped> {
        for overdue in all {
            self.role.shard().force(overdue, until_ns);
            self.exchange(until_ns)?;
        }
        Ok(())
    }

    /// Ends a window as the center says.
    fn end_with_center(&mut self, until_ns: Nanoseconds, mut report: Report) -> Result<(), Stopped> {
        self.peers.send(CENTER, Packet::Report(report));
        loop {
            match self.peers.wait_for_command()? {
                Command::ListOverdue(before_ns) => {
                    let overdue = self.role.shard().overdue(before_ns);
                    self.peers.send(CENTER, Packet::Overdue(overdue));
                }
                Command::Force(all) => {
                    self.force(&all, until_ns)?;
                    report = self.role.shard().report_again(&report, until_ns);
                    self.peers.send(CENTER, Packet::Report(report));
                }
                Command::End(end) => {
                    let shard = self.role.shard();
                    shard.end(&end);
                    let result = Box::new(shard.take_result());
                    self.peers.send(CENTER, Packet::ShardResult(result));
                    return Ok(());
                }
                Command::Look { .. } | Command::Skip(_) | Command::Settle(..) | Command::Finish => {}
            }
        }
    }

    /// What the center does: it finds out which window is next, and has all settle it.
    fn lead(&mut self) -> Result<bool, Stopped> {
        self.take_news(self.next);
        let until = self.in_until.map(|until| until.min(self.complete));
        if self.answers.is_none() {
            if until.is_some_and(|until| self.next >= until) {
                return Ok(false);
            }
            let due = self.due();
            self.peers.command(&Command::Look { next: self.next, until });
            self.answers = Some((self.peers.count() - 1, due, Nanoseconds::MAX));
            self.look = Some((self.next, until));
        }
        let Some((mut missing, mut due, mut waited_for_ns)) = self.answers.take() else { return Ok(false) };
        let answer = |_, packet| match packet {
            Packet::Due(due, waited_for_ns) => Ok((due, waited_for_ns)),
            packet => Err(packet),
        };
        while let Some((of_worker, waits_ns)) = self.peers.look(answer) {
            missing -= 1;
            due = due.into_iter().chain(of_worker).min();
            waited_for_ns = waited_for_ns.min(waits_ns);
        }
        if missing > 0 {
            self.answers = Some((missing, due, waited_for_ns));
            return Ok(false);
        }
        let looked = self.look.take().and_then(|(_, until)| until);
        self.go_on(looked, due, waited_for_ns)
    }

    /// All workers have all input before a window, or simply all of it, and said what is due.
    fn go_on(
        &mut self,
        until: Option<Window>,
        due: Option<Window>,
        waited_for_ns: Nanoseconds,
    ) -> Result<bool, Stopped> {
        // All is in: the windows of the last events, and of the last calls that wait, are complete too.
        let until = until.unwrap_or_else(|| {
            self.last_event.into_iter().chain(due).fold(self.complete, |until, at| until.max(at + 1))
        });
        if self.next >= until {
            return self.finish();
        }
        let news = self.news.keys().next().copied();
        let next = due.into_iter().chain(news).fold(until, Window::min);
        if next > self.next {
            self.next = next;
            self.peers.command(&Command::Skip(next));
            let Role::Center(budgeter) = &mut self.role else { return Ok(false) };
            let own_ns = budgeter.shard_mut().waited_for_ns(Nanoseconds::MAX);
            budgeter.skip_all(next.saturating_mul(self.window_ns), waited_for_ns.min(own_ns));
        } else {
            self.lead_window()?;
        }
        self.gate.budgeted(self.next);
        Ok(true)
    }

    fn knowledge(&self) -> Option<Knowledge> {
        if let Role::Center(budgeter) = &self.role { Some(budgeter.knowledge()) } else { None }
    }

    fn lead_window(&mut self) -> Result<(), Stopped> {
        let window = self.next;
        if self.peers.count() > 1
            && let Some(knowledge) = self.knowledge()
        {
            self.peers.command(&Command::Settle(window, Arc::new(knowledge)));
        }
        let (until_ns, mut own) = self.settle(window)?;
        let mut report = self.report_of_all(own)?;
        let too_late_ns = self.too_late_ns(until_ns, &report);
        while let Some(too_late_ns) = too_late_ns {
            let all = self.overdue(too_late_ns)?;
            if all.is_empty() {
                break;
            }
            self.peers.command(&Command::Force(Arc::clone(&all)));
            self.force(&all, until_ns)?;
            own = self.role.shard().report_again(&own, until_ns);
            report = self.report_of_all(own)?;
        }
        self.end(until_ns, &report)
    }

    fn too_late_ns(&self, until_ns: Nanoseconds, report: &Report) -> Option<Nanoseconds> {
        if let Role::Center(budgeter) = &self.role { budgeter.too_late_ns(until_ns, report) } else { None }
    }

    fn report_of_all(&mut self, own: Report) -> Result<Report, Stopped> {
        let reports = self.peers.wait_for_all(|_, packet| match packet {
            Packet::Report(report) => Ok(report),
            packet => Err(packet),
        })?;
        Ok(reports.iter().fold(own, Report::with))
    }

    /// Calls of all workers that waited too long, in their order.
    fn overdue(&mut self, before_ns: Nanoseconds) -> Result<Arc<[Overdue]>, Stopped> {
        self.peers.command(&Command::ListOverdue(before_ns));
        let mut all = self.role.shard().overdue(before_ns);
        let others = self.peers.wait_for_all(|_, packet| match packet {
            Packet::Overdue(overdue) => Ok(overdue),
            packet => Err(packet),
        })?;
        all.extend(others.into_iter().flatten());
        all.sort_unstable();
        Ok(all.into())
    }

    fn end(&mut self, until_ns: Nanoseconds, report: &Report) -> Result<(), Stopped> {
        let Role::Center(budgeter) = &mut self.role else { return Ok(()) };
        let end = budgeter.decide(until_ns, report);
        self.peers.command(&Command::End(end));
        budgeter.shard_mut().end(&end);
        let shares = self.peers.wait_for_all(|_, packet| match packet {
            Packet::ShardResult(share) => Ok(*share),
            packet => Err(packet),
        })?;
        budgeter.close(&end, report, shares);
        Ok(())
    }

    fn finish(&mut self) -> Result<bool, Stopped> {
        if self.in_until.is_some() {
            return Ok(false);
        }
        self.peers.command(&Command::Finish);
        let paths = self.peers.wait_for_all(|_, packet| match packet {
            Packet::Paths(paths) => Ok(paths),
            packet => Err(packet),
        })?;
        if let Role::Center(budgeter) = &mut self.role {
            paths.into_iter().for_each(|paths| budgeter.take_paths(paths));
        }
        self.is_finished = true;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sent::Rows;
    use mpiscope_diagnosis::BudgetOptions;
    use mpiscope_model::{Activity, CallId, Effect, Rank};

    /// Two calls a hundred years apart are two windows and two skips, whether they come together or not.
    #[test]
    fn steps_follow_calls_and_not_the_time_between_them() {
        let late_ns = 1 << 61;
        let options = BudgetOptions { window_ns: 100, ..BudgetOptions::default() };
        let call = |number, end_ns| Activity {
            rank: Rank(0),
            call: CallId::new(0, number),
            function: 1,
            start_ns: end_ns - 10,
            end_ns,
            since_ns: end_ns - 10,
            effect: Effect::Other,
            site: None,
            after_loss: false,
        };
        let last = late_ns / options.window_ns;
        let calls = vec![call(0, 50), call(1, late_ns)];
        let at_once = vec![(0, calls.clone())];
        let apart = vec![(0, vec![calls[0]]), (5, vec![calls[1]])];
        for fed in [at_once, apart] {
            let gate = Arc::new(Gate::new(options.window_ns, 10));
            let peers = Peers::all(1, &gate).remove(0);
            let role = Role::Center(Box::new(Budgeter::new(options)));
            let mut settling = Settling::new(role, peers, gate, options.window_ns);
            for (window, activities) in fed {
                let activities = Rows(activities);
                let news = News { activities, last_event: Some(last), complete: 5, ..News::default() };
                settling.news.entry(window).or_default().push(news);
            }
            settling.in_until = None;
            let steps = (0..100).take_while(|_| settling.step() == Ok(true)).count();
            // The last one finishes.
            assert!(steps <= 7 && settling.is_finished, "{steps} steps");
            assert_eq!(settling.next, last + 1);
            assert_eq!(settling.into_parts().0.unwrap().next_window_end_ns(), None);
        }
    }
}
