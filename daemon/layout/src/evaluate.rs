//! Evaluates a layout for all ranks of a run.
//!
//! Each operation works on a block of ranks at a time, small enough that its columns stay in the processor's cache. Values
//! that are the same for all ranks are computed once for each block.

use crate::column::{Pool, apply_if, apply_one, apply_two};
use crate::inputs::{GivenValues, Inputs, Values};
use crate::layout::{Layout, Operation, Source};
use crate::limits::MOST_POINTS;
use crate::points::Points;
use crate::warning::{LayoutWarning, WarningKind};
use thiserror::Error;

const BLOCK_RANKS: usize = 512;

/// A run has too many ranks for a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{ranks} ranks with {points_per_rank} points each are more than {MOST_POINTS} points")]
pub struct TooManyPoints {
    ranks: usize,
    points_per_rank: usize,
}

impl Layout {
    /// The points of all ranks.
    pub fn evaluate(&self, inputs: &Inputs) -> Result<Points, TooManyPoints> {
        let (ranks, points_per_rank) = (inputs.ranks(), self.points_per_rank());
        let count = ranks.checked_mul(points_per_rank).filter(|count| *count <= MOST_POINTS);
        let count = count.ok_or(TooManyPoints { ranks, points_per_rank })?;
        let zeros = || vec![0.0; count];
        let mut points = Points {
            points_per_rank,
            x: zeros(),
            y: zeros(),
            z: zeros(),
            color: zeros(),
            warnings: self.missing_inputs(inputs),
        };
        let mut evaluation = Evaluation::new(self, inputs);
        let mut is_restricted = false;
        for first in (0..ranks).step_by(BLOCK_RANKS) {
            evaluation.run(first, BLOCK_RANKS.min(ranks - first));
            if first == 0 {
                let restrict = self.restrict.map(|source| evaluation.load(source).of_rank(0));
                is_restricted = restrict.is_some_and(|value| value != 0.0 && !value.is_nan());
            }
            evaluation.write(&mut points);
        }
        if is_restricted {
            points.normalize();
        }
        let not_finite = points.count_not_finite();
        if not_finite > 0 {
            let kind = WarningKind::NotFinite { points: not_finite, of: count };
            points.warnings.push(LayoutWarning { position: self.position, kind });
        }
        Ok(points)
    }

    /// Events and metadata that are asked for and that the run has not.
    fn missing_inputs(&self, inputs: &Inputs) -> Vec<LayoutWarning> {
        let event = |(number, position): (usize, &Option<_>)| {
            let position = position.filter(|_| !inputs.has_event(number))?;
            Some(LayoutWarning { position, kind: WarningKind::MissingEvent { number } })
        };
        let events = self.events.iter().enumerate().filter_map(event);
        let missing =
            self.metadata.iter().filter(|asked| inputs.metadata(&asked.key.to_lowercase()).is_none());
        let metadata = missing.map(|asked| LayoutWarning {
            position: asked.position,
            kind: WarningKind::MissingMetadata { key: asked.key.clone() },
        });
        let mut warnings: Vec<LayoutWarning> = events.chain(metadata).collect();
        warnings.sort_by_key(|warning| warning.position);
        warnings
    }
}

/// The evaluation of a layout, a block of ranks at a time.
struct Evaluation<'a> {
    layout: &'a Layout,
    inputs: &'a Inputs,
    metadata: Vec<Option<&'a Values>>,
    /// The ranks of the block.
    first: usize,
    length: usize,
    stack: Vec<Values>,
    variables: Vec<Values>,
    pool: Pool,
}

impl<'a> Evaluation<'a> {
    fn new(layout: &'a Layout, inputs: &'a Inputs) -> Self {
        let metadata = layout.metadata.iter().map(|asked| inputs.metadata(&asked.key.to_lowercase()));
        Self {
            layout,
            inputs,
            metadata: metadata.collect(),
            first: 0,
            length: 0,
            stack: Vec::new(),
            variables: vec![Values::Same(0.0); layout.variable_count],
            pool: Pool::new(),
        }
    }

    fn run(&mut self, first: usize, length: usize) {
        (self.first, self.length) = (first, length);
        self.pool.set_length(length);
        let layout = self.layout;
        let mut begin = 0;
        for statement in &layout.statements {
            let operations = layout.operations.get(begin..statement.end).unwrap_or_default();
            operations.iter().for_each(|operation| self.apply(*operation));
            begin = statement.end;
            let result = self.pop();
            if let Some(variable) = self.variables.get_mut(statement.variable) {
                self.pool.give_back(std::mem::replace(variable, result));
            }
        }
    }

    fn apply(&mut self, operation: Operation) {
        let result = match operation {
            Operation::Number(value) => Values::Same(value),
            Operation::Load(source) => self.load(source),
            Operation::Metadata(number) => match self.metadata.get(number).copied().flatten() {
                None => Values::Same(0.0),
                Some(values) => self.load_given(&GivenValues::from_values(values)),
            },
            Operation::Random(seed) => {
                let ranks = self.first..;
                self.pool.fill(ranks.map(|rank| random(seed, rank as u64)))
            }
            Operation::One(operation) => {
                let values = self.pop();
                apply_one(operation, values)
            }
            Operation::Two(operation) => {
                let other = self.pop();
                let one = self.pop();
                apply_two(operation, one, other, &mut self.pool)
            }
            Operation::If => {
                let other = self.pop();
                let one = self.pop();
                let condition = self.pop();
                apply_if(condition, one, other, &mut self.pool)
            }
        };
        self.stack.push(result);
    }

    /// The parser leaves an operand for every operation, so the stack is never empty here.
    fn pop(&mut self) -> Values {
        self.stack.pop().unwrap_or(Values::Same(f64::NAN))
    }

    fn load(&mut self, source: Source) -> Values {
        match source {
            Source::Variable(number) => match self.variables.get(number) {
                None => Values::Same(f64::NAN),
                Some(values) => self.pool.copy(values),
            },
            Source::Given(given) => {
                let inputs = self.inputs;
                self.load_given(&inputs.given(given))
            }
        }
    }

    fn load_given(&mut self, values: &GivenValues<'_>) -> Values {
        match values {
            GivenValues::Same(value) => Values::Same(*value),
            GivenValues::RankItself => {
                let ranks = self.first..;
                self.pool.fill(ranks.map(|rank| rank as f64))
            }
            GivenValues::PerRank(values) => self.pool.fill(values.iter().skip(self.first).copied()),
        }
    }

    fn write(&mut self, points: &mut Points) {
        let layout = self.layout;
        for (number, sources) in layout.points.iter().enumerate() {
            let begin = self.first * layout.points.len() + number;
            let [x, y, z] = sources.coordinates;
            let columns = [&mut points.x, &mut points.y, &mut points.z, &mut points.color];
            for (column, source) in columns.into_iter().zip([x, y, z, sources.color]) {
                let values = self.load(source);
                let targets = column.iter_mut().skip(begin).step_by(layout.points.len());
                for (rank, target) in targets.take(self.length).enumerate() {
                    *target = values.of_rank(rank);
                }
                self.pool.give_back(values);
            }
        }
    }
}

/// From 0 to 1, the same for the same seed and rank: SplitMix64.
fn random(seed: u64, rank: u64) -> f64 {
    const TWO_TO_53: f64 = 9_007_199_254_740_992.0;
    let mut bits = seed.wrapping_add(rank.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 11) as f64 / TWO_TO_53
}
