//! The layout language of 3D views: a text file says where each rank is drawn.
//!
//! In go the bytes of a layout file and the values of a run ([`Inputs`]); out come layouts, errors and warnings with line and
//! column ([`LayoutFile`]), and for a layout the points of all ranks ([`Points`]). It must never do I/O, read a clock, start a
//! thread or panic, whatever the bytes are.
//!
//! # The language
//!
//! ```text
//! BEGIN_VIZ=sphere
//! rootRanks=sqrt(maxRank)
//! theta=2*pi() /
//!     rootRanks*mod(rank, rootRanks)     # an expression that ends in an operator goes on
//! phi=pi()/rootRanks*floor(rank/rootRanks)
//! x=cos(theta)*sin(phi)*100, y=sin(theta)*sin(phi)*100
//! z=cos(phi)*100
//! END_VIZ
//! ```
//!
//! `tests/language.rs` has an example of each rule. Where ParaProf decides a question, its answer holds:
//!
//! - `^` binds tightest, then `*` and `/`, then `+` and `-`. All of them associate left: `2^3^2` is 64.
//! - A sign belongs to the number, name, call or parenthesis after it and binds tighter than `^`: `-2^2` is 4, `2^-1` is 0.5.
//!   ParaProf refuses a sign before a parenthesis and a second sign; here both are allowed.
//! - There are no comparisons. `if(condition, a, b)` is `a` where the condition is not 0. It evaluates both.
//! - `log(x)` is the logarithm to base 10 and `log(x, base)` to any base; `lg` has base 2, `ln` base e.
//! - `mod` has the sign of its first argument. `round` rounds a half up: `round(-10.5)` is -10. `min`, `max`, `sum` and `avg`
//!   take any number of arguments, and are NaN when one of them is.
//! - `metadata(key)` takes all text up to the closing parenthesis as the key, without quotes.
//! - A layout that sets `x` has one point per rank. Otherwise points are numbered `x0`, `x1`, ... without a gap. A point
//!   needs all three coordinates; without a color of its own it has `color`.
//! - Given names may be set again. Later statements see the new value.
//! - `TOPOLOGY_MAP=name`, `TOPOLOGY_EQUATION=name` and `END_TOPOLOGY` are the older names of `BEGIN_VIZ=name` and `END_VIZ`.
//!
//! ParaProf leaves these open, and here they are so:
//!
//! - `restrictDim` counts when it is not 0 for rank 0. Each axis then goes from 0 to 1; an axis on which all points are equal
//!   is 0.
//! - `rand()` depends on the name of the layout, the rank and the position of the call below `BEGIN_VIZ`, so pictures repeat.
//! - Names of layouts and keys of metadata ignore case as all names do.
//! - A layout with an error is skipped; the others of its file are read. Of two layouts with one name the first counts.

mod blocks;
mod bundled;
mod column;
mod error;
mod evaluate;
mod file;
mod function;
mod given;
mod inputs;
mod layout;
mod limits;
mod metadata;
mod nearest;
mod parser;
mod placement;
mod points;
mod scope;
mod site;
mod texts;
mod token;
mod warning;

pub use bundled::{BUNDLED, BundledLayout, bundled_layout};
pub use error::{LayoutError, Position, SyntaxError};
pub use evaluate::TooManyPoints;
pub use file::LayoutFile;
pub use inputs::{
    CARTESIAN_COORDINATES, CARTESIAN_SIZES, EVENTS, HOST_COUNT, HOST_INDEX, Inputs, SLOT, Values,
};
pub use layout::Layout;
pub use limits::{
    MOST_DEPTH, MOST_FILE_BYTES, MOST_LAYOUTS, MOST_NAME_BYTES, MOST_OPERATIONS, MOST_POINTS,
    MOST_POINTS_PER_RANK, MOST_STATEMENTS,
};
pub use placement::RankPlacement;
pub use points::Points;
pub use site::{MOST_SITE_BYTES, SiteDescription, SiteError};
pub use texts::{layout_texts, with_layouts, without_layout};
pub use warning::{LayoutWarning, WarningKind};
