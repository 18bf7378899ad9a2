//! From the tokens of a block to a layout.
//!
//! Expressions are turned into operations at once, without a tree: only parentheses and calls recurse, and
//! [`MOST_DEPTH`](crate::MOST_DEPTH) bounds them.

use crate::blocks::Block;
use crate::error::{LayoutError, Position, SyntaxError};
use crate::function::{Binary, FUNCTIONS, Function, METADATA, Unary};
use crate::given::Given;
use crate::inputs::EVENTS;
use crate::layout::{Layout, MetadataUse, Operation, Source, Statement};
use crate::limits::{MOST_DEPTH, MOST_OPERATIONS, MOST_STATEMENTS};
use crate::nearest::nearest_name;
use crate::scope::Scope;
use crate::token::{Token, TokenKind, shown};
use std::collections::HashMap;

type Result<T> = std::result::Result<T, LayoutError>;

/// Binary operators by how tightly they bind, the loosest first.
const LEVELS: [&[(char, Binary)]; 3] = [
    &[('+', Binary::Add), ('-', Binary::Subtract)],
    &[('*', Binary::Multiply), ('/', Binary::Divide)],
    &[('^', Binary::Power)],
];

const OPERAND: &str = "a number, a name or `(`";

/// Parses a layout; the first error ends it.
pub(crate) fn parse_layout(block: &Block<'_>) -> Result<Layout> {
    let end = Token { kind: TokenKind::End, position: block.position };
    let mut parser = Parser {
        tokens: &block.tokens,
        next: 0,
        end,
        begin: block.position,
        name_hash: hash_name(block.name),
        scope: Scope::new(&block.tokens),
        open: Vec::new(),
        operations: Vec::new(),
        metadata: Vec::new(),
        metadata_numbers: HashMap::new(),
        events: [None; EVENTS],
    };
    let statements = parser.statements()?;
    let Parser { scope, operations, metadata, events, .. } = parser;
    let points = scope.points(block.position)?;
    Ok(Layout {
        name: block.name.to_owned(),
        position: block.position,
        warnings: scope.unused_points(&points),
        variable_count: scope.variable_count(),
        restrict: scope.find("restrictDim"),
        points,
        operations,
        statements,
        metadata,
        events,
    })
}

/// FNV-1a: random numbers stay the same from build to build.
fn hash_name(name: &str) -> u64 {
    let bytes = name.to_lowercase().into_bytes();
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    next: usize,
    /// What follows the last token.
    end: Token<'a>,
    begin: Position,
    name_hash: u64,
    scope: Scope,
    /// The parentheses that are open. Within them the end of a line counts as a space.
    open: Vec<Position>,
    operations: Vec<Operation>,
    metadata: Vec<MetadataUse>,
    /// By keys in lower case.
    metadata_numbers: HashMap<String, usize>,
    events: [Option<Position>; EVENTS],
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Token<'a> {
        if !self.open.is_empty() {
            self.skip_line_ends();
        }
        self.tokens.get(self.next).copied().unwrap_or(self.end)
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.peek();
        self.next += 1;
        token
    }

    fn take_sign(&mut self, sign: char) -> bool {
        let is_next = self.peek().kind == TokenKind::Sign(sign);
        self.next += usize::from(is_next);
        is_next
    }

    fn skip_line_ends(&mut self) {
        while self.tokens.get(self.next).is_some_and(|token| token.kind == TokenKind::LineEnd) {
            self.next += 1;
        }
    }

    fn statements(&mut self) -> Result<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            self.skip_line_ends();
            let token = self.take();
            match token.kind {
                TokenKind::End => return Ok(statements),
                TokenKind::Sign(',') => continue,
                TokenKind::Name(_) if statements.len() == MOST_STATEMENTS => {
                    return Err(SyntaxError::TooManyStatements.located(token.position));
                }
                TokenKind::Name(name) => statements.push(self.statement(name, token.position)?),
                _ => return Err(expected("a name or END_VIZ", token)),
            }
            let behind = self.peek();
            if !matches!(behind.kind, TokenKind::LineEnd | TokenKind::Sign(',') | TokenKind::End) {
                return Err(expected("an operator, `,` or the end of the line", behind));
            }
        }
    }

    fn statement(&mut self, name: &str, position: Position) -> Result<Statement> {
        if !self.take_sign('=') {
            return Err(expected("`=`", self.peek()));
        }
        self.skip_line_ends();
        self.expression()?;
        Ok(Statement { variable: self.scope.set(name, position), end: self.operations.len() })
    }

    fn expression(&mut self) -> Result<()> {
        self.operators(0)
    }

    /// Operands of a level with the operators between them, from left to right.
    fn operators(&mut self, level: usize) -> Result<()> {
        let Some(operators) = LEVELS.get(level) else { return self.signed_term() };
        self.operators(level + 1)?;
        loop {
            let token = self.peek();
            let operator = operators.iter().find(|(sign, _)| token.kind == TokenKind::Sign(*sign));
            let Some((_, operator)) = operator else { return Ok(()) };
            self.take();
            self.skip_line_ends();
            self.operators(level + 1)?;
            self.push(Operation::Two(*operator), token.position)?;
        }
    }

    fn signed_term(&mut self) -> Result<()> {
        let mut negations = 0_usize;
        while let TokenKind::Sign(sign @ ('+' | '-')) = self.peek().kind {
            self.take();
            self.skip_line_ends();
            negations += usize::from(sign == '-');
        }
        let position = self.peek().position;
        self.term()?;
        if negations % 2 == 1 { self.push(Operation::One(Unary::Negate), position) } else { Ok(()) }
    }

    fn term(&mut self) -> Result<()> {
        let token = self.take();
        match token.kind {
            TokenKind::Number(value) => self.push(Operation::Number(value), token.position),
            TokenKind::Metadata(key) => self.metadata(key, token.position),
            TokenKind::Sign('(') => {
                self.enter(token.position)?;
                self.expression()?;
                self.leave()
            }
            TokenKind::Name(name) if self.take_sign('(') => self.call(name, token.position),
            // The next statement: this one ended in an operator.
            TokenKind::Name(name) if self.peek().kind == TokenKind::Sign('=') => {
                let found = format!("`{name}=`");
                Err(SyntaxError::Expected { expected: OPERAND, found }.located(token.position))
            }
            TokenKind::Name(name) => self.load(name, token.position),
            _ => Err(expected(OPERAND, token)),
        }
    }

    fn load(&mut self, name: &str, position: Position) -> Result<()> {
        let functions = || FUNCTIONS.iter().map(|(name, _)| *name).chain([METADATA]);
        let source =
            self.scope.find(name).ok_or_else(|| self.scope.unknown(name, functions()).located(position))?;
        if let Source::Given(Given::Event(number, _)) = source
            && let Some(first) = self.events.get_mut(number)
        {
            first.get_or_insert(position);
        }
        self.push(Operation::Load(source), position)
    }

    fn metadata(&mut self, key: &str, position: Position) -> Result<()> {
        let number = *self.metadata_numbers.entry(key.to_lowercase()).or_insert(self.metadata.len());
        if number == self.metadata.len() {
            self.metadata.push(MetadataUse { key: key.to_owned(), position });
        }
        self.push(Operation::Metadata(number), position)
    }

    /// Arguments and the closing parenthesis; the opening one was taken.
    fn call(&mut self, name: &str, position: Position) -> Result<()> {
        if name.eq_ignore_ascii_case(METADATA) {
            let found = "the end of the line".to_owned();
            return Err(
                SyntaxError::Expected { expected: "`)` behind the key of metadata", found }.located(position)
            );
        }
        let found = FUNCTIONS.iter().find(|(function, _)| function.eq_ignore_ascii_case(name));
        let Some((function_name, function)) = found.copied() else {
            let functions = FUNCTIONS.iter().map(|(function, _)| *function).chain([METADATA]);
            let nearest = nearest_name(name, functions).map(str::to_owned);
            return Err(SyntaxError::UnknownFunction { name: shown(name), nearest }.located(position));
        };
        self.enter(position)?;
        let mut count = 0;
        if self.peek().kind != TokenKind::Sign(')') {
            loop {
                self.expression()?;
                count += 1;
                if let (Function::Fold(operation), 2..) = (function, count) {
                    self.push(Operation::Two(operation), position)?;
                } else if let (Function::Average, 2..) = (function, count) {
                    self.push(Operation::Two(Binary::Add), position)?;
                }
                if !self.take_sign(',') {
                    break;
                }
            }
        }
        self.leave()?;
        let check = function.check_count(count);
        check.map_err(|expected| {
            SyntaxError::Arguments { function: function_name, expected, found: count }.located(position)
        })?;
        self.finish_call(function, count, position)
    }

    fn finish_call(&mut self, function: Function, count: usize, position: Position) -> Result<()> {
        match function {
            Function::Constant(value) => self.push(Operation::Number(value), position),
            Function::Random => self.push(Operation::Random(self.seed(position)), position),
            Function::One(operation) => self.push(Operation::One(operation), position),
            Function::Two(operation) => self.push(Operation::Two(operation), position),
            Function::Log if count == 1 => self.push(Operation::One(Unary::Log10), position),
            Function::Log => self.push(Operation::Two(Binary::LogToBase), position),
            Function::Fold(_) => Ok(()),
            Function::Average => {
                self.push(Operation::Number(count as f64), position)?;
                self.push(Operation::Two(Binary::Divide), position)
            }
            Function::If => self.push(Operation::If, position),
        }
    }

    /// By the name of the layout and the place in it, so a layout that moves within its file keeps its picture.
    fn seed(&self, position: Position) -> u64 {
        let line = u64::from(position.line.saturating_sub(self.begin.line));
        self.name_hash ^ (line << 32 | u64::from(position.column))
    }

    fn enter(&mut self, position: Position) -> Result<()> {
        if self.open.len() >= MOST_DEPTH as usize {
            return Err(SyntaxError::TooDeep.located(position));
        }
        self.open.push(position);
        Ok(())
    }

    fn leave(&mut self) -> Result<()> {
        let token = self.take();
        match (token.kind, self.open.pop()) {
            (TokenKind::Sign(')'), _) | (_, None) => Ok(()),
            (_, Some(open)) => {
                Err(SyntaxError::Unclosed { open, found: token.describe() }.located(token.position))
            }
        }
    }

    fn push(&mut self, operation: Operation, position: Position) -> Result<()> {
        if self.operations.len() == MOST_OPERATIONS {
            return Err(SyntaxError::TooManyOperations.located(position));
        }
        self.operations.push(operation);
        Ok(())
    }
}

fn expected(expected: &'static str, found: Token<'_>) -> LayoutError {
    SyntaxError::Expected { expected, found: found.describe() }.located(found.position)
}
