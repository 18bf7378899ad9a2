//! What a budget says, in the figures that pages, reports and recordings are given.

use mpiscope_diagnosis::{Assessment, Budget, Cause, Causes};
use mpiscope_feed::{By, Parts};
use mpiscope_model::Blame;

pub(super) fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

pub(super) fn parts(budget: &Budget) -> Parts {
    let direct = |causes: &[Cause]| seconds(causes.iter().map(|&cause| budget.direct[cause]).sum());
    Parts {
        waiting_s: seconds(budget.waiting_ns as i64),
        base_s: direct(&[Cause::Base]),
        distance_s: direct(&[Cause::Saved, Cause::Distance]),
        excess_s: direct(&[Cause::ExcessInside, Cause::Excess]),
        operation_s: direct(&[Cause::Operation]),
        other_s: direct(&[Cause::Other, Cause::Compute, Cause::CpuWait]),
        unknown_s: direct(&[Cause::Unknown]),
        total_s: seconds(budget.total_ns()),
        waiting_by: by(&budget.waiting_by),
        distance_saved_s: seconds(budget.cost_ns(Cause::Saved)),
        excess_inside_s: seconds(budget.cost_ns(Cause::ExcessInside)),
        cpu_wait_s: direct(&[Cause::CpuWait]),
    }
}

pub(super) fn by(causes: &Causes) -> By {
    let by = |of: &[Cause]| seconds(of.iter().map(|&cause| causes[cause]).sum());
    By {
        compute: by(&[Cause::Compute, Cause::CpuWait]),
        base: by(&[Cause::Base]),
        distance: by(&[Cause::Saved, Cause::Distance]),
        excess: by(&[Cause::ExcessInside, Cause::Excess]),
        operation: by(&[Cause::Operation]),
        other: by(&[Cause::Other]),
        unknown: by(&[Cause::Unknown]),
        cpu_wait: by(&[Cause::CpuWait]),
    }
}

pub(super) fn word(assessment: &Assessment) -> String {
    assessment.verdict.cause.map_or("none", Blame::word).into()
}
