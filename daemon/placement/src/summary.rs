//! What a placement changes, and whether all is known that it takes.

use crate::placement::{Placement, place};
use anyhow::{Result, ensure};
use mpiscope_engine::load::Traffic;
use mpiscope_model::words::{bytes, count, plural};

/// The placement, if all that it takes is there.
///
/// # Errors
/// In one line that says what is missing.
pub fn checked(traffic: &Traffic) -> Result<Placement<'_>> {
    checked_by(traffic, || place(&traffic.job, &traffic.traffic))
}

/// Likewise, as somebody places its ranks.
pub(crate) fn checked_by<'a>(
    traffic: &Traffic,
    place: impl FnOnce() -> Result<Placement<'a>>,
) -> Result<Placement<'a>> {
    ensure!(
        traffic.faults.is_empty(),
        "no placement can be advised without all messages: {}",
        traffic.faults.join("; ")
    );
    let placement = place()?;
    placement.check_names()?;
    Ok(placement)
}

/// What changes, in sentences.
#[must_use]
pub fn summary(placement: &Placement<'_>, traffic: &Traffic) -> Vec<String> {
    let advice = &placement.advice;
    let mut sentences = Vec::new();
    let now = format!(
        "{} with {} go between nodes as ranks are placed",
        plural(advice.inter_messages_before, "message"),
        bytes(advice.inter_bytes_before)
    );
    if advice.gains() {
        sentences.push(format!(
            "{now}; with this placement {} with {}",
            count(advice.inter_messages_after),
            bytes(advice.inter_bytes_after)
        ));
        sentences.push(format!(
            "{} of {} move to another node, and every node has as many as now",
            count(placement.moved() as u64),
            plural(placement.ranks() as u64, "rank")
        ));
    } else {
        sentences.push(format!("nothing can be gained: {now}, and no better placement was found"));
        sentences.push("this is the placement as it is".into());
    }
    let left_out = traffic.traffic.left_out().messages;
    if left_out > 0 {
        sentences.push(format!(
            "{} between ranks that seldom talk are left out of this",
            plural(left_out, "message")
        ));
    }
    sentences
}
