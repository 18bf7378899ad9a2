//! What is called from where, of the run that a library holds.

use crate::call_sites::{SiteTimes, Sites, SourceText};
use crate::library::Library;
use crate::question::{SelectedQuestion, wanted};
use crate::site_sums::SiteSums;
use mpiscope_model::Site;

impl Library {
    /// The places that are known.
    pub(crate) fn site_table(&self) -> Result<Sites, String> {
        Ok(self.sites.as_ref().ok_or("where calls are made is not known here")?.sites())
    }

    /// The source text around one of them.
    pub(crate) fn source_text(&self, site: Site) -> Result<SourceText, String> {
        self.sites.as_ref().ok_or("where calls are made is not known here")?.source_text(site)
    }

    /// What is called from where.
    pub(crate) fn site_times(
        &self,
        question: &SelectedQuestion,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<SiteTimes, String> {
        let (_, until_ns, _) = self.ranks.counted_rows()?.job();
        let SelectedQuestion { range_ns, ranks, hidden } = question;
        let mut sums = SiteSums::without(hidden);
        self.source.sum_by_site(range_ns, ranks, &mut sums, is_wanted)?;
        wanted(is_wanted)?;
        Ok(SiteTimes {
            from_ns: range_ns.start.min(until_ns),
            to_ns: range_ns.end.min(until_ns),
            counted_share: sums.counted_share(),
            site: sums.iter().map(|(site, ..)| site).collect(),
            function: sums.iter().map(|(_, function, _)| u32::from(function)).collect(),
            calls: sums.iter().map(|(.., sum)| sum.calls).collect(),
            bytes: sums.iter().map(|(.., sum)| sum.bytes).collect(),
            time_ns: sums.iter().map(|(.., sum)| sum.time_ns).collect(),
        })
    }
}
