//! Windows of regions, as a client receives them.

use serde::{Deserialize, Serialize};

/// A struct of columns that all have one place for each row.
macro_rules! columns {
    ($(#[doc = $about:literal])+ $name:ident { $($(#[doc = $text:literal])+ $field:ident: $type:ty = $schema:literal,)+ }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub struct $name {
            $(
                $(#[doc = $text])+
                #[serde(with = "crate::column")]
                #[cfg_attr(test, schemars(with = $schema))]
                pub $field: $type,
            )+
        }
    };
}

columns! {
    /// Windows, one a place in all columns, by when they end: a row for each region, and for each two that exchanged
    /// messages. Regions are those of the newest verdict.
    ///
    /// Figures of time in MPI are not numbers where nothing was diagnosed. They are summed over ranks.
    WindowColumns {
        /// When the window begins.
        from_ns: Vec<f64> = "Vec<f64>",
        /// When it ends.
        to_ns: Vec<f64> = "Vec<f64>",
        /// The region; [`crate::NONE`] for ranks that are in none.
        region: Vec<u32> = "Vec<u32>",
        /// The other region, where the row is about messages between two; [`crate::NONE`] where it is about one.
        other: Vec<u32> = "Vec<u32>",
        /// 1 where the row is about messages between two regions; one may be none.
        between: Vec<u32> = "Vec<u32>",
        /// Rows of calls that returned in the window.
        calls: Vec<f64> = "Vec<f64>",
        /// Polls folded into them beyond the rows themselves.
        polls: Vec<f64> = "Vec<f64>",
        /// What they sent, or received where they sent nothing.
        bytes: Vec<f64> = "Vec<f64>",
        /// The time between their entries and returns.
        mpi_ns: Vec<f64> = "Vec<f64>",
        /// Messages that were received in the window.
        messages: Vec<f64> = "Vec<f64>",
        /// Their payload.
        message_bytes: Vec<f64> = "Vec<f64>",
        /// Of them, those whose transfer time is known exactly, and what it usually is.
        exact: Vec<f64> = "Vec<f64>",
        /// Of the exact ones, those that took longer than is usual.
        delayed: Vec<f64> = "Vec<f64>",
        /// What the exact ones took in shares of the expected transfer time (L), on average; not a number without any.
        latency: Vec<f64> = "Vec<f64>",
        /// Diagnosed time in MPI, in seconds.
        total_s: Vec<f64> = "Vec<f64>",
        /// Of it, waiting for others.
        waiting_s: Vec<f64> = "Vec<f64>",
        /// Of the waiting, while those who were waited for computed.
        waiting_compute_s: Vec<f64> = "Vec<f64>",
        /// Of the waiting, for expected transfer times.
        waiting_base_s: Vec<f64> = "Vec<f64>",
        /// Of the waiting, for the inter-node cost.
        waiting_distance_s: Vec<f64> = "Vec<f64>",
        /// Of the waiting, for what took longer than expected.
        waiting_excess_s: Vec<f64> = "Vec<f64>",
        /// Of the waiting, for the operation of collectives.
        waiting_operation_s: Vec<f64> = "Vec<f64>",
        /// Of the waiting, for other time in MPI.
        waiting_other_s: Vec<f64> = "Vec<f64>",
        /// Of the waiting, for what is not known.
        waiting_unknown_s: Vec<f64> = "Vec<f64>",
        /// Seconds that could be avoided by a better placement.
        mapping_s: Vec<f64> = "Vec<f64>",
        /// Seconds that could be avoided by balancing the load.
        pattern_s: Vec<f64> = "Vec<f64>",
        /// Seconds that could be avoided without network contention.
        background_s: Vec<f64> = "Vec<f64>",
        /// Seconds that could be avoided with enough CPUs.
        cpu_s: Vec<f64> = "Vec<f64>",
    }
}
