//! Writes the page's types: `MPISCOPE_WRITE=1 cargo test -p mpiscope-feed types` after a change of the messages.

use crate::aligned::{AlignedCourse, AlignedSection, Alignment, Stretch, StretchPart};
use crate::annotations::{Annotation, Annotations, AnnotationsKind, ValueSeries};
use crate::call_sites::{SiteTimes, Sites, SourceText};
use crate::calls::Calls;
use crate::column::{F64Column, U32Column};
use crate::compare::{
    BudgetChange, ByChange, CauseChange, CollectiveChange, Compared, Comparison, CriterionChange,
    EfficiencyChange, FunctionChange, JobChange, LinePair, Noise, QualityChange, RegionChange, Side,
    SiteChange, TotalsChange, VerdictChange,
};
use crate::compared_course::ComparedCourse;
use crate::course::RangeBudget;
use crate::criteria::{Criteria, FunctionCriterion};
use crate::dependencies::{
    Cone, ConeMessages, ConeRanks, CourseSizes, Courses, CriticalPath, Dag, DagBars, DagEdges, DagNodes,
    DagRanks, GroupGraph, MessageRows, Pairs,
};
use crate::durations::CallDurations;
use crate::event::Event;
use crate::evolution::{Bands, Evolution, Pending, Points, RegionCourse, SegmentRow};
use crate::figures::{Change, Count, CountChange, Figure, Words, WordsChange};
use crate::findings::{
    Advised, Attribution, Basis, BasisState, Blocked, BlockedRank, By, CpuContention, Diagnosis, Disturbance,
    Efficiency, FindingsReport, GatheredWait, Parts, Quiet, SiteWait, SlowLink, SlowLinks, Source,
    SourceRank, SourceTime, Stopped, StoppedRank, Verdict, Wait, WhatIf, Without,
};
use crate::hang::{Hang, HangCall, HangKind, HangRoot, HangSentence, Hangs};
use crate::pending::{PendingEdges, PendingGroups, PendingMessages};
use crate::range_verdict::RangeVerdict;
use crate::rank_layout::{LayoutItem, LayoutNote, Layouts, RankLayout};
use crate::rank_phases::Phase;
use crate::rank_suggestion::Suggestion;
use crate::rank_values::{Landscape, MetricColumn, RankMetrics};
use crate::regions::{Between, Region, Regions};
use crate::rows::{Job, JobState, RunSource};
use crate::selected::{Selected, SelectedFunctions, SelectedRanks, SelectedRegions, SelectedSizes};
use crate::shares::Shares;
use crate::surroundings::{Remap, RemapFile, RemapFormat};
use crate::switch::Switch;
use crate::{exchange, message};
use ts_rs::{Config, TS};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dashboard/src/feed/types.ts");

fn types() -> String {
    let config = Config::new().with_large_int("number");
    let mut text = String::from(
        "// Written from daemon/feed by `MPISCOPE_WRITE=1 cargo test -p mpiscope-feed types`; not to be edited.\n\
         // Columns are blobs, little-endian, of 32-bit whole numbers or 64-bit floating-point ones: daemon/feed says which.\n",
    );
    let mut declare = |declaration: String| text.push_str(&format!("\nexport {declaration}\n"));
    declare(U32Column::decl(&config));
    declare(F64Column::decl(&config));
    declare(RunSource::decl(&config));
    declare(JobState::decl(&config));
    declare(Job::decl(&config));
    declare(message::Kind::decl(&config));
    declare(message::Clock::decl(&config));
    declare(message::Totals::decl(&config));
    declare(message::Losses::decl(&config));
    declare(message::Fault::decl(&config));
    declare(message::Faults::decl(&config));
    declare(message::Functions::decl(&config));
    declare(message::Ranks::decl(&config));
    declare(message::Nodes::decl(&config));
    declare(message::TimelineCells::decl(&config));
    declare(message::InFlight::decl(&config));
    declare(By::decl(&config));
    declare(Parts::decl(&config));
    declare(Efficiency::decl(&config));
    declare(Wait::decl(&config));
    declare(GatheredWait::decl(&config));
    declare(SiteWait::decl(&config));
    declare(Source::decl(&config));
    declare(SourceRank::decl(&config));
    declare(SourceTime::decl(&config));
    declare(Advised::decl(&config));
    declare(Attribution::decl(&config));
    declare(Quiet::decl(&config));
    declare(Disturbance::decl(&config));
    declare(Verdict::decl(&config));
    declare(Basis::decl(&config));
    declare(BasisState::decl(&config));
    declare(CpuContention::decl(&config));
    declare(StoppedRank::decl(&config));
    declare(BlockedRank::decl(&config));
    declare(SlowLink::decl(&config));
    declare(SlowLinks::decl(&config));
    declare(Stopped::decl(&config));
    declare(Blocked::decl(&config));
    declare(Without::decl(&config));
    declare(WhatIf::decl(&config));
    declare(Region::decl(&config));
    declare(Between::decl(&config));
    declare(Regions::decl(&config));
    declare(Diagnosis::decl(&config));
    declare(Pairs::decl(&config));
    declare(Points::decl(&config));
    declare(Bands::decl(&config));
    declare(SegmentRow::decl(&config));
    declare(RegionCourse::decl(&config));
    declare(Evolution::decl(&config));
    declare(Pending::decl(&config));
    declare(HangKind::decl(&config));
    declare(HangSentence::decl(&config));
    declare(HangRoot::decl(&config));
    declare(HangCall::decl(&config));
    declare(Hang::decl(&config));
    declare(Hangs::decl(&config));
    declare(Switch::decl(&config));
    declare(FindingsReport::decl(&config));
    declare(CallDurations::decl(&config));
    declare(Calls::decl(&config));
    declare(Change::decl(&config));
    declare(Figure::decl(&config));
    declare(CountChange::decl(&config));
    declare(Count::decl(&config));
    declare(WordsChange::decl(&config));
    declare(Words::decl(&config));
    declare(Noise::decl(&config));
    declare(Side::decl(&config));
    declare(JobChange::decl(&config));
    declare(TotalsChange::decl(&config));
    declare(QualityChange::decl(&config));
    declare(FunctionChange::decl(&config));
    declare(LinePair::decl(&config));
    declare(SiteChange::decl(&config));
    declare(CriterionChange::decl(&config));
    declare(CollectiveChange::decl(&config));
    declare(RegionChange::decl(&config));
    declare(ByChange::decl(&config));
    declare(BudgetChange::decl(&config));
    declare(EfficiencyChange::decl(&config));
    declare(CauseChange::decl(&config));
    declare(VerdictChange::decl(&config));
    declare(StretchPart::decl(&config));
    declare(Stretch::decl(&config));
    declare(AlignedSection::decl(&config));
    declare(Alignment::decl(&config));
    declare(Comparison::decl(&config));
    declare(ComparedCourse::decl(&config));
    declare(AlignedCourse::decl(&config));
    declare(Compared::decl(&config));
    declare(message::Message::decl(&config));
    declare(exchange::Mode::decl(&config));
    declare(exchange::Selection::decl(&config));
    declare(exchange::PerspectiveKind::decl(&config));
    declare(exchange::PerspectiveMessage::decl(&config));
    declare(exchange::AnswerKind::decl(&config));
    declare(exchange::TimelineBins::decl(&config));
    declare(exchange::RangeCounts::decl(&config));
    declare(exchange::History::decl(&config));
    declare(RangeBudget::decl(&config));
    declare(RangeVerdict::decl(&config));
    declare(SelectedFunctions::decl(&config));
    declare(SelectedRanks::decl(&config));
    declare(SelectedSizes::decl(&config));
    declare(SelectedRegions::decl(&config));
    declare(Selected::decl(&config));
    declare(Shares::decl(&config));
    declare(CriticalPath::decl(&config));
    declare(GroupGraph::decl(&config));
    declare(DagNodes::decl(&config));
    declare(DagEdges::decl(&config));
    declare(DagRanks::decl(&config));
    declare(DagBars::decl(&config));
    declare(Dag::decl(&config));
    declare(ConeRanks::decl(&config));
    declare(ConeMessages::decl(&config));
    declare(Cone::decl(&config));
    declare(PendingGroups::decl(&config));
    declare(PendingEdges::decl(&config));
    declare(PendingMessages::decl(&config));
    declare(MessageRows::decl(&config));
    declare(CourseSizes::decl(&config));
    declare(Courses::decl(&config));
    declare(FunctionCriterion::decl(&config));
    declare(Criteria::decl(&config));
    declare(MetricColumn::decl(&config));
    declare(Phase::decl(&config));
    declare(RankMetrics::decl(&config));
    declare(LayoutNote::decl(&config));
    declare(RankLayout::decl(&config));
    declare(LayoutItem::decl(&config));
    declare(Layouts::decl(&config));
    declare(Landscape::decl(&config));
    declare(Suggestion::decl(&config));
    declare(Sites::decl(&config));
    declare(SiteTimes::decl(&config));
    declare(SourceText::decl(&config));
    declare(RemapFormat::decl(&config));
    declare(RemapFile::decl(&config));
    declare(Remap::decl(&config));
    declare(Event::decl(&config));
    declare(exchange::Content::decl(&config));
    declare(exchange::Answer::decl(&config));
    declare(Annotation::decl(&config));
    declare(ValueSeries::decl(&config));
    declare(AnnotationsKind::decl(&config));
    declare(Annotations::decl(&config));
    declare(crate::AccessKind::decl(&config));
    declare(crate::IssuedLink::decl(&config));
    declare(crate::NewLink::decl(&config));
    declare(crate::Access::decl(&config));
    declare(crate::PanelsKind::decl(&config));
    declare(crate::PanelTab::decl(&config));
    declare(crate::Panels::decl(&config));
    declare(crate::PanelMessageKind::decl(&config));
    declare(crate::PanelMessage::decl(&config));
    text
}

#[test]
fn the_types_of_the_page_are_those_of_the_messages() {
    let types = types();
    if std::env::var_os("MPISCOPE_WRITE").is_some() {
        std::fs::write(FILE, &types).unwrap();
    }
    let written = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        written == types,
        "dashboard/src/feed/types.ts is not what the messages are; see daemon/feed/src/tests/types.rs"
    );
}
