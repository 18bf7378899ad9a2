//! The moments of a run that another run may have too: turns of its main loop, and phases that the program names. Both are
//! those of the lowest rank.

use crate::align::site_name::SiteName;
use mpiscope_feed::{CallSource, PhaseMark, phase_spans};
use mpiscope_matching::{LoopFinder, LoopMarker};
use mpiscope_model::{Call, Comm, CommInfo, CommKind, Nanoseconds, Rank, SiteInfo};
use mpiscope_wire::id;
use std::collections::BTreeMap;
use std::ops::Range;

/// Beginnings and ends of phases that are kept; those beyond are no anchors.
const MOST_MARKS: usize = 1 << 20;

/// The anchors of a run.
#[derive(Debug, Default)]
pub struct RunAnchors {
    finder: LoopFinder,
    names: BTreeMap<LoopMarker, SiteName>,
    /// In the order of when they begin; the end is [`Nanoseconds::MAX`] where it was not recorded.
    pub(super) phases: Vec<PhaseSpan>,
    /// From the end of `MPI_Init` to the beginning of `MPI_Finalize`: no loop goes on before or after.
    range_ns: Range<Nanoseconds>,
}

/// One time that the program was in a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PhaseSpan {
    pub(super) name: String,
    /// From 1 on for each name.
    pub(super) number: u32,
    pub(super) span_ns: Range<Nanoseconds>,
}

impl RunAnchors {
    /// Reads the calls of a run that ended at this time.
    ///
    /// # Errors
    /// One sentence when they cannot be read.
    pub fn read(
        calls: &dyn CallSource,
        sites: &[SiteInfo],
        communicators: &[CommInfo],
        end_ns: Nanoseconds,
    ) -> Result<Self, String> {
        let mut reader = AnchorReader::default();
        calls.visit(&(0..Nanoseconds::MAX), &mut |call| reader.add(call))?;
        Ok(reader.finish(sites, communicators, end_ns))
    }

    /// The call that marks the turns of the main loop, if there is one.
    pub(super) fn marker(&self) -> Option<&SiteName> {
        let found = self.finder.find(&self.range_ns)?;
        self.names.get(&found.marker)
    }

    /// When the calls from a call site began, in order.
    pub(super) fn starts(&self, site: &SiteName) -> Vec<Nanoseconds> {
        self.finder.starts(|marker| self.names.get(&marker) == Some(site))
    }

    /// The call site of another run in this run: the same, or the next in order where lines moved.
    pub(super) fn counterpart(&self, site: &SiteName, other: &Self) -> Option<SiteName> {
        let has = |run: &Self, site: &SiteName| run.names.values().any(|own| own == site);
        if has(self, site) {
            return Some(site.clone());
        }
        let moved = |run: &Self, elsewhere: &Self| {
            let all = run.names.values().filter(|own| own.without_line() == site.without_line());
            let mut moved: Vec<SiteName> = all.filter(|own| !has(elsewhere, own)).cloned().collect();
            moved.sort();
            moved.dedup();
            moved
        };
        let (mut own, others) = (moved(self, other), moved(other, self));
        let position = others.iter().position(|other| other == site)?;
        (own.len() == others.len()).then(|| own.swap_remove(position))
    }
}

/// Collects what the lowest rank called.
#[derive(Debug, Default)]
struct AnchorReader {
    rank: Option<Rank>,
    finder: LoopFinder,
    marks: BTreeMap<Comm, Vec<PhaseMark>>,
    mark_count: usize,
    initialized_ns: Nanoseconds,
    finalizes_ns: Option<Nanoseconds>,
}

impl AnchorReader {
    fn add(&mut self, call: &Call) {
        match self.rank {
            Some(rank) if rank < call.rank => return,
            Some(rank) if rank == call.rank => {}
            _ => *self = Self { rank: Some(call.rank), ..Self::default() },
        }
        match call.function {
            id::INIT | id::INIT_THREAD => self.initialized_ns = call.end_ns,
            id::FINALIZE => self.finalizes_ns = Some(call.start_ns),
            id::PCONTROL => self.mark(call),
            _ => self.finder.add(call),
        }
    }

    fn mark(&mut self, call: &Call) {
        let level = call.tag.filter(|level| *level != 0);
        if let (Some(level), Some(phase)) = (level, call.comm)
            && self.mark_count < MOST_MARKS
        {
            self.mark_count += 1;
            self.marks.entry(phase).or_default().push(PhaseMark {
                start_ns: call.start_ns,
                end_ns: call.end_ns,
                is_begin: level > 0,
            });
        }
    }

    fn finish(self, sites: &[SiteInfo], communicators: &[CommInfo], end_ns: Nanoseconds) -> RunAnchors {
        let name = |(function, site): LoopMarker| match site.and_then(|site| sites.get(site.index())) {
            Some(site) => SiteName::new(Some(function), site),
            None => SiteName { calls: Some(function), ..SiteName::default() },
        };
        let names = self.finder.markers().map(|marker| (marker, name(marker))).collect();
        let mut spans: BTreeMap<&str, Vec<Range<Nanoseconds>>> = BTreeMap::new();
        for (phase, marks) in self.marks {
            let phase = communicators.iter().find(|of| of.comm == phase && of.kind == CommKind::Phase);
            if let Some(phase) = phase {
                spans.entry(&phase.name).or_default().extend(phase_spans(marks));
            }
        }
        let mut phases: Vec<PhaseSpan> = Vec::new();
        for (name, mut spans) in spans {
            spans.sort_unstable_by_key(|span| (span.start, span.end));
            phases.extend(spans.into_iter().zip(1..).map(|(span_ns, number)| PhaseSpan {
                name: name.to_owned(),
                number,
                span_ns,
            }));
        }
        phases.sort_by_key(|phase| phase.span_ns.start);
        let range_ns = self.initialized_ns..self.finalizes_ns.unwrap_or(end_ns);
        RunAnchors { finder: self.finder, names, phases, range_ns }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use mpiscope_model::Site;

    pub(in super::super) fn site(line: u32) -> SiteInfo {
        SiteInfo { file: Some("/src/loop.c".into()), line: Some(line), ..SiteInfo::default() }
    }

    pub(in super::super) fn call(function: u16, site: Site, start_ns: u64) -> Call {
        Call { function, site: Some(site), start_ns, end_ns: start_ns + 10, ..Call::default() }
    }

    pub(in super::super) fn mark(phase: Comm, level: i32, start_ns: u64) -> Call {
        Call { comm: Some(phase), tag: Some(level), ..call(id::PCONTROL, Site(9), start_ns) }
    }

    pub(in super::super) fn anchors(calls: &[Call], lines: &[u32], end_ns: u64) -> RunAnchors {
        let mut reader = AnchorReader::default();
        calls.iter().for_each(|call| reader.add(call));
        let sites: Vec<SiteInfo> = lines.iter().map(|line| site(*line)).collect();
        let phase = |comm, name: &str| CommInfo {
            comm,
            kind: CommKind::Phase,
            name: name.into(),
            ..CommInfo::default()
        };
        reader.finish(&sites, &[phase(Comm(4), "solve"), phase(Comm(5), "write")], end_ns)
    }

    #[test]
    fn anchors_are_those_of_the_lowest_rank() {
        let of_rank = |rank, call: Call| Call { rank: Rank(rank), ..call };
        let mut calls: Vec<Call> =
            (0..20).map(|at| of_rank(3, call(id::BARRIER, Site(0), 50 * at))).collect();
        calls.extend((0..10).map(|at| of_rank(1, call(id::BARRIER, Site(0), 100 * at))));
        calls.extend((0..20).map(|at| of_rank(2, call(id::BARRIER, Site(0), 50 * at))));
        let anchors = anchors(&calls, &[7], 1_000);
        let marker = anchors.marker().cloned().unwrap();
        assert_eq!((marker.line, anchors.starts(&marker).len()), (Some(7), 10));
    }

    #[test]
    fn a_long_start_and_end_are_no_part_of_the_loop() {
        let mut calls = vec![Call { end_ns: 10_000, ..call(id::INIT, Site(1), 0) }];
        calls.extend((0..10).map(|at| call(id::BARRIER, Site(0), 10_000 + 100 * at)));
        assert_eq!(anchors(&calls, &[7], 30_000).marker(), None);
        calls.push(Call { end_ns: 30_000, ..call(id::FINALIZE, Site(1), 11_000) });
        assert!(anchors(&calls, &[7], 30_000).marker().is_some());
    }

    #[test]
    fn phases_are_counted_by_name_and_marks_are_no_loop() {
        let mut calls = Vec::new();
        for turn in 0..5 {
            calls.extend([mark(Comm(4), 3, 200 * turn), mark(Comm(4), -3, 200 * turn + 100)]);
        }
        calls.push(mark(Comm(5), 3, 950));
        let anchors = anchors(&calls, &[], 1_000);
        assert_eq!(anchors.marker(), None);
        let phase = |at: usize| {
            let PhaseSpan { name, number, span_ns } = anchors.phases[at].clone();
            (name, number, span_ns)
        };
        assert_eq!(anchors.phases.len(), 6);
        assert_eq!(phase(1), ("solve".to_owned(), 2, 210..300));
        assert_eq!(phase(5), ("write".to_owned(), 1, 960..Nanoseconds::MAX));
    }

    #[test]
    fn a_call_site_is_found_again_when_its_line_moved() {
        let calls: Vec<Call> = (0..10)
            .flat_map(|at| [call(id::BARRIER, Site(0), 100 * at), call(id::BARRIER, Site(1), 100 * at + 50)])
            .collect();
        let (a, b) = (anchors(&calls, &[7, 9], 1_000), anchors(&calls, &[12, 14], 1_000));
        let second = SiteName::new(Some(id::BARRIER), &site(9));
        assert_eq!(b.counterpart(&second, &a), Some(SiteName::new(Some(id::BARRIER), &site(14))));
        assert_eq!(a.counterpart(&second, &b), Some(second.clone()));
        let one = anchors(&calls[..1], &[12], 1_000);
        assert_eq!(one.counterpart(&second, &a), None);
    }
}
