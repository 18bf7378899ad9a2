//! The blocks of a file: `BEGIN_VIZ=name` to `END_VIZ`.

use crate::error::{LayoutError, Position, SyntaxError};
use crate::token::{Token, TokenKind, tokenize};

/// Each may be followed by `=name`.
const BEGINNINGS: [&str; 3] = ["BEGIN_VIZ", "TOPOLOGY_MAP", "TOPOLOGY_EQUATION"];
const ENDINGS: [&str; 2] = ["END_VIZ", "END_TOPOLOGY"];

/// A layout that is not parsed yet.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    pub(crate) name: &'a str,
    pub(crate) position: Position,
    pub(crate) tokens: Vec<Token<'a>>,
}

enum Line<'a> {
    Begin(&'a str),
    End,
    /// Begins a layout without a name.
    BeginWithoutName,
    Empty,
    Other,
}

/// Cuts a file into blocks. What stands between blocks is reported once for each stretch of lines.
pub(crate) fn read_blocks<'a>(text: &'a str, errors: &mut Vec<LayoutError>) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'a>> = None;
    let mut is_skipping = false;
    for (number, line) in (1..).zip(text.lines()) {
        let position = first_position(line, number);
        match (classify(line), &mut open) {
            (Line::Empty, None) => continue,
            (Line::End, Some(_)) => blocks.extend(open.take().map(|block| block.end(position))),
            (Line::Begin(name), _) => {
                errors.extend(open.take().map(|block| block.not_ended("the next layout")));
                open = Some(Block { name, position, tokens: Vec::new() });
            }
            (Line::BeginWithoutName, _) => {
                errors.extend(open.take().map(|block| block.not_ended("the next layout")));
                errors.push(expected("a name after BEGIN_VIZ=", "none").located(position));
                is_skipping = true;
                continue;
            }
            (Line::Empty | Line::Other, Some(block)) => tokenize(line, number, &mut block.tokens),
            (Line::End, None) if is_skipping => {}
            (Line::End, None) => errors.push(expected("BEGIN_VIZ=name", "END_VIZ").located(position)),
            (Line::Other, None) => {
                if !is_skipping {
                    let found = format!("`{}`", first_word(line).escape_debug());
                    errors.push(expected("BEGIN_VIZ=name", &found).located(position));
                }
                is_skipping = true;
                continue;
            }
        }
        is_skipping = false;
    }
    errors.extend(open.map(|block| block.not_ended("the end of the file")));
    blocks
}

impl<'a> Block<'a> {
    fn end(mut self, position: Position) -> Self {
        self.tokens.push(Token { kind: TokenKind::End, position });
        self
    }

    fn not_ended(self, found: &'static str) -> LayoutError {
        SyntaxError::NotEnded { name: self.name.to_owned(), found }.located(self.position)
    }
}

/// What a line is for a layout file.
pub(crate) enum BlockLine<'a> {
    Begin(&'a str),
    End,
    Other,
}

pub(crate) fn block_line(line: &str) -> BlockLine<'_> {
    match classify(line) {
        Line::Begin(name) => BlockLine::Begin(name),
        Line::End => BlockLine::End,
        Line::BeginWithoutName | Line::Empty | Line::Other => BlockLine::Other,
    }
}

fn expected(expected: &'static str, found: &str) -> SyntaxError {
    SyntaxError::Expected { expected, found: found.to_owned() }
}

fn classify(line: &str) -> Line<'_> {
    let line = line.split('#').next().unwrap_or_default().trim();
    if line.is_empty() {
        return Line::Empty;
    }
    if ENDINGS.iter().any(|ending| line.eq_ignore_ascii_case(ending)) {
        return Line::End;
    }
    let (word, name) = line.split_once('=').unwrap_or((line, ""));
    let begins = BEGINNINGS.iter().any(|beginning| word.trim_end().eq_ignore_ascii_case(beginning));
    match name.trim() {
        _ if !begins => Line::Other,
        "" => Line::BeginWithoutName,
        name => Line::Begin(name),
    }
}

fn first_position(line: &str, number: u32) -> Position {
    let spaces = line.chars().take_while(|character| character.is_whitespace()).count();
    Position { line: number, column: u32::try_from(spaces).unwrap_or(u32::MAX).saturating_add(1) }
}

/// At most so much of a line as an error should repeat.
fn first_word(line: &str) -> String {
    const MOST_CHARACTERS: usize = 30;
    line.split_whitespace().next().unwrap_or_default().chars().take(MOST_CHARACTERS).collect()
}
