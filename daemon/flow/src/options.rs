//! How a flow works.

use mpiscope_diagnosis::{BudgetOptions, Budgeter, Course, RegionOfRank, Version};
use mpiscope_topology::Advice;

/// How a flow works.
#[derive(Debug, Clone)]
pub struct FlowOptions {
    /// Threads that analyse.
    pub workers: usize,
    /// Ranks that belong to one worker together: neighbours talk with each other most.
    pub neighbours: u32,
    /// How time is divided up; its windows are those of the flow.
    pub budget: BudgetOptions,
    /// Criteria that replace the learnt ones.
    pub criteria: Option<Version>,
    /// The advised placement.
    pub advice: Option<Advice>,
    /// How the run went, as an earlier pass saw.
    pub course: Option<Course>,
    /// The regions; each node's ranks are one without it.
    pub regions: Option<RegionOfRank>,
    /// Other processes feed the calls of their ranks themselves: how many ranks there are. Each has neighbours, and this one has none.
    pub fed_by_others: Option<u32>,
    /// Counts calls and messages by windows of this length.
    pub counts_window_ns: Option<u64>,
    /// Calls that may wait although their windows are complete. One batch more than that is taken, and what belongs to
    /// windows that are not complete does not count, for only more input completes them.
    pub most_calls: usize,
    /// Writes as bytes what the dataflow carries from worker to worker, as it has to be between processes. It costs time and changes
    /// nothing else.
    pub as_bytes: bool,
}

impl Default for FlowOptions {
    fn default() -> Self {
        Self {
            workers: 1,
            neighbours: 16,
            budget: BudgetOptions::default(),
            criteria: None,
            advice: None,
            course: None,
            regions: None,
            fed_by_others: None,
            counts_window_ns: None,
            most_calls: 1 << 20,
            as_bytes: false,
        }
    }
}

impl FlowOptions {
    pub(crate) fn budgeter(&self, budget: BudgetOptions) -> Budgeter {
        let mut budgeter = Budgeter::new(budget);
        if let Some(criteria) = self.criteria.clone() {
            budgeter = budgeter.with_criteria(criteria);
        }
        if let Some(advice) = self.advice.clone() {
            budgeter = budgeter.with_advice(advice);
        }
        if let Some(course) = self.course.clone() {
            budgeter = budgeter.with_course(course);
        }
        if let Some(regions) = self.regions.clone() {
            budgeter.divide(regions);
        }
        budgeter
    }
}
