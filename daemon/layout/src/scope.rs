//! The names that an expression may use, and the points that they make up.

use crate::error::{LayoutError, Position, SyntaxError};
use crate::given::GIVEN_NAMES;
use crate::layout::{PointSources, Source};
use crate::limits::MOST_POINTS_PER_RANK;
use crate::nearest::nearest_name;
use crate::token::{Token, TokenKind, shown};
use crate::warning::{LayoutWarning, WarningKind};
use std::collections::HashMap;

/// A name that a statement sets.
#[derive(Debug)]
struct Variable {
    /// As first written.
    name: String,
    /// Where it is first set.
    position: Position,
}

#[derive(Debug)]
pub(crate) struct Scope {
    /// By names in lower case.
    sources: HashMap<String, Source>,
    variables: Vec<Variable>,
    /// The first line that sets a name, read ahead.
    lines: HashMap<String, u32>,
}

impl Scope {
    pub(crate) fn new(tokens: &[Token<'_>]) -> Self {
        let given = GIVEN_NAMES.iter().map(|(name, given)| (name.to_lowercase(), Source::Given(*given)));
        let mut lines = HashMap::new();
        for pair in tokens.windows(2) {
            if let [Token { kind: TokenKind::Name(name), position }, next] = pair
                && next.kind == TokenKind::Sign('=')
            {
                lines.entry(name.to_lowercase()).or_insert(position.line);
            }
        }
        Self { sources: given.collect(), variables: Vec::new(), lines }
    }

    /// The number of the variable with this name, which is set from now on.
    pub(crate) fn set(&mut self, name: &str, position: Position) -> usize {
        let key = name.to_lowercase();
        if let Some(Source::Variable(number)) = self.sources.get(&key) {
            return *number;
        }
        let number = self.variables.len();
        self.sources.insert(key, Source::Variable(number));
        self.variables.push(Variable { name: name.to_owned(), position });
        number
    }

    pub(crate) fn variable_count(&self) -> usize {
        self.variables.len()
    }

    pub(crate) fn find(&self, name: &str) -> Option<Source> {
        self.sources.get(&name.to_lowercase()).copied()
    }

    /// What to say of a name that is not known.
    pub(crate) fn unknown<'a>(&'a self, name: &str, functions: impl Iterator<Item = &'a str>) -> SyntaxError {
        if let Some(line) = self.lines.get(&name.to_lowercase()) {
            return SyntaxError::UsedBeforeSet { name: name.to_owned(), line: *line };
        }
        let functions: Vec<&str> = functions.collect();
        let function = functions.iter().find(|function| function.eq_ignore_ascii_case(name));
        let nearest = function.map(|function| format!("{function}()")).or_else(|| {
            let given = GIVEN_NAMES.iter().map(|(name, _)| *name);
            let set = self.variables.iter().map(|variable| variable.name.as_str());
            nearest_name(name, set.chain(given)).map(str::to_owned)
        });
        SyntaxError::UnknownName { name: shown(name), nearest }
    }

    /// The points of a rank: one where `x` is set, else those with numbers. `begin` is where the layout begins.
    pub(crate) fn points(&self, begin: Position) -> Result<Vec<PointSources>, LayoutError> {
        if let Some(point) = self.point("")? {
            return Ok(vec![point]);
        }
        let mut points = Vec::new();
        while let Some(point) = self.point(&points.len().to_string())? {
            if points.len() == MOST_POINTS_PER_RANK {
                return Err(SyntaxError::TooManyPointsPerRank.located(begin));
            }
            points.push(point);
        }
        if points.is_empty() { Err(self.no_point(begin)) } else { Ok(points) }
    }

    /// The point whose names end so, if its `x` is set.
    fn point(&self, suffix: &str) -> Result<Option<PointSources>, LayoutError> {
        let Some(x) = self.find_variable(&format!("x{suffix}")) else { return Ok(None) };
        let other = |axis: &str| {
            let name = format!("{axis}{suffix}");
            self.find_variable(&name).ok_or_else(|| self.missing(format!("x{suffix}"), name))
        };
        let coordinates = [x, other("y")?, other("z")?].map(Source::Variable);
        let color = self.find(&format!("color{suffix}")).or_else(|| self.find("color"));
        Ok(color.map(|color| PointSources { coordinates, color }))
    }

    /// Why there is no point at all.
    fn no_point(&self, begin: Position) -> LayoutError {
        for suffix in ["", "0"] {
            for axis in ["y", "z"] {
                let name = format!("{axis}{suffix}");
                if self.find_variable(&name).is_some() {
                    return self.missing(name, format!("x{suffix}"));
                }
            }
        }
        SyntaxError::NoPoint.located(begin)
    }

    fn missing(&self, present: String, missing: String) -> LayoutError {
        let variable = self.find_variable(&present).and_then(|number| self.variables.get(number));
        let position = variable.map_or(Position { line: 1, column: 1 }, |variable| variable.position);
        SyntaxError::MissingCoordinate { present, missing }.located(position)
    }

    fn find_variable(&self, name: &str) -> Option<usize> {
        match self.find(name) {
            Some(Source::Variable(number)) => Some(number),
            _ => None,
        }
    }

    /// Complete points with numbers that `points` leaves out.
    pub(crate) fn unused_points(&self, points: &[PointSources]) -> Vec<LayoutWarning> {
        let is_single = self.find_variable("x").is_some();
        let unused = |variable: &Variable| {
            let suffix = variable.name.strip_prefix(['x', 'X'])?;
            let number: usize = suffix.parse().ok()?;
            let is_complete = ["y", "z"].iter().all(|axis| self.find(&format!("{axis}{suffix}")).is_some());
            let is_drawn = !is_single && number < points.len();
            let warning =
                LayoutWarning { position: variable.position, kind: WarningKind::UnusedPoint { number } };
            (is_complete && !is_drawn).then_some(warning)
        };
        self.variables.iter().filter_map(unused).collect()
    }
}
