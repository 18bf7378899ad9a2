//! The verdict while the run goes on.

use mpiscope_diagnosis::Version;
use mpiscope_feed::Course;

/// What was found, for those who watch.
#[derive(Debug)]
pub struct LiveFindings {
    /// The verdict and its sentences.
    pub report: mpiscope_feed::FindingsReport,
    /// How the run went over time.
    pub course: Course,
    /// Expected transfer times.
    pub criteria: Version,
}
