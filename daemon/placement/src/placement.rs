//! The advice for a job, with the names of its nodes.

use anyhow::{Context as _, Result, ensure};
use mpiscope_model::Node;
use mpiscope_recording::{Job, JobNode};
use mpiscope_topology::{Advice, Traffic, advise, capacities};

/// Where the ranks of a job are and where they had better be.
#[derive(Debug)]
pub struct Placement<'a> {
    nodes: &'a [JobNode],
    today: Vec<Node>,
    /// Where they had better be.
    pub advice: Advice,
}

/// The advice for a job with this traffic.
///
/// # Errors
/// In one line where the recording does not say on which node each rank was.
pub fn place<'a>(job: &'a Job, traffic: &Traffic) -> Result<Placement<'a>> {
    place_by(job, |today| Ok(advise(traffic, today, &capacities(today, job.nodes.len()))))
}

/// What somebody advises for a job whose ranks are on these nodes.
pub(crate) fn place_by(job: &Job, advise: impl FnOnce(&[Node]) -> Result<Advice>) -> Result<Placement<'_>> {
    let today = node_of_rank(job)?;
    let advice = advise(&today)?;
    Ok(Placement { nodes: &job.nodes, today, advice })
}

impl<'a> Placement<'a> {
    /// The name of the node of each rank, as advised.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.advice.node_of_rank.iter().map(|&node| self.nodes[node.index()].name.as_str())
    }

    /// How many ranks are elsewhere than today.
    pub(crate) fn moved(&self) -> usize {
        self.advice.node_of_rank.iter().zip(&self.today).filter(|(new, old)| new != old).count()
    }

    /// How many ranks the job has.
    pub(crate) fn ranks(&self) -> usize {
        self.today.len()
    }

    /// How many nodes the job has.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Names may be anybody's; what is no name of a host would be something else in a launcher's file.
    pub(crate) fn check_names(&self) -> Result<()> {
        for JobNode { name, .. } in self.nodes {
            let is_sound = |letter: char| letter.is_ascii_alphanumeric() || ['.', '-', '_'].contains(&letter);
            let begins_well = name.chars().next().is_some_and(|letter| letter.is_ascii_alphanumeric());
            ensure!(
                begins_well && name.chars().all(is_sound),
                "a node of the recording is called \"{}\", which is no name of a host",
                name.escape_debug()
            );
        }
        Ok(())
    }
}

fn node_of_rank(job: &Job) -> Result<Vec<Node>> {
    ensure!(job.ranks > 0, "the recording knows of no rank");
    let known: usize = job.nodes.iter().map(|node| node.ranks.len()).sum();
    // Before memory is taken for as many as it says.
    let unknown = || format!("the recording says of {known} of {} ranks on which node they were", job.ranks);
    ensure!(known >= job.ranks as usize, unknown());
    let mut node_of = vec![None; job.ranks as usize];
    for (node, ranks) in job.nodes.iter().enumerate() {
        for &rank in &ranks.ranks {
            if let Some(place) = node_of.get_mut(rank as usize) {
                *place = Some(Node::from_index(node));
            }
        }
    }
    node_of.into_iter().collect::<Option<_>>().with_context(unknown)
}
