//! The small tables: names for the numbers in the large ones.

use crate::error::RecordingError;
use crate::folder::{PARQUET, TABLES, make_folder};
use crate::row::Row;
use crate::rows::FunctionName;
use crate::table_file::write_table;
use mpiscope_model::{CommInfo, Coordinate, NodeInfo, RankInfo, SiteInfo};
use std::path::Path;

/// The small tables of a recording.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tables {
    /// MPI functions.
    pub functions: Vec<FunctionName>,
    /// Communicators.
    pub communicators: Vec<CommInfo>,
    /// Where ranks stand in the grids of communicators; none in older recordings.
    pub coordinates: Vec<Coordinate>,
    /// Hosts.
    pub nodes: Vec<NodeInfo>,
    /// Call sites; none in recordings of before they were recorded.
    pub sites: Vec<SiteInfo>,
    /// Ranks.
    pub ranks: Vec<RankInfo>,
}

/// The name of a small table in the recording's folder.
pub(crate) fn table_name<R: Row>() -> String {
    format!("{TABLES}/{}.{PARQUET}", R::TABLE)
}

/// The names of all of them.
pub(crate) fn table_names() -> [String; 6] {
    [
        table_name::<FunctionName>(),
        table_name::<CommInfo>(),
        table_name::<Coordinate>(),
        table_name::<NodeInfo>(),
        table_name::<SiteInfo>(),
        table_name::<RankInfo>(),
    ]
}

impl Tables {
    /// Writes all of them.
    pub(crate) fn write(&self, dir: &Path, zstd_level: i32) -> Result<(), RecordingError> {
        make_folder(&dir.join(TABLES))?;
        write_table(&dir.join(table_name::<FunctionName>()), &self.functions, zstd_level)?;
        write_table(&dir.join(table_name::<CommInfo>()), &self.communicators, zstd_level)?;
        write_table(&dir.join(table_name::<Coordinate>()), &self.coordinates, zstd_level)?;
        write_table(&dir.join(table_name::<NodeInfo>()), &self.nodes, zstd_level)?;
        write_table(&dir.join(table_name::<SiteInfo>()), &self.sites, zstd_level)?;
        write_table(&dir.join(table_name::<RankInfo>()), &self.ranks, zstd_level)?;
        Ok(())
    }
}
