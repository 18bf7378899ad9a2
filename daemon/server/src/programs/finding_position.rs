//! Where a subscription to findings is, and which come next.

use super::filter::Filter;
use super::findings::place;
use mpiscope_feed::Library;
use mpiscope_model::Nanoseconds;
use mpiscope_protocol::{Batch, Direction, Finding};
use std::collections::{BTreeMap, BTreeSet};

/// Where a subscription to findings is in the run.
#[derive(Debug)]
pub(super) struct FindingPosition {
    id: u32,
    most: usize,
    at_ns: Nanoseconds,
    /// Of those that begin at `at_ns` (backward: right before it), the last that was sent.
    within: Option<String>,
    /// Where it began: what lies before is not the subscription's.
    begin_ns: Nanoseconds,
    /// What was sent of what lies before `at_ns`.
    sent: BTreeMap<String, Finding>,
    /// What is known when it begins counts as sent.
    is_new_only: bool,
}

impl FindingPosition {
    /// Where it begins; or of what is new or changes from now on.
    pub(super) fn new(id: u32, most: usize, at_ns: Nanoseconds, is_new_only: bool) -> Self {
        let begin_ns = if is_new_only { 0 } else { at_ns };
        Self { id, most, at_ns, within: None, begin_ns, sent: BTreeMap::new(), is_new_only }
    }

    pub(super) fn at_ns(&self) -> Nanoseconds {
        self.at_ns
    }

    pub(super) fn jump(&mut self, to_ns: Nanoseconds) {
        (self.at_ns, self.begin_ns, self.within) = (to_ns, to_ns, None);
        self.sent.clear();
    }

    /// The next findings on the way to a time, if there are any.
    pub(super) fn next(
        &mut self,
        (all, filter, library): (&[Finding], &Filter, &Library),
        direction: Direction,
        to_ns: Nanoseconds,
    ) -> Option<Batch> {
        let ranks = filter.ranks(library);
        let kept = all.iter().filter(|of| filter.keeps_finding(of, &ranks));
        if std::mem::take(&mut self.is_new_only) {
            let known = kept.clone().filter(|of| place(of).0 < self.at_ns);
            self.sent.extend(known.map(|of| (of.finding.clone(), of.clone())));
        }
        let (from_ns, mut late, is_forward) = (self.at_ns, Vec::new(), direction == Direction::Forward);
        if is_forward {
            late = self.changed(&kept.clone().collect::<Vec<_>>());
        }
        if !late.is_empty() {
            return Some(self.batch(from_ns, late.len() as u32, late));
        }
        let mut rows: Vec<&Finding> = kept.filter(|of| self.is_ahead(of, is_forward, to_ns)).collect();
        if !is_forward {
            rows.reverse();
        }
        let rest = rows.split_off(rows.len().min(self.most));
        let rows: Vec<Finding> = rows.into_iter().cloned().collect();
        match (rows.last(), rest.is_empty()) {
            (Some(last), false) => {
                let (begin_ns, name) = place(last);
                self.at_ns = if is_forward { begin_ns } else { begin_ns + 1 };
                self.within = Some(name.to_owned());
            }
            _ => (self.at_ns, self.within) = (to_ns, None),
        }
        self.note_sent(&rows, is_forward);
        self.begin_ns = self.begin_ns.min(self.at_ns);
        (!rows.is_empty()).then(|| self.batch(from_ns, 0, rows))
    }

    fn note_sent(&mut self, rows: &[Finding], is_forward: bool) {
        for row in rows {
            if is_forward {
                self.sent.insert(row.finding.clone(), row.clone());
            } else {
                // It comes again when the way leads forward.
                self.sent.remove(&row.finding);
            }
        }
    }

    /// Whether a finding lies on the way to a time.
    fn is_ahead(&self, of: &Finding, is_forward: bool, to_ns: Nanoseconds) -> bool {
        let (begin_ns, name) = place(of);
        let within = self.within.as_deref();
        if is_forward {
            let is_sent = begin_ns == self.at_ns && within.is_some_and(|last| name <= last);
            (self.at_ns..to_ns).contains(&begin_ns) && !is_sent
        } else {
            let is_sent = begin_ns + 1 == self.at_ns && within.is_some_and(|last| name >= last);
            (to_ns..self.at_ns).contains(&begin_ns) && !is_sent
        }
    }

    /// What lies behind and is new, is not what was sent, or is not held any more.
    fn changed(&mut self, kept: &[&Finding]) -> Vec<Finding> {
        let is_behind = |of: &Finding, within: Option<&str>| {
            let (begin_ns, name) = place(of);
            begin_ns >= self.begin_ns && begin_ns < self.at_ns
                || begin_ns == self.at_ns && within.is_some_and(|last| name <= last)
        };
        let within = self.within.as_deref();
        let new = kept.iter().filter(|of| is_behind(of, within) && self.sent.get(&of.finding) != Some(**of));
        let mut changed: Vec<Finding> = new.take(self.most).map(|of| (*of).clone()).collect();
        let names: BTreeSet<&str> = kept.iter().map(|of| of.finding.as_str()).collect();
        let gone = self.sent.values().filter(|sent| !names.contains(sent.finding.as_str()));
        let gone = gone.take(self.most - changed.len());
        changed.extend(gone.map(|sent| Finding { is_withdrawn: true, ..sent.clone() }));
        for of in &changed {
            if of.is_withdrawn {
                self.sent.remove(&of.finding);
            } else {
                self.sent.insert(of.finding.clone(), of.clone());
            }
        }
        changed
    }

    /// That no more findings lie between a time and where it is.
    pub(super) fn none_left(&self, from_ns: Nanoseconds) -> Batch {
        self.batch(from_ns, 0, Vec::new())
    }

    fn batch(&self, from_ns: Nanoseconds, late: u32, rows: Vec<Finding>) -> Batch {
        let (from_ns, to_ns) = (from_ns as f64, self.at_ns as f64);
        Batch { id: self.id, from_ns, to_ns, late, findings: Some(rows), ..Batch::default() }
    }
}
