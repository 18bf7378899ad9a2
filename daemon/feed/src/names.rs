//! Communicators, call sites, regions and functions by their numbers and names, for filters that name them.

use crate::library::Library;
use crate::rank_phases::Phase;
use mpiscope_model::{CommKind, Function};
use std::collections::HashSet;
use std::sync::PoisonError;

impl Library {
    /// The communicators that are known, with what they are called.
    #[must_use]
    pub fn communicators(&self) -> Vec<(u32, String)> {
        let known = self.communicators.lock().unwrap_or_else(PoisonError::into_inner);
        let communicators = known.iter().filter(|comm| comm.kind == CommKind::Communicator);
        communicators.map(|comm| (comm.comm.0, comm.words())).collect()
    }

    /// The phases that are known.
    pub(crate) fn phases(&self) -> Vec<Phase> {
        let known = self.communicators.lock().unwrap_or_else(PoisonError::into_inner);
        let phases = known.iter().filter(|comm| comm.kind == CommKind::Phase);
        phases.map(|phase| Phase { id: phase.comm.0, name: phase.words() }).collect()
    }

    /// The call sites that are known, with their places in words; looking them up may take a while. Places on the way to
    /// calls are none.
    #[must_use]
    pub fn call_sites(&self) -> Vec<(u32, String)> {
        let Some(sites) = &self.sites else { return Vec::new() };
        let sites = sites.sites();
        let on_the_way: HashSet<u32> = sites.parent.0.iter().copied().collect();
        let all = sites.id.0.into_iter().zip(sites.place);
        all.filter(|(id, _)| !on_the_way.contains(id)).collect()
    }

    /// The regions of the newest verdict, with their ranks.
    #[must_use]
    pub fn region_ids(&self) -> Vec<u32> {
        let regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        regions.regions.iter().map(|region| region.id).collect()
    }

    /// A function's name in C.
    #[must_use]
    pub fn function_name(&self, id: Function) -> Option<&'static str> {
        let at = self.functions().binary_search_by_key(&id, |function| function.id).ok()?;
        Some(self.functions()[at].name)
    }
}
