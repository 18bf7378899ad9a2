//! What is found about simulated jobs, for tests.

use super::diagnosis::diagnosis;
use super::recorded_time::RecordedTime;
use super::stretches::{FINAL_CALLS, LogStretches};
use mpiscope_diagnosis::{BudgetOptions, Reference, Windowed};
use mpiscope_feed::{Course, Diagnosis};
use mpiscope_ingest::Ingest;
use mpiscope_synth::{Spec, generate};

pub(super) fn simulated(spec: &Spec) -> (Diagnosis, Course) {
    let mut ingest = Ingest::for_diagnosis();
    let mut windowed = Windowed::new(BudgetOptions::default());
    let mut stretches = LogStretches::new(&Reference::None, &[], 0, FINAL_CALLS);
    for batch in generate(spec).unwrap().filter_map(|message| ingest.step(message)) {
        stretches.add(&batch);
        windowed.feed(&batch, batch.until_ns);
    }
    windowed.finish();
    diagnosis(&windowed.budgeter, false, spec.ranks, &RecordedTime::default(), &stretches.finish())
}
