//! What MPI knows of a communicator's topology.
#![expect(unsafe_code, reason = "functions of C by their names")]
#![expect(clippy::missing_transmute_annotations, reason = "the field that is set says the type")]

use crate::handle::Handle;
use crate::real::function;
use core::ffi::c_int;
use mpiscope_capture::{Dimension, Family};

/// The functions that return it.
pub(crate) struct Topology {
    test: extern "C" fn(Handle, *mut c_int) -> c_int,
    grid_dimensions: extern "C" fn(Handle, *mut c_int) -> c_int,
    grid: extern "C" fn(Handle, c_int, *mut c_int, *mut c_int, *mut c_int) -> c_int,
    graph_neighbors: extern "C" fn(Handle, c_int, *mut c_int) -> c_int,
    distributed_neighbors: extern "C" fn(Handle, *mut c_int, *mut c_int, *mut c_int) -> c_int,
}

impl Topology {
    pub(crate) fn find() -> Option<Self> {
        Some(Self {
            test: function!(c"PMPI_Topo_test"),
            grid_dimensions: function!(c"PMPI_Cartdim_get"),
            grid: function!(c"PMPI_Cart_get"),
            graph_neighbors: function!(c"PMPI_Graph_neighbors_count"),
            distributed_neighbors: function!(c"PMPI_Dist_graph_neighbors_count"),
        })
    }

    fn kind(&self, comm: Handle) -> c_int {
        let mut kind = 0;
        if (self.test)(comm, &raw mut kind) == 0 { kind } else { 0 }
    }

    /// How many dimensions a grid has; none where it is no grid.
    fn dimensions(&self, family: &Family, comm: Handle) -> Option<usize> {
        let mut dimensions = 0;
        let is_grid =
            self.kind(comm) == family.grid && (self.grid_dimensions)(comm, &raw mut dimensions) == 0;
        if is_grid { usize::try_from(dimensions).ok() } else { None }
    }

    /// The grid, and where this process stands in it; nothing where there is none.
    pub(crate) fn grid(&self, family: &Family, comm: Handle) -> Vec<Dimension> {
        let Some(dimensions) = self.dimensions(family, comm) else { return Vec::new() };
        let mut sizes = vec![0; dimensions];
        let (mut periods, mut coordinates) = (sizes.clone(), sizes.clone());
        let places = (sizes.as_mut_ptr(), periods.as_mut_ptr(), coordinates.as_mut_ptr());
        if (self.grid)(comm, dimensions as c_int, places.0, places.1, places.2) != 0 {
            return Vec::new();
        }
        let small = |number: c_int| u32::try_from(number).unwrap_or_default();
        (0..dimensions)
            .map(|at| Dimension {
                coordinate: small(coordinates[at]),
                size: small(sizes[at]),
                is_periodic: periods[at] != 0,
            })
            .collect()
    }

    /// From how many neighbours a rank receives, and to how many it sends.
    pub(crate) fn degrees(&self, family: &Family, comm: Handle, own_rank: u32) -> (u32, u32) {
        let (mut sources, mut destinations, mut weighted) = (0, 0, 0);
        let kind = self.kind(comm);
        if kind == family.grid {
            let both_ways = 2 * self.dimensions(family, comm).unwrap_or_default() as u32;
            return (both_ways, both_ways);
        }
        let known = if kind == family.graph {
            let known = (self.graph_neighbors)(comm, own_rank as c_int, &raw mut sources) == 0;
            destinations = sources;
            known
        } else {
            kind == family.distributed_graph
                && (self.distributed_neighbors)(
                    comm,
                    &raw mut sources,
                    &raw mut destinations,
                    &raw mut weighted,
                ) == 0
        };
        let small = |number: c_int| u32::try_from(number).unwrap_or_default();
        if known { (small(sources), small(destinations)) } else { (0, 0) }
    }
}
