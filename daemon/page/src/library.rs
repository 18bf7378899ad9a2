//! What questions about a run are answered from.

use crate::figure_rows::rank_rows;
use crate::layout_store::LayoutFiles;
use crate::run_data::RunData;
use mpiscope_engine::load::Loaded;
use mpiscope_feed::{FunctionName, Library, Messages, Overview, RankRow};
use mpiscope_layout::SiteDescription;
use mpiscope_model::{Nanoseconds, Rank};
use mpiscope_verdict::{Findings, PartVerdicts};
use std::path::Path;
use std::sync::Arc;

impl RunData {
    /// A library of these calls and messages.
    pub fn into_library(self, dir: &Path, overview: Overview) -> Library {
        let messages = Messages { source: Box::new(self.messages), flow: mpiscope_ingest::flow };
        let library = Library::new(Box::new(self.calls))
            .with_messages(messages)
            .with_overview(overview)
            .with_sites(Box::new(self.sites))
            .with_remap(Box::new(self.placements))
            .with_site(SiteDescription::clone(&self.site))
            .with_layout_store(Box::new(LayoutFiles::beside(dir)))
            .with_functions(mpiscope_wire::FUNCTIONS.iter().map(|entry| FunctionName {
                id: entry.id,
                name: entry.name,
                family: entry.family.word(),
            }));
        match self.layout {
            Some(layout) => library.with_layouts(Box::new(layout)),
            None => library,
        }
    }
}

/// Tells a library what a recording holds beside its rows, and returns the figures of its ranks.
pub fn inform(
    library: &Library,
    loaded: &Loaded,
    findings: Option<&Findings>,
    until_ns: Nanoseconds,
) -> Vec<RankRow> {
    library.set_rank_nodes(loaded.ranks.iter().map(|info| (info.rank, info.node)));
    library.set_placement(
        loaded.job.nodes.iter().map(|node| node.name.as_str()),
        loaded.ranks.iter().map(|info| (info.rank, &info.cpus)),
    );
    library.set_grid(&loaded.coordinates);
    library.set_communicators(&loaded.communicators);
    if let Some(findings) = findings {
        library.set_course(findings.course.clone());
        library.set_range_verdicts(Arc::new(PartVerdicts::new(&findings.diagnosis, loaded.job.ranks)));
        library.set_regions(findings.regions());
        library.use_criteria(findings.criteria(), true);
    }
    let in_call = loaded.hangs.ended_in.iter().map(|call| Rank(call.rank)).collect();
    let ranks = rank_rows(&loaded.counts, &loaded.processors, loaded.ranks.iter(), &in_call);
    library.set_rank_rows(ranks.clone(), loaded.job.ranks, until_ns);
    ranks
}
