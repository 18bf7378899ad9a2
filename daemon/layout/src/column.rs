//! Operations on the values of a block of ranks.

use crate::function::{Binary, Unary, greatest, least, remainder, round_half_up, sign};
use crate::inputs::Values;

/// Columns that are not in use. They all have the length of a block.
#[derive(Debug)]
pub(crate) struct Pool {
    length: usize,
    free: Vec<Vec<f64>>,
}

impl Pool {
    pub(crate) fn new() -> Self {
        Self { length: 0, free: Vec::new() }
    }

    /// Columns have this length from now on.
    pub(crate) fn set_length(&mut self, length: usize) {
        self.length = length;
    }

    pub(crate) fn fill(&mut self, values: impl Iterator<Item = f64>) -> Values {
        let mut column = self.free.pop().unwrap_or_default();
        column.clear();
        column.extend(values.take(self.length));
        column.resize(self.length, 0.0);
        Values::PerRank(column)
    }

    pub(crate) fn copy(&mut self, values: &Values) -> Values {
        match values {
            Values::Same(value) => Values::Same(*value),
            Values::PerRank(values) => self.fill(values.iter().copied()),
        }
    }

    pub(crate) fn give_back(&mut self, values: Values) {
        if let Values::PerRank(column) = values {
            self.free.push(column);
        }
    }
}

fn map(mut values: Values, function: impl Fn(f64) -> f64) -> Values {
    match &mut values {
        Values::Same(value) => *value = function(*value),
        Values::PerRank(values) => values.iter_mut().for_each(|value| *value = function(*value)),
    }
    values
}

fn zip(one: Values, other: Values, pool: &mut Pool, function: impl Fn(f64, f64) -> f64) -> Values {
    match (one, other) {
        (Values::PerRank(mut left), Values::PerRank(right)) => {
            left.iter_mut().zip(&right).for_each(|(left, right)| *left = function(*left, *right));
            pool.give_back(Values::PerRank(right));
            Values::PerRank(left)
        }
        (left, Values::Same(right)) => map(left, |left| function(left, right)),
        (Values::Same(left), right) => map(right, |right| function(left, right)),
    }
}

pub(crate) fn apply_one(operation: Unary, values: Values) -> Values {
    match operation {
        Unary::Negate => map(values, |value| -value),
        Unary::Sqrt => map(values, f64::sqrt),
        Unary::Floor => map(values, f64::floor),
        Unary::Ceil => map(values, f64::ceil),
        Unary::Round => map(values, round_half_up),
        Unary::Abs => map(values, f64::abs),
        Unary::Sign => map(values, sign),
        Unary::Sin => map(values, f64::sin),
        Unary::Cos => map(values, f64::cos),
        Unary::Tan => map(values, f64::tan),
        Unary::Asin => map(values, f64::asin),
        Unary::Acos => map(values, f64::acos),
        Unary::Atan => map(values, f64::atan),
        Unary::Sinh => map(values, f64::sinh),
        Unary::Cosh => map(values, f64::cosh),
        Unary::Tanh => map(values, f64::tanh),
        Unary::Asinh => map(values, f64::asinh),
        Unary::Acosh => map(values, f64::acosh),
        Unary::Atanh => map(values, f64::atanh),
        Unary::Exp => map(values, f64::exp),
        Unary::Ln => map(values, f64::ln),
        Unary::Log2 => map(values, f64::log2),
        Unary::Log10 => map(values, f64::log10),
    }
}

pub(crate) fn apply_two(operation: Binary, one: Values, other: Values, pool: &mut Pool) -> Values {
    match operation {
        Binary::Add => zip(one, other, pool, |one, other| one + other),
        Binary::Subtract => zip(one, other, pool, |one, other| one - other),
        Binary::Multiply => zip(one, other, pool, |one, other| one * other),
        Binary::Divide => zip(one, other, pool, |one, other| one / other),
        Binary::Power => zip(one, other, pool, f64::powf),
        Binary::Modulo => zip(one, other, pool, remainder),
        Binary::Atan2 => zip(one, other, pool, f64::atan2),
        Binary::LogToBase => zip(one, other, pool, |value, base| value.ln() / base.ln()),
        Binary::Min => zip(one, other, pool, least),
        Binary::Max => zip(one, other, pool, greatest),
    }
}

/// `one` where the condition is not 0, `other` where it is.
pub(crate) fn apply_if(condition: Values, one: Values, other: Values, pool: &mut Pool) -> Values {
    let chosen = match &condition {
        Values::Same(condition) => pool.copy(if *condition != 0.0 { &one } else { &other }),
        Values::PerRank(conditions) => {
            let choose = |(rank, condition): (usize, &f64)| {
                if *condition != 0.0 { one.of_rank(rank) } else { other.of_rank(rank) }
            };
            pool.fill(conditions.iter().enumerate().map(choose))
        }
    };
    [condition, one, other].into_iter().for_each(|values| pool.give_back(values));
    chosen
}
