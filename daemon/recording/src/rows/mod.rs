//! The tables of a recording, one file each: names and types of their columns, and the order of their rows.

mod call;
mod message;
mod scheduling;
mod share;
mod small;
mod starts;
mod summary;
mod window;

pub use share::ShareRow;
pub use small::FunctionName;
pub use starts::StartRow;
pub use summary::{
    DensityRow, DurationRow, FunctionRow, MessageSizeRow, PairRow, RankRow, SiteRow, WindowSumRow,
};
pub use window::WindowRow;
