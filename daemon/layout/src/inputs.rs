//! What a run gives to a layout.

use crate::given::{EventValue, Given};
use std::collections::HashMap;

/// How many events a layout can ask for.
pub const EVENTS: usize = 4;

/// The key of the number of a rank's host, from 0.
pub const HOST_INDEX: &str = "host";
/// The key of the number of hosts.
pub const HOST_COUNT: &str = "hosts";
/// The key of the number of a rank among those of its host, from 0.
pub const SLOT: &str = "slot";
/// The keys of a rank's coordinates in the Cartesian grid of the program.
pub const CARTESIAN_COORDINATES: [&str; 3] = ["cart_x", "cart_y", "cart_z"];
/// The keys of the sizes of that grid.
pub const CARTESIAN_SIZES: [&str; 3] = ["cart_size_x", "cart_size_y", "cart_size_z"];

/// A value of every rank.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// One for all.
    Same(f64),
    /// One for each; ranks beyond the end have 0.
    PerRank(Vec<f64>),
}

impl Values {
    /// The value of a rank.
    pub fn of_rank(&self, rank: usize) -> f64 {
        match self {
            Self::Same(value) => *value,
            Self::PerRank(values) => values.get(rank).copied().unwrap_or(0.0),
        }
    }
}

/// The values of an event, and what is known of all of them.
#[derive(Debug, Clone)]
struct Event {
    values: Values,
    least: f64,
    most: f64,
    mean: f64,
}

/// The values of a run. What is not set is 0.
#[derive(Debug, Clone)]
pub struct Inputs {
    ranks: usize,
    node: Values,
    context: Values,
    thread: Values,
    color: Values,
    events: [Option<Event>; EVENTS],
    axis_sizes: [f64; 3],
    /// By keys in lower case.
    metadata: HashMap<String, Values>,
}

impl Inputs {
    /// A run of a number of ranks. The axes of its block are those of the smallest cube that holds them.
    pub fn new(ranks: usize) -> Self {
        let edge = (1_u32..).find(|edge| (*edge as usize).saturating_pow(3) >= ranks).unwrap_or(1);
        let zero = || Values::Same(0.0);
        Self {
            ranks,
            node: zero(),
            context: zero(),
            thread: zero(),
            color: zero(),
            events: Default::default(),
            axis_sizes: [f64::from(edge); 3],
            metadata: HashMap::new(),
        }
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// The number of the node of each rank.
    pub fn set_node(&mut self, values: Values) {
        self.node = values;
    }

    /// The number of the context of each rank.
    pub fn set_context(&mut self, values: Values) {
        self.context = values;
    }

    /// The number of the thread of each rank.
    pub fn set_thread(&mut self, values: Values) {
        self.thread = values;
    }

    /// The color of each rank, where a layout sets none.
    pub fn set_color(&mut self, values: Values) {
        self.color = values;
    }

    /// The values of an event; numbers beyond the last event are ignored.
    pub fn set_event(&mut self, number: usize, values: Values) {
        let (mut least, mut most, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        for value in (0..self.ranks).map(|rank| values.of_rank(rank)) {
            least = least.min(value);
            most = most.max(value);
            sum += value;
        }
        if let Some(event) = self.events.get_mut(number) {
            *event = Some(Event { values, least, most, mean: sum / self.ranks as f64 });
        }
    }

    /// The sizes of the block that a view fills with ranks.
    pub fn set_axis_sizes(&mut self, sizes: [f64; 3]) {
        self.axis_sizes = sizes;
    }

    /// Metadata by key. The case of keys does not matter.
    pub fn set_metadata(&mut self, key: &str, values: Values) {
        self.metadata.insert(key.to_lowercase(), values);
    }

    /// Metadata by key in lower case.
    pub fn metadata(&self, key: &str) -> Option<&Values> {
        self.metadata.get(key)
    }

    pub(crate) fn has_event(&self, number: usize) -> bool {
        self.events.get(number).is_some_and(Option::is_some)
    }

    /// The values of a given name, but for the rank itself, which differs in every row.
    pub(crate) fn given(&self, given: Given) -> GivenValues<'_> {
        let same = GivenValues::Same;
        match given {
            Given::Rank => GivenValues::RankItself,
            Given::RankCount => same(self.ranks as f64),
            Given::Node => GivenValues::from_values(&self.node),
            Given::Context => GivenValues::from_values(&self.context),
            Given::Thread => GivenValues::from_values(&self.thread),
            Given::Color => GivenValues::from_values(&self.color),
            Given::AxisSize(axis) => same(self.axis_sizes.get(axis).copied().unwrap_or(0.0)),
            Given::Event(number, value) => match self.events.get(number).and_then(Option::as_ref) {
                None => same(0.0),
                Some(event) => match value {
                    EventValue::Value => GivenValues::from_values(&event.values),
                    EventValue::Least => same(event.least),
                    EventValue::Most => same(event.most),
                    EventValue::Mean => same(event.mean),
                },
            },
        }
    }
}

/// Where the values of a given name come from.
pub(crate) enum GivenValues<'a> {
    RankItself,
    Same(f64),
    PerRank(&'a [f64]),
}

impl<'a> GivenValues<'a> {
    pub(crate) fn from_values(values: &'a Values) -> Self {
        match values {
            Values::Same(value) => Self::Same(*value),
            Values::PerRank(values) => Self::PerRank(values),
        }
    }
}
