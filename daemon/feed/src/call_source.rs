//! Where the calls of a run come from: what a library of answers asks of segments, a log, or a list in memory.

use crate::question::{EventQuestion, Ranks, is_among};
use crate::site_sums::{SiteSum, SiteSums};
use mpiscope_matching::Bins;
use mpiscope_model::{Call, Nanoseconds};
use std::fmt;
use std::ops::Range;

/// Where the calls of a run can be read.
pub trait CallSource: Send + Sync + fmt::Debug {
    /// Shows each call that is in a range, also in part, once, in any order.
    ///
    /// # Errors
    /// One sentence when they cannot be read.
    fn visit(&self, range_ns: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String>;

    /// Likewise, of some ranks. Who knows where calls of others are need not look there.
    ///
    /// # Errors
    /// One sentence when they cannot be read.
    fn visit_of(
        &self,
        range_ns: &Range<Nanoseconds>,
        ranks: &Ranks,
        visitor: &mut dyn FnMut(&Call),
    ) -> Result<(), String> {
        self.visit(range_ns, &mut |call| {
            if is_among(ranks.as_deref(), call.rank) {
                visitor(call);
            }
        })
    }

    /// Adds up calls of some ranks by call site and function, as far as they are in a range; stops once nobody wants that any
    /// more. Who keeps sums need not look at each call, and may leave out some of very many calls until it is asked again.
    ///
    /// # Errors
    /// One sentence when they cannot be read.
    fn sum_by_site(
        &self,
        range_ns: &Range<Nanoseconds>,
        ranks: &Ranks,
        sums: &mut SiteSums,
        _is_wanted: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        self.visit_of(range_ns, ranks, &mut |call| {
            sums.add(call.site, call.function, SiteSum::of_call(call, range_ns));
        })
    }

    /// The nearest call that is asked for. Who knows in which order calls lie need not look at all of them.
    ///
    /// # Errors
    /// One sentence when they cannot be read.
    fn nearest(&self, question: &EventQuestion) -> Result<Option<Call>, String> {
        let mut nearest = None;
        self.visit(&(0..Nanoseconds::MAX), &mut |call| {
            if question.accepts(call) {
                nearest = question.nearer(nearest, *call);
            }
        })?;
        Ok(nearest)
    }

    /// Counts into bins of a power of two nanoseconds when calls began. Who knows that without looking at each of them says it.
    ///
    /// # Errors
    /// One sentence when they cannot be read.
    fn count_starts(&self, bins: &mut Bins) -> Result<(), String> {
        self.visit(&(bins.from_ns..bins.to_ns()), &mut |call| bins.add(call.function, call.start_ns, 1))
    }
}
