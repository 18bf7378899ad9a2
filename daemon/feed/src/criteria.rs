//! Expected times of messages and collectives, as pages receive them.

use crate::column::{F64Column, U32Column};
use mpiscope_diagnosis::{Scope, Version, bin_sizes};
use mpiscope_model::Function;
use serde::{Deserialize, Serialize};

/// The criteria of a run. A row of the columns is one bin of sizes of messages: first within nodes, by size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Criteria {
    /// How often they changed until now; 0 where none are known.
    pub version: u64,
    /// Whether they are those of the whole run, and not of what is known until now.
    pub is_final: bool,
    /// 1 where they are of messages between nodes.
    pub is_inter: U32Column,
    /// The first size.
    pub size_from: F64Column,
    /// The first that is not meant any more.
    pub size_to: F64Column,
    /// How many messages it was learnt from.
    pub samples: F64Column,
    /// The median of what they took.
    pub median_ns: F64Column,
    /// Up to this long is normal: the 95th percentile of quiet windows; not a number where that is not known.
    pub normal_ns: F64Column,
    /// Collectives, by function.
    pub functions: Vec<FunctionCriterion>,
}

/// The expected time of a part in a collective, from the last entry that it waited for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FunctionCriterion {
    /// The function.
    pub function: u32,
    /// Its name.
    pub name: String,
    /// The number of its ranks.
    pub ranks: u32,
    /// The least of the bytes that are meant.
    pub bytes: u64,
    /// Whether it is of the root, where it has a part of its own.
    pub is_root: bool,
    /// How many it was learnt from.
    pub samples: u64,
    /// The median of what they took.
    pub median_ns: u64,
}

impl Criteria {
    pub(crate) fn from_version(
        number: u64,
        is_final: bool,
        version: &Version,
        name: &dyn Fn(Function) -> Option<&'static str>,
    ) -> Self {
        let mut criteria = Self { version: number, is_final, ..Self::default() };
        for criterion in version.messages() {
            let (from, to) = criterion.sizes();
            criteria.is_inter.0.push(u32::from(criterion.scope == Scope::Inter));
            criteria.size_from.0.push(from as f64);
            criteria.size_to.0.push(to as f64);
            criteria.samples.0.push(criterion.samples as f64);
            criteria.median_ns.0.push(criterion.median_ns as f64);
            criteria.normal_ns.0.push(criterion.normal_ns.map_or(f64::NAN, |normal_ns| normal_ns as f64));
        }
        let functions = version.collectives().into_iter().map(|criterion| FunctionCriterion {
            function: criterion.key.function.into(),
            name: name(criterion.key.function).unwrap_or_default().to_owned(),
            ranks: criterion.key.ranks,
            bytes: bin_sizes(criterion.key.bin).0,
            is_root: criterion.key.is_root,
            samples: criterion.samples,
            median_ns: criterion.median_ns,
        });
        criteria.functions = functions.collect();
        criteria
    }
}
