//! `tables/*.parquet`: names of functions, communicators, nodes, call sites and ranks.

use crate::row::Nature::Repeating;
use crate::row::{Access, Column, Row, access, column};
use mpiscope_model::{
    Comm, CommInfo, CommKind, Coordinate, CpuSet, Function, Node, NodeInfo, ProcessState, Rank, RankCpus,
    RankInfo, Site, SiteInfo,
};

/// The name of an MPI function, as a recording has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionName {
    /// The number.
    pub function: Function,
    /// Its name in C.
    pub name: String,
}

impl Row for FunctionName {
    const TABLE: &'static str = "functions";
    const COLUMNS: &'static [Column<Self>] = &[
        column!(function: U16, Rising),
        Column {
            name: "name",
            nature: Repeating,
            access: Access::Text(|row| &row.name, |row, v| row.name = v),
        },
    ];

    fn blank() -> Self {
        FunctionName::default()
    }
}

impl Row for NodeInfo {
    const TABLE: &'static str = "nodes";
    const COLUMNS: &'static [Column<Self>] = &[
        column!(node: U32 of Node, Rising),
        Column {
            name: "name",
            nature: Repeating,
            access: Access::Text(|row| &row.name, |row, v| row.name = v),
        },
    ];

    fn blank() -> Self {
        NodeInfo { node: Node(0), name: String::new() }
    }
}

impl Row for SiteInfo {
    const TABLE: &'static str = "sites";
    const COLUMNS: &'static [Column<Self>] = &[
        column!(site: U32 of Site, Rising),
        Column {
            name: "module",
            nature: Repeating,
            access: Access::Text(|row| &row.module, |row, v| row.module = v),
        },
        Column {
            name: "build_id",
            nature: Repeating,
            access: Access::Text(|row| &row.build_id, |row, v| row.build_id = v),
        },
        column!(offset: U64, Rising),
        Column {
            name: "function",
            nature: Repeating,
            // What is not known is empty: no function and no file has such a name.
            access: Access::Text(
                |row| row.function.as_deref().unwrap_or_default(),
                |row, v| row.function = (!v.is_empty()).then_some(v),
            ),
        },
        Column {
            name: "file",
            nature: Repeating,
            access: Access::Text(
                |row| row.file.as_deref().unwrap_or_default(),
                |row, v| row.file = (!v.is_empty()).then_some(v),
            ),
        },
        column!(line: OptionalU32, Repeating),
        Column {
            name: "parent",
            nature: Repeating,
            // Whoever follows sites to the start of the program gets there, whatever the file says.
            access: access!(OptionalU32, |row| row.parent.map(|parent| parent.0), |row, v| {
                row.parent = v.map(Site).filter(|&parent| parent < row.site);
            }),
        },
    ];

    fn blank() -> Self {
        SiteInfo::default()
    }
}

impl Row for CommInfo {
    const TABLE: &'static str = "communicators";
    const LATER: &'static [&'static str] = &["kind", "name"];
    const COLUMNS: &'static [Column<Self>] = &[
        column!(comm: U32 of Comm, Rising),
        column!(id: U64, Rising),
        column!(size: U32, Repeating),
        column!(parent: OptionalU32 of Comm, Repeating),
        column!(leader: U32 of Rank, Repeating),
        Column {
            name: "kind",
            nature: Repeating,
            access: Access::Text(
                |row| row.kind.word(),
                // A word of a later version.
                |row, v| {
                    row.kind = CommKind::ALL.into_iter().find(|kind| kind.word() == v).unwrap_or_default();
                },
            ),
        },
        Column {
            name: "name",
            nature: Repeating,
            access: Access::Text(|row| &row.name, |row, v| row.name = v),
        },
    ];

    fn blank() -> Self {
        CommInfo::default()
    }
}

impl Row for Coordinate {
    const TABLE: &'static str = "coordinates";
    const COLUMNS: &'static [Column<Self>] = &[
        column!(comm: U32 of Comm, Rising),
        column!(rank: U32 of Rank, Rising),
        column!(dimension: U16, Repeating),
        column!(coordinate: U32, Repeating),
        column!(size: U32, Repeating),
        column!(periodic: U16, Repeating),
    ];

    fn blank() -> Self {
        Coordinate::default()
    }
}

const STATES: [ProcessState; 5] = [
    ProcessState::Running,
    ProcessState::Finalized,
    ProcessState::Aborted,
    ProcessState::Vanished,
    ProcessState::Silent,
];

impl Row for RankInfo {
    const TABLE: &'static str = "ranks";
    const RANKS: &'static [&'static str] = &["rank"];
    const RANK_COUNTS: &'static [&'static str] = &["world_size"];
    const COLUMNS: &'static [Column<Self>] = &[
        column!(rank: U32 of Rank, Rising),
        column!(world_size: U32, Repeating),
        column!(node: U32 of Node, Repeating),
        column!(pid: U32, Rising),
        Column {
            name: "library",
            nature: Repeating,
            access: Access::Text(|row| &row.library, |row, v| row.library = v),
        },
        Column {
            name: "state",
            nature: Repeating,
            access: Access::Text(
                |row| row.state.word(),
                // A word of a later version: it is gone, and how is not known here.
                |row, v| {
                    row.state =
                        STATES.into_iter().find(|state| state.word() == v).unwrap_or(ProcessState::Vanished);
                },
            ),
        },
        column!(cost_per_call_ns: F64, Repeating),
        Column {
            name: "cpus",
            nature: Repeating,
            access: Access::Text(
                |row| row.cpus.allowed.as_str(),
                |row, v| row.cpus.allowed = CpuSet::parse(&v).unwrap_or_default(),
            ),
        },
        Column {
            name: "cpus_on_host",
            nature: Repeating,
            access: access!(U32, |row| row.cpus.on_host, |row, v| row.cpus.on_host = v),
        },
        Column {
            name: "cpu_quota_milli",
            nature: Repeating,
            access: access!(U32, |row| row.cpus.quota_milli, |row, v| row.cpus.quota_milli = v),
        },
    ];
    const LATER: &'static [&'static str] = &["cpus", "cpus_on_host", "cpu_quota_milli"];

    fn blank() -> Self {
        RankInfo {
            rank: Rank(0),
            world_size: 0,
            node: Node(0),
            pid: 0,
            library: String::new(),
            state: ProcessState::Vanished,
            cost_per_call_ns: 0.0,
            cpus: RankCpus::default(),
        }
    }
}
