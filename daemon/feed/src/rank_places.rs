//! Where ranks are, for layouts: names of nodes, bound CPUs, regions, and what the site says of the machine.

use crate::regions::Regions;
use mpiscope_layout::{RankPlacement, SiteDescription};
use mpiscope_model::{Rank, RankCpus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is known of the places of all ranks.
#[derive(Debug, Default)]
pub(crate) struct RankPlaces {
    site: Arc<SiteDescription>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Grows when something changes.
    version: u64,
    nodes: Vec<String>,
    /// By rank.
    cpus: Vec<Option<u32>>,
    regions: Regions,
}

impl RankPlaces {
    pub(crate) fn describe(&mut self, site: SiteDescription) {
        self.site = Arc::new(site);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set<'a>(
        &self,
        nodes: impl Iterator<Item = &'a str>,
        ranks: impl Iterator<Item = (Rank, &'a RankCpus)>,
    ) {
        let nodes: Vec<String> = nodes.map(str::to_owned).collect();
        let mut cpus = Vec::new();
        for (rank, of) in ranks {
            let at = rank.index();
            if cpus.len() <= at {
                cpus.resize(at + 1, None);
            }
            // A rank that may use the whole node is bound to no CPU.
            let is_bound = of.allowed.count() > 0 && of.allowed.count() < of.on_host;
            cpus[at] = if is_bound { of.allowed.first() } else { None };
        }
        let mut inner = self.lock();
        if inner.nodes != nodes || inner.cpus != cpus {
            inner.version += 1;
            (inner.nodes, inner.cpus) = (nodes, cpus);
        }
    }

    pub(crate) fn set_regions(&self, regions: &Regions) {
        let mut inner = self.lock();
        if inner.regions.version != regions.version || inner.regions.count != regions.count {
            inner.version += 1;
            inner.regions.clone_from(regions);
        }
    }

    pub(crate) fn version(&self) -> u64 {
        self.lock().version
    }

    /// Of ranks on these hosts.
    pub(crate) fn placement_on(&self, hosts: Vec<f64>) -> (RankPlacement, Arc<SiteDescription>) {
        let inner = self.lock();
        let mut cpus = inner.cpus.clone();
        cpus.resize(hosts.len(), None);
        let mut regions = Vec::new();
        if !inner.regions.regions.is_empty() {
            // Ranks of no region are together after all others, but are no group: see `is_group`.
            let none = inner.regions.regions.len();
            regions = vec![none as f64; hosts.len()];
            for (number, region) in inner.regions.regions.iter().enumerate() {
                for &(first, last) in &region.ranks {
                    let last = (last as usize + 1).min(hosts.len());
                    regions.get_mut(first as usize..last).unwrap_or_default().fill(number as f64);
                }
            }
        }
        (RankPlacement { hosts, node_names: inner.nodes.clone(), cpus, regions }, Arc::clone(&self.site))
    }

    /// Whether ranks with a value of a kind of group are one: those of no region are none.
    pub(crate) fn is_group(&self, key: &str, value: f64) -> bool {
        key != "region_index" || (value as usize) < self.lock().regions.regions.len()
    }

    /// What people call a value of a kind of group.
    pub(crate) fn word(&self, key: &str, value: f64) -> Option<String> {
        match key {
            "host" => self.lock().nodes.get(value as usize).cloned(),
            "region_index" => self.lock().regions.regions.get(value as usize).map(|of| of.id.to_string()),
            _ => self.site.word(key, value).map(str::to_owned),
        }
    }
}
