//! `tables/*.parquet`: names of functions, communicators, nodes, call sites and ranks.

use crate::row::Nature::{Repeating, Rising};
use crate::row::{Access, Column, Row};
use mpiscope_model::{CommInfo, Function, NodeInfo, ProcessState, RankInfo, SiteInfo};

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
        Column {
            name: "function",
            nature: Rising,
            access: Access::U16(|row| row.function, |row, v| row.function = v),
        },
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
        Column { name: "node", nature: Rising, access: Access::U32(|row| row.node, |row, v| row.node = v) },
        Column {
            name: "name",
            nature: Repeating,
            access: Access::Text(|row| &row.name, |row, v| row.name = v),
        },
    ];

    fn blank() -> Self {
        NodeInfo { node: 0, name: String::new() }
    }
}

impl Row for SiteInfo {
    const TABLE: &'static str = "sites";
    const COLUMNS: &'static [Column<Self>] = &[
        Column { name: "site", nature: Rising, access: Access::U32(|row| row.site, |row, v| row.site = v) },
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
        Column {
            name: "offset",
            nature: Rising,
            access: Access::U64(|row| row.offset, |row, v| row.offset = v),
        },
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
        Column {
            name: "line",
            nature: Repeating,
            access: Access::OptionalU32(|row| row.line, |row, v| row.line = v),
        },
    ];

    fn blank() -> Self {
        SiteInfo::default()
    }
}

impl Row for CommInfo {
    const TABLE: &'static str = "communicators";
    const COLUMNS: &'static [Column<Self>] = &[
        Column { name: "comm", nature: Rising, access: Access::U32(|row| row.comm, |row, v| row.comm = v) },
        Column { name: "id", nature: Rising, access: Access::U64(|row| row.id, |row, v| row.id = v) },
        Column {
            name: "size",
            nature: Repeating,
            access: Access::U32(|row| row.size, |row, v| row.size = v),
        },
        Column {
            name: "parent",
            nature: Repeating,
            access: Access::OptionalU32(|row| row.parent, |row, v| row.parent = v),
        },
        Column {
            name: "leader",
            nature: Repeating,
            access: Access::U32(|row| row.leader, |row, v| row.leader = v),
        },
    ];

    fn blank() -> Self {
        CommInfo { comm: 0, id: 0, size: 0, first_size: None, parent: None, leader: 0 }
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
    const COLUMNS: &'static [Column<Self>] = &[
        Column { name: "rank", nature: Rising, access: Access::U32(|row| row.rank, |row, v| row.rank = v) },
        Column {
            name: "world_size",
            nature: Repeating,
            access: Access::U32(|row| row.world_size, |row, v| row.world_size = v),
        },
        Column {
            name: "node",
            nature: Repeating,
            access: Access::U32(|row| row.node, |row, v| row.node = v),
        },
        Column { name: "pid", nature: Rising, access: Access::U32(|row| row.pid, |row, v| row.pid = v) },
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
        Column {
            name: "cost_per_call_ns",
            nature: Repeating,
            access: Access::F64(|row| row.cost_per_call_ns, |row, v| row.cost_per_call_ns = v),
        },
    ];

    fn blank() -> Self {
        RankInfo {
            rank: 0,
            world_size: 0,
            node: 0,
            pid: 0,
            library: String::new(),
            state: ProcessState::Vanished,
            cost_per_call_ns: 0.0,
        }
    }
}
